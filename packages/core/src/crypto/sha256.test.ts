import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as native from "./node.js";
import * as portable from "./portable.js";

describe.each([
  ["node.ts", native],
  ["portable.ts", portable],
])("#crypto in %s", (_, { sha256Hex, randomId }) => {
  it("sha256Hex() gives the digests of FIPS 180-4", () => {
    expect(sha256Hex("")).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    expect(sha256Hex("abc")).toBe(
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    );
    expect(sha256Hex(new TextEncoder().encode("abc"))).toBe(sha256Hex("abc"));
  });

  it("randomId() gives a new UUID of version 4 each time", () => {
    const ids = Array.from({ length: 1_000 }, () => randomId());
    expect(new Set(ids).size).toBe(1_000);
    expect(
      ids.filter(
        (id) => !/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id),
      ),
    ).toEqual([]);
  });
});

describe("#crypto", () => {
  it("sha256Hex() gives the same on both platforms, for text and bytes", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: "binary", maxLength: 300 }), fc.uint8Array({ maxLength: 300 })),
        (input) => {
          expect(portable.sha256Hex(input)).toBe(native.sha256Hex(input));
        },
      ),
    );
  });
});
