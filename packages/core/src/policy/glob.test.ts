import { describe, expect, it } from "vitest";
import { compileGlob, hasWildcard } from "./glob.js";

const KIB_64 = 65_536;

describe("hasWildcard()", () => {
  it.each([
    ["a", false],
    ["", false],
    ["a*", true],
    ["?", true],
  ])("of %j is %s", (pattern, want) => {
    expect(hasWildcard(pattern)).toBe(want);
  });
});

describe("compileGlob()", () => {
  // A matcher that backtracks would not come back from these: `*a*a*a*b` took a regular expression
  // 41 s on 1,000 characters.
  it.each([
    ["stars", "*a*a*a*a*a*a*a*a*b", "a".repeat(KIB_64)],
    ["stars and an end", "a*a*a*a*a*a*a*ab", "a".repeat(KIB_64)],
    ["questions", "*a?a?a?a?a?b*", "a".repeat(KIB_64)],
    [
      "long stretches with questions",
      `*${"a?".repeat(60)}b*${"?a".repeat(60)}c*`,
      "a".repeat(KIB_64),
    ],
    [
      "a stretch that almost repeats",
      `*${"a".repeat(125)}b${"a".repeat(124)}*`,
      `${"a".repeat(125)}c`.repeat(500),
    ],
    ["pairs of units", "*?💥?x*", "💥".repeat(KIB_64 / 2)],
  ])("is done with hostile text: %s", (_name, pattern, text) => {
    expect(compileGlob(pattern)(text)).toBe(false);
  });

  it("finds a stretch with ? at any place of a machine word", () => {
    for (let length = 1; length <= 100; length++) {
      const matches = compileGlob(`*${"x".repeat(length)}?y*`);
      expect(matches(`--${"x".repeat(length)}💥y--`)).toBe(true);
      expect(matches(`--${"x".repeat(length)}💥z--`)).toBe(false);
      expect(matches(`--${"x".repeat(length - 1)}💥y--`)).toBe(false);
    }
  });

  it("does not let beginning and end share characters", () => {
    expect(compileGlob("ab*ba")("aba")).toBe(false);
    expect(compileGlob("ab*x*ba")("abxa")).toBe(false);
    expect(compileGlob("a?*?a")("aba")).toBe(false);
    expect(compileGlob("💥*?")("💥")).toBe(false);
  });
});
