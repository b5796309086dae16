/// <reference lib="es2024.string" />
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cutAfter, cutBefore } from "./cut.js";

describe("cutAfter() and cutBefore()", () => {
  it("keep what fits", () => {
    expect([cutAfter("abc", 3), cutBefore("abc", 3)]).toEqual(["abc", "abc"]);
    expect([cutAfter("abcd", 3), cutBefore("abcd", 3)]).toEqual(["abc", "bcd"]);
  });

  it("never split a character", () => {
    expect([cutAfter("a🙂b", 2), cutBefore("a🙂b", 2)]).toEqual(["a", "b"]);
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.nat(20), (text, units) => {
        for (const [part, isPart] of [
          [cutAfter(text, units), text.startsWith(cutAfter(text, units))],
          [cutBefore(text, units), text.endsWith(cutBefore(text, units))],
        ] as const) {
          expect(part.isWellFormed() && isPart).toBe(true);
          expect(part.length).toBeLessThanOrEqual(units);
          expect(part.length).toBeGreaterThanOrEqual(Math.min(units - 1, text.length));
        }
      }),
    );
  });
});
