import { describe, expect, it } from "vitest";
import { readMemorySize } from "./memory-size.js";

describe("readMemorySize()", () => {
  it.each([
    ["256m", 256 * 2 ** 20],
    ["4g", 4 * 2 ** 30],
    ["1024m", 2 ** 30],
  ])("reads %s", (text, bytes) => {
    expect(readMemorySize(text)).toBe(bytes);
  });

  it.each([
    ["4gb", "4g"],
    ["4G", "4g"],
    ["512MiB", "512m"],
    ["4 g", "4g"],
    ["4096", undefined],
    ["", undefined],
    ["0g", undefined],
    ["-1g", undefined],
    ["1.5g", undefined],
    ["4k", undefined],
    ["04g", undefined],
    ["4g ", undefined],
  ])("refuses %j, and names what was meant: %s", (text, suggestion) => {
    const expected = { code: "options_invalid", ...(suggestion !== undefined && { suggestion }) };
    expect(() => readMemorySize(text)).toThrow(expect.objectContaining(expected));
  });

  it.each(["1m", "255m", "99999999g"])("refuses %s, which is out of bounds", (text) => {
    expect(() => readMemorySize(text)).toThrow(/^Cannot use --memory/u);
  });
});
