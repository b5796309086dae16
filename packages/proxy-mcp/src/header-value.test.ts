import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeHeaderValue, encodeHeaderValue } from "./header-value.js";

describe("encodeHeaderValue(), decodeHeaderValue()", () => {
  // The table of MCP 2026-07-28, "Streamable HTTP", Value Encoding.
  it.each([
    ["us-west1", "us-west1"],
    ["Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="],
    [" padded ", "=?base64?IHBhZGRlZCA=?="],
    ["line1\nline2", "=?base64?bGluZTEKbGluZTI=?="],
    ["=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="],
    ["", "=?base64??="],
  ])("%j is %s", (text, value) => {
    expect(encodeHeaderValue(text)).toBe(value);
    expect(decodeHeaderValue(value)).toBe(text);
  });

  it("are each other's inverse, and a value is never more than a header may have", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        const value = encodeHeaderValue(text);
        expect(value).toMatch(/^[\u0009\u0020-\u007e]+$/u);
        expect(value.trim()).toBe(value);
        expect(decodeHeaderValue(value)).toBe(text);
      }),
    );
  });

  it.each([
    ["no Base64", "=?base64?***?="],
    ["Base64 of another alphabet", "=?base64?_-8=?="],
    ["bytes that are not UTF-8", "=?base64?/w==?="],
    ["a mark in the other", "=?base64?="],
    ["what no header may have", "a\u0000b"],
  ])("refuses %s", (_, value) => {
    expect(decodeHeaderValue(value)).toBeUndefined();
  });
});
