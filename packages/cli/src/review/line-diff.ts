/**
 * Line diff: what changed between two texts, as `diff -u` shows it. Pure, and bounded: texts that
 * differ too much are shown as one removed and one added.
 */
import { structuredPatch, type StructuredPatchHunk } from "diff";

/** Differences that are looked for; the work grows with its square. */
const DIFFERENCES_MAX = 1_000;
const CONTEXT_LINES = 3;

/** The hunks of a unified diff, each with its head. */
export function unifiedDiff(before: string, after: string): readonly string[] {
  const options = { context: CONTEXT_LINES, maxEditLength: DIFFERENCES_MAX };
  const patch = structuredPatch("", "", before, after, undefined, undefined, options);
  const hunks = patch?.hunks ?? [wholeHunk(before, after)];
  return hunks.flatMap((hunk) => [headOf(hunk), ...hunk.lines]);
}

/** Everything removed, and everything added. */
function wholeHunk(before: string, after: string): StructuredPatchHunk {
  const [gone = [], come = []] = [before, after].map((text) =>
    text.replace(/\n$/u, "").split("\n"),
  );
  return {
    oldStart: 1,
    oldLines: gone.length,
    newStart: 1,
    newLines: come.length,
    lines: [...gone.map((line) => `-${line}`), ...come.map((line) => `+${line}`)],
  };
}

/** A side without lines names the line before it (POSIX `diff -u`). */
function headOf({ oldStart, oldLines, newStart, newLines }: StructuredPatchHunk): string {
  const range = (start: number, lines: number): string =>
    `${lines === 0 ? start - 1 : start},${lines}`;
  return `@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@`;
}
