/** What an index covers is verified again after a while, and the index says how far that came. */
import { copyFileSync } from "node:fs";
import { readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { indexPath } from "../src/log-index/index-file.js";
import { checkAuditPast, type PastOptions } from "../src/log-index/past.js";
import { openIndexWriter } from "../src/log-index/index-writer.js";
import { recheckedLine } from "../src/log-index/record.js";
import { listArchives } from "../src/log-parts.js";
import { eventsOf, expectSameAnswers, KEY, OTHER_KEY, putLog, recordsOf } from "./index-world.js";
import { makeLines, scratchLog } from "./support.js";

const DAY_MS = 86_400_000;
/** When the indexes of these tests were written, and so their lines proven good. */
const WRITTEN_MS = 1_700_000_000_000;
const COUNT = 20;

const OPTIONS = { indexKey: KEY, maxAgeMs: 30 * DAY_MS };

/** A log of three files with an index, records of three events, and files older than it. */
async function indexedLog(text = "sample"): Promise<string> {
  const path = await scratchLog();
  const events = eventsOf(Array.from({ length: COUNT }, () => ({ metadata: { text } })));
  await putLog(path, await makeLines(events), [7, 14]);
  const parts = { key: KEY, everyEvents: 3, closeEventsMin: 1, now: () => WRITTEN_MS };
  await (await openIndexWriter({ ...parts, path, nextSeq: COUNT }))?.close();
  for (const file of await filesOf(path)) await utimes(file, 1, WRITTEN_MS / 1_000 - 60);
  return path;
}

const filesOf = async (path: string): Promise<readonly string[]> => [
  ...(await listArchives(path)).map((archive) => archive.path),
  path,
];

const sizeOf = async (path: string): Promise<number> => {
  const sizes = (await filesOf(path)).map(async (file) => (await stat(file)).size);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
};

const check = (path: string, days: number, more: Partial<PastOptions> = {}) =>
  checkAuditPast(path, { ...OPTIONS, now: () => WRITTEN_MS + days * DAY_MS, ...more });

async function change(file: string, from: string, to: string): Promise<void> {
  const { atimeMs, mtimeMs } = await stat(file);
  const text = await readFile(file, "utf8");
  expect(text).toContain(from);
  await writeFile(file, text.replace(from, to));
  await utimes(file, atimeMs / 1_000, mtimeMs / 1_000);
}

describe("checkAuditPast()", () => {
  it("reads each byte once in 30 days, and the index still gives every answer", async () => {
    const path = await indexedLog();
    const before = await readFile(indexPath(path));
    expect(await check(path, 29)).toEqual({ bytes: 0 });
    expect(await readFile(indexPath(path))).toEqual(before);
    expect(await check(path, 31)).toEqual({ bytes: await sizeOf(path) });
    await expectSameAnswers(path);
    expect(await recordsOf(path)).toMatchObject(
      Array.from({ length: 8 }, () => ({ checkedMs: WRITTEN_MS + 31 * DAY_MS })),
    );
    expect(await check(path, 60)).toEqual({ bytes: 0 });
    expect(await check(path, 62)).toEqual({ bytes: await sizeOf(path) });
  });

  it("goes on where one that was stopped came to", async () => {
    const path = await indexedLog();
    const stop = new AbortController();
    let times = 0;
    const now = (): number => {
      // Twice a file and once a stretch.
      if (++times === 5) stop.abort();
      return WRITTEN_MS + 31 * DAY_MS;
    };
    await expect(
      checkAuditPast(path, { ...OPTIONS, now, signal: stop.signal }),
    ).rejects.toMatchObject({ code: "aborted" });
    const { bytes } = await check(path, 31);
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThan(await sizeOf(path));
    expect(await check(path, 31)).toEqual({ bytes: 0 });
  });

  it("finds a line that was changed, with its file and number, though nothing says that it was", async () => {
    const path = await indexedLog();
    const [, second = ""] = await filesOf(path);
    const lines = (await readFile(second, "utf8")).split("\n");
    await change(second, lines[4] ?? "", (lines[4] ?? "").replace("sample", "Sample"));
    expect(await check(path, 29)).toEqual({ bytes: 0 });
    const { firstBad } = await check(path, 31);
    expect(firstBad).toMatchObject({ line: 5, code: "hash_mismatch" });
    expect(second.endsWith(String(firstBad?.file))).toBe(true);
    // The next one comes to it again.
    expect(await check(path, 31)).toMatchObject({ bytes: 0, firstBad: { line: 5 } });
  });

  it("finds lines of another log that are good by themselves", async () => {
    const path = await indexedLog();
    const [first = ""] = await filesOf(path);
    const own = (await readFile(first, "utf8")).split("\n");
    const texts = Array.from({ length: 3 }, () => ({ metadata: { text: "simple" } }));
    const other = await makeLines(eventsOf(texts));
    await change(first, own.slice(0, 3).join("\n"), other.join("\n"));
    expect(await check(path, 31)).toMatchObject({
      bytes: 0,
      firstBad: { line: 4, code: "chain_broken" },
    });
  });

  it("reads at once what a full file has where somebody wrote to it, and nothing else", async () => {
    const path = await indexedLog();
    const [first = "", second = ""] = await filesOf(path);
    await utimes(second, 1, WRITTEN_MS / 1_000 + 60);
    expect(await check(path, 1)).toEqual({ bytes: (await stat(second)).size });
    expect(await check(path, 1)).toEqual({ bytes: 0 });
    await change(first, "sample", "Sample");
    await utimes(first, 1, WRITTEN_MS / 1_000 + 60);
    expect(await check(path, 1)).toMatchObject({ firstBad: { line: 1, code: "hash_mismatch" } });
  });

  it("takes no time that has not come for one at which a line was good", async () => {
    const path = await indexedLog();
    expect(await check(path, -1)).toEqual({ bytes: await sizeOf(path) });
  });

  it("says nothing of a log whose index is of another one, damaged or gone", async () => {
    const path = await indexedLog();
    expect(await check(path, 31, { indexKey: OTHER_KEY })).toEqual({ bytes: 0 });
    const whole = await readFile(indexPath(path), "utf8");
    const [first = ""] = whole.split("\n");
    await writeFile(indexPath(path), whole.replace(first, first.slice(1)));
    // What leads to the end without a gap is still known.
    const { bytes } = await check(path, 31);
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThan(await sizeOf(path));
    await rm(indexPath(path));
    expect(await check(path, 62)).toEqual({ bytes: 0 });
    await expect(stat(indexPath(path))).rejects.toThrow("ENOENT");
  });

  it("says nothing of a log that took the place of this one meanwhile, and notes nothing of it", async () => {
    const [path, other] = [await indexedLog(), await indexedLog("simple")];
    const index = await readFile(indexPath(other));
    const names = ["", ".000000000000", ".000000000007", ".index"];
    let times = 0;
    const now = (): number => {
      // When the first stretch was read, and is about to be noted.
      if (++times === 2)
        for (const name of names) copyFileSync(`${other}${name}`, `${path}${name}`);
      return WRITTEN_MS + 31 * DAY_MS;
    };
    const { firstBad } = await checkAuditPast(path, { ...OPTIONS, now });
    expect(times).toBeGreaterThan(1);
    expect(firstBad).toBeUndefined();
    expect(await readFile(indexPath(path))).toEqual(index);
  });

  it("keeps the length of a record", async () => {
    const path = await indexedLog();
    const [line = ""] = (await readFile(indexPath(path), "utf8")).split("\n");
    expect(recheckedLine(line, 1_800_000_000_000, KEY)).toHaveLength(line.length);
    expect(recheckedLine(line, 10_000_000_000_000, KEY)).toBeUndefined();
    expect(recheckedLine(line, 1_800_000_000_000, OTHER_KEY)).toBeUndefined();
  });
});
