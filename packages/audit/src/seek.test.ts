import { open, readFile } from "node:fs/promises";
import fc from "fast-check";
import { expect, it } from "vitest";
import { makeEvent, scratchLog } from "../test/support.js";
import { openAuditLog } from "./audit-log.js";
import { seekSeq } from "./seek.js";

const CLOSE_BYTES = 64 * 1024;

/** Where each line of the file begins. */
async function startsIn(path: string): Promise<readonly number[]> {
  const bytes = await readFile(path);
  const starts = [0];
  for (
    let at = bytes.indexOf(10);
    at !== -1 && at + 1 < bytes.length;
    at = bytes.indexOf(10, at + 1)
  )
    starts.push(at + 1);
  return starts;
}

async function writeLog(sizes: readonly number[]): Promise<string> {
  const path = await scratchLog();
  await using log = await openAuditLog({ path });
  await log.append(
    sizes.map((size, number) => makeEvent(number, { metadata: { text: "x".repeat(size) } })),
  );
  return path;
}

it("seekSeq() gives the beginning of a line at or before every event, and not far before it", async () => {
  const size = fc.oneof(
    { weight: 20, arbitrary: fc.integer({ min: 0, max: 3_000 }) },
    fc.integer({ min: 0, max: 300_000 }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(size, { minLength: 1, maxLength: 300 }), async (sizes) => {
      const path = await writeLog(sizes);
      const starts = await startsIn(path);
      await using handle = await open(path);
      const longest = Math.max(
        ...starts.map((start, number) => (starts[number + 1] ?? start) - start),
      );
      for (const [seq, start] of starts.entries()) {
        const found = await seekSeq(handle, seq);
        expect(starts).toContain(found);
        expect(found).toBeLessThanOrEqual(start);
        expect(start - found).toBeLessThanOrEqual(CLOSE_BYTES + 2 * longest);
      }
      expect([...starts, (await handle.stat()).size]).toContain(
        await seekSeq(handle, starts.length),
      );
    }),
    { numRuns: 20 },
  );
});

it("seekSeq() stays before a line that is no event, so that who reads on finds it", async () => {
  const path = await writeLog(Array<number>(400).fill(1_000));
  const starts = await startsIn(path);
  const text = await readFile(path, "utf8");
  await using handle = await open(path, "r+");
  for (const bad of [1, 100, 200, 300]) await handle.write("!", starts[bad]);
  for (const seq of [0, 50, 150, 250, 399])
    expect(await seekSeq(handle, seq)).toBeLessThanOrEqual(starts[seq] ?? 0);
  await handle.write(text, 0);
  expect(await seekSeq(handle, 399)).toBeGreaterThan((starts[399] ?? 0) - CLOSE_BYTES - 4_000);
});
