import { describe, expect, it } from "vitest";
import { decodeBase64, decodeEscapes, decodeHex } from "./decode.js";

describe("decodeBase64()", () => {
  it.each([
    ["aWQ=", "id"],
    ["aWQ", "id"],
    ["cm0gLXJmIHg=\n", "rm -rf x"],
    ["", ""],
    ["!", undefined],
    ["aWQ=\u00e9", undefined],
  ])("%j is %j", (text, decoded) => {
    expect(decodeBase64(text)).toBe(decoded);
  });
});

describe("decodeHex()", () => {
  it.each([
    ["6964", "id"],
    ["69 64\n", "id"],
    ["696", "i"],
    ["6x", undefined],
  ])("%j is %j", (text, decoded) => {
    expect(decodeHex(text)).toBe(decoded);
  });
});

describe("decodeEscapes()", () => {
  it.each([
    ["\\x69\\x64", "id"],
    ["\\151\\0144", "id"],
    ["\\u0069d", "id"],
    ["i\\td\\n", "i\td\n"],
    ["\\\\x69", "\\x69"],
    ["\\q", "\\q"],
    ["plain", "plain"],
  ])("%j is %j", (text, decoded) => {
    expect(decodeEscapes(text)).toBe(decoded);
  });
});
