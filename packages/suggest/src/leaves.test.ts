import { describe, expect, it } from "vitest";
import { leavesOf, valueAt } from "./leaves.js";

const short = (calls: Parameters<typeof leavesOf>[0]): unknown =>
  leavesOf(calls)?.map(({ path, values, hasGaps }) => [
    path.join("."),
    values,
    ...(hasGaps ? ["gaps"] : []),
  ]);

describe("leavesOf()", () => {
  it.each([
    [
      "texts, numbers and booleans",
      [
        { a: "x", b: 1 },
        { a: "x", b: true },
      ],
      [
        ["a", ["x"]],
        ["b", [1, true]],
      ],
    ],
    ["nested maps", [{ o: { m: "x" } }, { o: { m: "y" } }], [["o.m", ["x", "y"]]]],
    ["lists", [{ l: ["a", ["b"]] }, { l: "c" }], [["l", ["a", "b", "c"]]]],
    ["maps in lists", [{ l: [{ n: 1 }, { n: 2 }] }], [["l.n", [1, 2]]]],
    ["what is missing", [{ a: "x" }, {}], [["a", ["x"], "gaps"]]],
    ["what is empty", [{ a: "x" }, { a: "" }], [["a", ["x"], "gaps"]]],
    [
      "empty lists, maps and null",
      [{ a: [], b: {}, c: null }],
      [
        ["a", [], "gaps"],
        ["b", [], "gaps"],
        ["c", [], "gaps"],
      ],
    ],
    [
      "a map in one call and a text in another",
      [{ a: "x" }, { a: { b: 1 } }],
      [["a", ["x"], "gaps"]],
    ],
    [
      "a list whose maps differ",
      [{ l: [{ n: 1 }, { m: 2 }] }],
      [
        ["l.n", [1], "gaps"],
        ["l.m", [2], "gaps"],
      ],
    ],
    [
      "a map that is missing once",
      [{ o: { m: 1 } }, {}],
      [
        ["o.m", [1]],
        ["o", [], "gaps"],
      ],
    ],
  ])("gathers %s", (_what, calls, leaves) => {
    expect(short(calls)).toEqual(leaves);
  });

  it("gives up on more than anybody would read", () => {
    const many = Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`a${index}`, 1]));
    expect(leavesOf([many])).toBeUndefined();
  });
});

describe("valueAt()", () => {
  it.each([
    [{ a: { b: 1 } }, ["a", "b"], 1],
    [{ a: 1 }, ["a", "b"], undefined],
    [{}, ["constructor"], undefined],
    [{ a: [{ b: 1 }] }, ["a", "b"], undefined],
  ])("of %j at %j is %j", (args, path, value) => {
    expect(valueAt(args, path)).toEqual(value);
  });
});
