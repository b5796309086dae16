import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { globsMeet, matchesGlob } from "./name-glob.js";

describe("matchesGlob()", () => {
  it.each([
    ["*", "abc", true],
    ["a*c", "abbc", true],
    ["a*c", "abcd", false],
    ["a?c", "abc", true],
    ["a?c", "ac", false],
    ["[ab]x", "bx", true],
    ["[!ab]x", "bx", false],
    ["[a-c]x", "bx", true],
    ["[]a]x", "]x", true],
    ["[x", "[x", true],
    ["**a**", "bab", true],
    ["a", "b", false],
  ])("matchesGlob(%j, %j) is %j", (glob, name, expected) =>
    expect(matchesGlob(glob, name)).toBe(expected),
  );
});

const NAMES = [
  "",
  "-",
  "a",
  "b",
  "--",
  "-a",
  "-b",
  "a-",
  "ab",
  "b-",
  "-ab",
  "-ba",
  "--a",
  "--b",
  "aab",
  "-aab",
  "--ab",
  "-abab",
];
const glob = fc.string({
  unit: fc.constantFrom("*", "?", "a", "b", "-", "[ab]", "[!a]", "[-b]", "["),
  maxLength: 5,
});
const form = fc.string({ unit: fc.constantFrom("*", "a", "b", "-"), maxLength: 5 });

describe("globsMeet()", () => {
  it.each([
    ["*.md", "--output=*", true],
    ["*.md", "--ext-diff", false],
    ["*", "-*o*", true],
    ["*.txt", "-*o*", true],
    ["./*.txt", "-*", false],
    ["[a-z]*", "-*", false],
    ["[!a-z]*", "-*", true],
    ["?*", "-delete", true],
    ["?", "-delete", false],
    ["[", "-*", false],
    ["", "", true],
    ["", "*", true],
    ["a", "", false],
  ])("globsMeet(%j, %j) is %j", (one, other, expected) =>
    expect(globsMeet(one, other)).toBe(expected),
  );

  it("is true where a name is taken by both", () => {
    fc.assert(
      fc.property(glob, form, (one, other) => {
        if (NAMES.some((name) => matchesGlob(one, name) && matchesGlob(other, name)))
          expect(globsMeet(one, other)).toBe(true);
      }),
    );
  });

  it("is no looser than a name says, where one of them is a name", () => {
    fc.assert(
      fc.property(glob, fc.constantFrom(...NAMES), (one, name) => {
        expect(globsMeet(one, name)).toBe(matchesGlob(one, name));
      }),
    );
  });
});
