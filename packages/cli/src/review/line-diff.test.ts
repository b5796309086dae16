import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { diffLines, unifiedDiff } from "./line-diff.js";

describe("unifiedDiff()", () => {
  it("shows what changed with three lines around it", () => {
    const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`);
    const changed = lines.with(10, "other").toSpliced(0, 1);
    expect(unifiedDiff(`${lines.join("\n")}\n`, `${changed.join("\n")}\n`)).toEqual([
      "@@ -1,4 +1,3 @@",
      "-line 0",
      " line 1",
      " line 2",
      " line 3",
      "@@ -8,7 +7,7 @@",
      " line 7",
      " line 8",
      " line 9",
      "-line 10",
      "+other",
      " line 11",
      " line 12",
      " line 13",
    ]);
  });

  it("is empty for the same text, and tells a missing newline at the end", () => {
    expect(unifiedDiff("a\n", "a\n")).toEqual([]);
    expect(unifiedDiff("a\n", "a")).toEqual(["@@ -1,1 +1,1 @@", "-a", "+a (no newline at the end)"]);
    expect(unifiedDiff("", "a\n")).toEqual(["@@ -0,0 +1,1 @@", "+a"]);
  });
});

describe("diffLines()", () => {
  it("keeps both texts, whatever they are", () => {
    const text = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 30 });
    fc.assert(
      fc.property(text, text, (before, after) => {
        const lines = diffLines(before, after);
        const side = (signs: string): readonly string[] => lines.filter(({ sign }) => signs.includes(sign)).map((each) => each.text);
        expect([side(" -"), side(" +")]).toEqual([before, after]);
      }),
    );
  });

  it("gives up on texts that differ too much, and still shows both", () => {
    const make = (name: string): readonly string[] => Array.from({ length: 3_000 }, (_, index) => `${name} ${index}`);
    const lines = diffLines(make("a"), make("b"));
    expect([lines.length, lines[0]?.sign, lines.at(-1)?.sign]).toEqual([6_000, "-", "+"]);
  });
});
