import { expect, it } from "vitest";
import { decodeUtf8, positionAt, utf8Length } from "./text.js";

it("decodeUtf8() reads UTF-8 and keeps a byte order mark", () => {
  expect(decodeUtf8(Uint8Array.of(0xef, 0xbb, 0xbf, 0xc3, 0xa9))).toBe("\ufeffé");
});

it("decodeUtf8() refuses other bytes, whatever it read before", () => {
  const refused = expect.objectContaining({ code: "json_invalid" });
  expect(() => decodeUtf8(Uint8Array.of(0xc3))).toThrow(refused);
  expect(decodeUtf8(Uint8Array.of(0x61))).toBe("a");
  expect(() => decodeUtf8(Uint8Array.of(0xa9))).toThrow(refused);
});

it("utf8Length() is exact wherever the bound could be crossed", () => {
  expect(utf8Length("éa", 3)).toBe(3);
  expect(utf8Length("😀", 4)).toBe(4);
  expect(utf8Length("aaaa", 3)).toBeGreaterThan(3);
  expect(utf8Length("ééé", 100)).toBeLessThanOrEqual(100);
});

it.each([
  ["", 0, { line: 1, column: 1 }],
  ["ab", 2, { line: 1, column: 3 }],
  ["a\nb", 2, { line: 2, column: 1 }],
  ["a\r\nb", 3, { line: 2, column: 1 }],
  ["a\rb\n\nc", 5, { line: 4, column: 1 }],
])("positionAt(%j, %i) counts from 1 over any line end", (text, offset, position) => {
  expect(positionAt(text, offset)).toEqual(position);
});
