import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { unifiedDiff } from "./line-diff.js";

const numbered = (name: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${name} ${index}`);
const textOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");

describe("unifiedDiff()", () => {
  it("shows what changed with three lines around it", () => {
    const lines = numbered("line", 20);
    const changed = lines.with(10, "other").toSpliced(0, 1);
    expect(unifiedDiff(textOf(lines), textOf(changed))).toEqual([
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
    const noNewline = "\\ No newline at end of file";
    expect(unifiedDiff("a\n", "a")).toEqual(["@@ -1,1 +1,1 @@", "-a", "+a", noNewline]);
    expect(unifiedDiff("", "a\n")).toEqual(["@@ -0,0 +1,1 @@", "+a"]);
  });

  it("has every line that is gone and every line that is new, whatever the texts are", () => {
    const lines = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 30 });
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const shown = unifiedDiff(textOf(before), textOf(after)).filter(
          (line) => !line.startsWith("@@"),
        );
        const count = (sign: string): number =>
          shown.filter((line) => line.startsWith(sign)).length;
        expect(count("+") - count("-")).toBe(after.length - before.length);
        if (shown.length === 0) expect(after).toEqual(before);
      }),
    );
  });

  it("gives up on texts that differ too much, and still shows both", () => {
    const shown = unifiedDiff(textOf(numbered("a", 3_000)), textOf(numbered("b", 3_000)));
    expect([shown.length, shown[0], shown[1], shown.at(-1)]).toEqual([
      6_001,
      "@@ -1,3000 +1,3000 @@",
      "-a 0",
      "+b 2999",
    ]);
  });
});
