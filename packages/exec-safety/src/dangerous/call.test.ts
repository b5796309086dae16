import { describe, expect, it } from "vitest";
import { fieldOf, hasFlag, operandsOf, optionValue, spanOfFields, type Call } from "./call.js";
import { NOTHING } from "./feed.js";
import { siteOf } from "./site.js";

const site = siteOf({ inside: "", projectRoot: undefined, trustedWorkspace: true });

function call(line: string): Call {
  const args = line.split(" ").map((text) => fieldOf(text, { start: 0, end: 0 }));
  return { name: "x", args, input: NOTHING, site };
}

describe("hasFlag()", () => {
  it.each([
    ["-r", true],
    ["-vr", true],
    ["a -r", true],
    ["--recursive", true],
    ["--rec", true],
    ["--recursive=x", true],
    ["-- -r", false],
    ["--", false],
    ["--verbose", false],
    ["-v", false],
    ["r", false],
    ["--recursively", false],
  ])("%j", (line, expected) => {
    expect(hasFlag(call(line), "r", ["recursive"])).toBe(expected);
  });
});

describe("operandsOf()", () => {
  it.each([
    ["-r a b", ["a", "b"]],
    ["a -r b", ["a", "b"]],
    ["-t d a", ["a"]],
    ["-vt d a", ["a"]],
    ["-- -t d", ["-t", "d"]],
    ["- a", ["-", "a"]],
  ])("%j", (line, expected) => {
    expect(operandsOf(call(line), "t").map(({ text }) => text)).toEqual(expected);
  });
});

describe("optionValue()", () => {
  it.each([
    ["-o x", "x"],
    ["-ox", "x"],
    ["-vo x", "x"],
    ["--output x", "x"],
    ["--output=x", "x"],
    ["a -- -o x", undefined],
    ["a", undefined],
  ])("%j", (line, expected) => {
    expect(optionValue(call(line), "o", "output")?.text).toBe(expected);
  });
});

it("spanOfFields() is from the first to the last", () => {
  expect(
    spanOfFields([
      fieldOf("a", { start: 3, end: 4 }),
      fieldOf("b", { start: 9, end: 12 }),
      fieldOf("c", { start: 5, end: 6 }),
    ]),
  ).toEqual({
    start: 3,
    end: 12,
  });
});
