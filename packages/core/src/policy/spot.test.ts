import { describe, expect, it } from "vitest";
import {
  describe as describeValue,
  invalid,
  printPath,
  readList,
  readMap,
  readNumber,
  readOneOf,
  readText,
  spotOf,
} from "./spot.js";
import type { Spot } from "./spot.js";

const refused = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error("nothing was refused");
};

describe("invalid()", () => {
  it("names path, position and suggestion in the text and beside it", () => {
    const spot: Spot = {
      ...spotOf("x", ["rules", 2, "match"]),
      locate: (path, part) =>
        part === "key" ? { line: path.length, column: 1 } : { line: 9, column: 7 },
    };
    expect(invalid(spot, "it is wrong", { suggestion: "y" })).toMatchObject({
      code: "policy_invalid",
      path: "rules[2].match",
      position: { line: 9, column: 7 },
      suggestion: "y",
      message:
        "Cannot load policy at line 9, column 7 (rules[2].match): it is wrong; did you mean y?",
    });
    expect(invalid(spot, "it is wrong", { part: "key" }).position).toEqual({ line: 3, column: 1 });
  });

  it("names no place where there is none", () => {
    expect(invalid(spotOf("x", []), "it is wrong").message).toBe("Cannot load policy: it is wrong");
  });

  it("names the subject that is read", () => {
    expect(
      invalid(
        { ...spotOf("x", []), subject: { name: "config", code: "config_invalid" } },
        "it is wrong",
      ),
    ).toMatchObject({
      code: "config_invalid",
      message: "Cannot load config: it is wrong",
    });
  });
});

describe("printPath()", () => {
  it.each([
    [[], ""],
    [["rules", 0, "match"], "rules[0].match"],
    [["a b", "c"], '["a b"].c'],
    [["x", "a\nb"], 'x["a\\nb"]'],
  ])("of %j is %s", (path, want) => {
    expect(printPath(path)).toBe(want);
  });
});

describe("readMap()", () => {
  it("gives every key its spot, also one that every object inherits", () => {
    const spots = readMap(
      spotOf(JSON.parse('{"a":1,"__proto__":2,"constructor":3}') as { a: number }, ["x"]),
    );
    expect([...spots].map(([key, { value, path }]) => [key, value, path])).toEqual([
      ["a", 1, ["x", "a"]],
      ["__proto__", 2, ["x", "__proto__"]],
      ["constructor", 3, ["x", "constructor"]],
    ]);
  });

  it.each([[null], [[]], ["a"], [1], [true]])("refuses %j", (value) => {
    expect(refused(() => readMap(spotOf(value, ["x"])))).toContain("expected a map");
  });

  it("refuses a key that is not known", () => {
    expect(refused(() => readMap(spotOf({ tol: 1 }, []), ["tool"]))).toBe(
      'Cannot load policy at tol: unknown key "tol"; did you mean tool?',
    );
  });
});

describe("readList()", () => {
  it("gives every element its spot", () => {
    expect(readList(spotOf(["a", null], ["x"])).map(({ value, path }) => [value, path])).toEqual([
      ["a", ["x", 0]],
      [null, ["x", 1]],
    ]);
  });

  it.each([[null], [{}], ["a"]])("refuses %j", (value) => {
    expect(refused(() => readList(spotOf(value, ["x"])))).toContain("expected a list");
  });
});

describe("readText()", () => {
  it("takes a text with tabs and newlines", () => {
    expect(readText(spotOf("a\tb\nc", ["x"]), 5)).toBe("a\tb\nc");
  });

  it.each([
    ["", "the string is empty"],
    ["abcdef", "more than 5 characters"],
    ["a\0", "control character"],
    ["a\u001b[0m".slice(0, 5), "control character"],
    ["\u0085", "control character"],
    [5, "expected a string, got 5"],
    [null, "expected a string, got nothing"],
    [["a"], "expected a string, got a list"],
  ])("refuses %j", (value, problem) => {
    expect(refused(() => readText(spotOf(value, ["x"]), 5))).toContain(problem);
  });
});

describe("readOneOf()", () => {
  it("takes exactly one of the words", () => {
    expect(readOneOf(spotOf("ask", ["x"]), ["allow", "ask"])).toBe("ask");
    expect(refused(() => readOneOf(spotOf("Ask", ["x"]), ["allow", "ask", "deny"]))).toContain(
      'expected allow, ask or deny, got the string "Ask"; did you mean ask?',
    );
    expect(refused(() => readOneOf(spotOf(true, ["x"]), ["allow", "ask"]))).toContain(
      "expected allow or ask, got true",
    );
  });
});

describe("readNumber()", () => {
  it.each([1, 1.5, 10])("takes %d", (value) => {
    expect(readNumber(spotOf(value, ["x"]), { min: 1, max: 10 })).toBe(value);
  });

  it.each([
    [0, {}],
    [11, {}],
    [1.5, { whole: true }],
    ["5", {}],
    [null, {}],
  ])("refuses %j with %j", (value, more) => {
    expect(refused(() => readNumber(spotOf(value, ["x"]), { min: 1, max: 10, ...more }))).toContain(
      "number from 1 to 10",
    );
  });

  it("suggests the number in a text", () => {
    expect(refused(() => readNumber(spotOf("300", ["x"]), { min: 1, max: 500 }))).toContain(
      "did you mean 300?",
    );
  });
});

describe("describe()", () => {
  it.each([
    [null, "nothing"],
    ["", "an empty string"],
    ["a", 'the string "a"'],
    [1, "1"],
    [false, "false"],
    [[], "a list"],
    [{}, "a map"],
  ])("of %j is %s", (value, want) => {
    expect(describeValue(value)).toBe(want);
  });
});
