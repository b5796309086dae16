import { describe, expect, it } from "vitest";
import { at, integerAt, textAt } from "./json.js";

const value = { a: { b: "text", n: 5, list: [1] }, f: 1.5, none: null };

describe("at(), textAt() and integerAt()", () => {
  it("find what is there, of its type", () => {
    expect([at(value, "a", "list"), textAt(value, "a", "b"), integerAt(value, "a", "n")]).toEqual([
      [1],
      "text",
      5,
    ]);
  });

  it("find nothing of another type, beyond a value, or that no object has of its own", () => {
    expect([textAt(value, "a", "n"), integerAt(value, "f"), integerAt(value, "a", "b")]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect([at(value, "none", "a"), at(value, "a", "list", "0"), at(undefined, "a")]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect([at(value, "constructor"), at(value, "__proto__"), at(value, "a", "toString")]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(integerAt({ n: 2 ** 53 }, "n")).toBeUndefined();
  });
});
