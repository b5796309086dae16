import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { streamOf } from "../test/support.js";
import { LINE_BYTES_MAX } from "./event.js";
import { lineText, splitLines } from "./lines.js";

type Found = { readonly text: string | undefined } | { readonly fault: string };

async function collectFrom(chunks: AsyncIterable<Uint8Array>): Promise<readonly Found[]> {
  const found: Found[] = [];
  for await (const { bytes, ends, fault } of splitLines(chunks)) {
    for (const [index, end] of ends.entries())
      found.push({ text: lineText(bytes.subarray((ends[index - 1] ?? -1) + 1, end)) });
    if (fault !== undefined) found.push({ fault });
  }
  return found;
}

const collect = (...pieces: readonly (string | Uint8Array)[]): Promise<readonly Found[]> =>
  collectFrom(streamOf(...pieces));

describe("splitLines()", () => {
  it("finds the same lines however the bytes are cut into chunks", async () => {
    const text = fc.array(
      fc.string({ unit: "grapheme" }).map((line) => line.replaceAll("\n", "")),
      { maxLength: 20 },
    );
    await fc.assert(
      fc.asyncProperty(text, fc.array(fc.nat(40)), async (lines, sizes) => {
        let rest = Buffer.from(lines.map((line) => `${line}\n`).join(""));
        const pieces: Uint8Array[] = [];
        for (const size of sizes)
          [pieces[pieces.length], rest] = [rest.subarray(0, size), rest.subarray(size)];
        expect(await collect(...pieces, rest)).toEqual(lines.map((line) => ({ text: line })));
      }),
    );
  });

  it("marks a last line without an end as torn", async () => {
    expect(await collect("one\ntw")).toEqual([{ text: "one" }, { fault: "torn_line" }]);
    expect(await collect("")).toEqual([]);
  });

  it("leaves bytes that are no UTF-8 without a text, and keeps a byte order mark", async () => {
    expect(await collect(new Uint8Array([0x61, 0xff, 0x0a]), "\ufeffb\n")).toEqual([
      { text: undefined },
      { text: "\ufeffb" },
    ]);
  });

  it("ends at a line that is too long, ended or not", async () => {
    const long = "x".repeat(LINE_BYTES_MAX + 1);
    expect(await collect("one\n", `${long}\ntwo\n`)).toEqual([
      { text: "one" },
      { fault: "line_too_long" },
    ]);
    expect(await collect("one\n", long, "\n")).toEqual([
      { text: "one" },
      { fault: "line_too_long" },
    ]);
    expect(await collect("one\n", "x", long.slice(1), "\n")).toEqual([
      { text: "one" },
      { fault: "line_too_long" },
    ]);
  });

  it("stops reading once a line is too long, even if it never ends", async () => {
    let chunks = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (; ; chunks++) yield new Uint8Array(1024 * 1024);
    }
    expect(await collectFrom(endless())).toEqual([{ fault: "line_too_long" }]);
    expect(chunks).toBe(LINE_BYTES_MAX / 1024 / 1024);
  });

  it("takes a line of the greatest length", async () => {
    const lines = await collect(`${"x".repeat(LINE_BYTES_MAX)}\n`);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toHaveProperty("text");
  });
});
