import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readArguments, showEdit, whyNoReason } from "./edit.js";

const proposed = { path: "notes.txt", content: "hello" };

describe("readArguments()", () => {
  it("reads one JSON object", () => {
    expect(readArguments('{"path": "a", "mode": [1]}', proposed)).toEqual({ path: "a", mode: [1] });
  });

  it.each([
    ["{", "Cannot"],
    ['{"path": "a", "path": "b"}', "Cannot"],
    ['{"size": 9007199254740993}', "Cannot"],
    ["{“path”: “a”}", "Cannot"],
    ['{"path": "a"} and more', "Cannot"],
    ["[]", "the arguments are not a JSON object"],
    ['{ "content": "hello", "path": "notes.txt" }', "the arguments are unchanged"],
    [`{"path": "${"x".repeat(20_000)}"}`, "Cannot"],
  ])("refuses %.40s", (json, why) => {
    expect(readArguments(json, proposed)).toContain(why);
  });

  it("says why on one line without characters that hide", () => {
    expect(readArguments('{"a\u202e\n": }', proposed)).not.toMatch(/[\n\u202e]/);
  });
});

describe("showEdit()", () => {
  it("shows the whole edited arguments, with what goes and comes", () => {
    expect(
      showEdit({ path: "a", mode: 1, deep: { x: 1 } }, { path: "a", mode: 2, deep: { x: 1 } }),
    ).toBe(
      '  {\n    "path": "a",\n-   "mode": 1,\n+   "mode": 2,\n    "deep": {\n      "x": 1\n    }\n  }',
    );
  });

  it("shows characters that hide as escapes", () => {
    expect(showEdit({ a: "" }, { a: "\u202e\u001b[2J" })).toContain('+   "a": "\\u202e\\u001b[2J"');
  });

  it("without its removed lines is the edited object, without its new ones the proposed one", () => {
    const lines = (shown: string, sign: string): string =>
      shown
        .split("\n")
        .filter((line) => !line.startsWith(sign))
        .map((line) => line.slice(2))
        .join("\n");
    const object = fc.dictionary(
      fc.stringMatching(/^[a-c]{1,2}$/),
      fc.oneof(fc.integer(), fc.array(fc.constantFrom(1, 2))),
      {
        noNullPrototype: true,
      },
    );
    fc.assert(
      fc.property(object, object, (before, after) => {
        const shown = showEdit(before, after);
        expect(JSON.parse(lines(shown, "-"))).toEqual(after);
        expect(JSON.parse(lines(shown, "+"))).toEqual(before);
      }),
    );
  });
});

describe("whyNoReason()", () => {
  it("takes as much as an answer carries", () => {
    expect(whyNoReason("a".repeat(1_000))).toBeUndefined();
    expect(whyNoReason("a".repeat(1_001))).toContain("longer than 1000");
  });
});
