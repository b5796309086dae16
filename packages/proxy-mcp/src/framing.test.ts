import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLineSplitter } from "./framing.js";

function cut(
  chunks: readonly Buffer[],
  bytesMax?: number,
): { lines: string[]; oversize: { head: string; tail: string }[] } {
  const lines: string[] = [];
  const oversize: { head: string; tail: string }[] = [];
  const splitter = createLineSplitter(
    {
      onLine: (line) => lines.push(line.toString("latin1")),
      onOversize: ({ head, tail }) =>
        oversize.push({ head: head.toString("latin1"), tail: tail.toString("latin1") }),
    },
    bytesMax,
  );
  for (const chunk of chunks) splitter.push(chunk);
  splitter.end();
  return { lines, oversize };
}

/** The bytes cut at the given places. */
function chunked(bytes: Buffer, cuts: readonly number[]): readonly Buffer[] {
  const ends = [...new Set(cuts.map((at) => at % (bytes.length + 1)))].sort(
    (one, other) => one - other,
  );
  return [...ends, bytes.length].map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

describe("createLineSplitter()", () => {
  it("gives the same lines however the stream is cut, inside characters too", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.string({ unit: "grapheme", maxLength: 12 }).map((text) => text.replaceAll("\n", "")),
          { maxLength: 8 },
        ),
        fc.array(fc.nat(), { maxLength: 20 }),
        (texts, cuts) => {
          const bytes = Buffer.from(texts.map((text) => `${text}\n`).join(""));
          expect(cut(chunked(bytes, cuts)).lines).toEqual(
            texts.map((text) => Buffer.from(`${text}\n`).toString("latin1")),
          );
        },
      ),
      { numRuns: 500 },
    );
  });

  it("keeps CR and blank lines as they are", () => {
    expect(cut([Buffer.from("a\r\n\n b\n")]).lines).toEqual(["a\r\n", "\n", " b\n"]);
  });

  it("gives a last line its missing LF", () => {
    expect(cut([Buffer.from("a\nb")]).lines).toEqual(["a\n", "b\n"]);
    expect(cut([Buffer.from("a\n")]).lines).toEqual(["a\n"]);
    expect(cut([]).lines).toEqual([]);
  });

  it("drops a line that is too long, keeps its ends, and goes on with the next", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 6_000 }),
        fc.array(fc.nat(), { maxLength: 12 }),
        (length, cuts) => {
          const long = `<${"x".repeat(length)}>`;
          const bytes = Buffer.from(`first\n${long}\nlast\n`);
          const { lines, oversize } = cut(chunked(bytes, cuts), 2_000);
          const fits = long.length + 1 <= 2_000;
          expect(lines).toEqual(fits ? ["first\n", `${long}\n`, "last\n"] : ["first\n", "last\n"]);
          expect(oversize).toEqual(
            fits ? [] : [{ head: long.slice(0, 1_024), tail: `${long}\n`.slice(-1_024) }],
          );
        },
      ),
      { numRuns: 300 },
    );
  });
});
