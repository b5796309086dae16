import { open, writeFile } from "node:fs/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scratchDirectory } from "../test/support.js";
import { LINE_BYTES_MAX } from "./event.js";
import { type LineBlock, splitLines } from "./lines.js";
import { readBlocksInPlace, readChunks } from "./source.js";

/** Lines, what follows the last of them, and how that is called. */
async function linesOf(blocks: AsyncIterable<LineBlock>): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  for await (const { bytes, ends, fault } of blocks) {
    let start = 0;
    for (const end of ends) {
      found.push(bytes.toString("latin1", start, end));
      start = end + 1;
    }
    if (fault !== undefined) found.push(fault);
  }
  return found;
}

describe("readBlocksInPlace()", () => {
  it("gives the lines that reading block by block gives, from anywhere to anywhere", async () => {
    const path = `${await scratchDirectory()}/lines`;
    const length = fc.oneof(fc.nat(20), fc.integer({ min: 400_000, max: 1_200_000 }));
    await fc.assert(
      fc.asyncProperty(
        fc.array(length, { maxLength: 6 }),
        fc.boolean(),
        fc.nat(30),
        fc.option(fc.nat(2_000_000), { nil: undefined }),
        async (lengths, isTorn, position, end) => {
          const text = lengths.map((count, at) => String(at % 10).repeat(count)).join("\n");
          await writeFile(path, isTorn ? text : `${text}\n`);
          await using handle = await open(path);
          const reading = { path, position, end };
          const expected = await linesOf(splitLines(readChunks(handle, reading)));
          expect(await linesOf(readBlocksInPlace(handle, reading))).toEqual(expected);
        },
      ),
      { numRuns: 20 },
    );
  });

  it("stops at a line that is longer than one can be", async () => {
    const path = `${await scratchDirectory()}/lines`;
    await writeFile(path, `a\n${"b".repeat(LINE_BYTES_MAX + 2)}\nc\n`);
    await using handle = await open(path);
    expect(await linesOf(readBlocksInPlace(handle, { path }))).toEqual(["a", "line_too_long"]);
  });
});
