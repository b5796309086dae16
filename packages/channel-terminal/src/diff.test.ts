import type { JsonObject } from "@acp/core";
import { describe, expect, it } from "vitest";
import { diffArguments } from "./diff.js";

const lines = (before: JsonObject, after: JsonObject): readonly string[] =>
  diffArguments(before, after).map(({ sign, text }) => `${sign} ${text}`);

describe("diffArguments()", () => {
  it.each<[string, JsonObject, JsonObject, readonly string[]]>([
    [
      "nothing where the JSON means the same",
      { a: 1, b: [{ c: 1.0 }] },
      { b: [{ c: 1 }], a: 1 },
      [],
    ],
    ["a new value", { a: 1 }, { a: 2 }, ["- a: 1", "+ a: 2"]],
    ["a value gone and one that came", { a: 1 }, { b: null }, ["- a: 1", "+ b: null"]],
    [
      "a nested place",
      { a: { b: [1, { c: "x" }] } },
      { a: { b: [1, { c: "y" }] } },
      ['- a.b[1].c: "x"', '+ a.b[1].c: "y"'],
    ],
    [
      "a longer and a shorter list",
      { a: [1], b: [1, 2] },
      { a: [1, 3], b: [1] },
      ["+ a[1]: 3", "- b[1]: 2"],
    ],
    ["another type", { a: {} }, { a: [] }, ["- a: {}", "+ a: []"]],
    [
      "false, 0, null and empty text for different",
      { a: false, b: 0 },
      { a: null, b: "" },
      ["- a: false", "+ a: null", "- b: 0", '+ b: ""'],
    ],
    ["an unusual key quoted", { "a b": 1, "x.y": 1 }, {}, ['- ["a b"]: 1', '- ["x.y"]: 1']],
  ])("shows %s", (_what, before, after, want) => {
    expect(lines(before, after)).toEqual(want);
  });

  it("sees a key that every object inherits", () => {
    expect(lines({}, JSON.parse('{"__proto__": 1, "constructor": 2}') as JsonObject)).toEqual([
      "+ __proto__: 1",
      "+ constructor: 2",
    ]);
  });

  it("escapes what could move the cursor or hide", () => {
    const [line] = lines({}, { "\u001b[2J": "\u200b\u202e\u{e0041}" });
    expect(line).toBe('+ ["\\u001b[2J"]: "\\u200b\\u202e\\udb40\\udc41"');
  });
});
