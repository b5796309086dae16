import { describe, expect, it } from "vitest";
import { fromBase64Url, toBase64, URL_SAFE } from "./base64.js";

const samples = Array.from({ length: 70 }, (_, length) =>
  Uint8Array.from({ length }, (_unused, at) => (at * 89 + length * 31) & 0xff),
);

describe("toBase64()", () => {
  it("writes what Node writes, without padding", () => {
    for (const bytes of samples) {
      expect(toBase64(bytes)).toBe(Buffer.from(bytes).toString("base64").replaceAll("=", ""));
      expect(toBase64(bytes, URL_SAFE)).toBe(Buffer.from(bytes).toString("base64url"));
    }
  });
});

describe("fromBase64Url()", () => {
  it("reads it back", () => {
    for (const bytes of samples) expect(fromBase64Url(toBase64(bytes, URL_SAFE))).toEqual(bytes);
  });

  it.each(["A", "AB", "AAB", "AA==", "A+AA", "A/AA", "AA AA", "AAAA\n", "é"])(
    "refuses %j",
    (text) => {
      expect(fromBase64Url(text)).toBe(undefined);
    },
  );
});
