/** An index that is missing is made apart from the opening of its log, and goes on where it was cut. */
import { appendFile, copyFile, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { openAuditLog } from "../src/audit-log.js";
import { indexPath } from "../src/log-index/index-file.js";
import { readIndexCoverage, rebuildAuditIndex } from "../src/log-index/rebuild.js";
import { eventsOf, expectSameAnswers, KEY, OTHER_KEY, putLog, recordsOf } from "./index-world.js";
import { makeLines, scratchLog } from "./support.js";

const STARTS = [20, 40, 60];

/** A log of files, each of which has a record of its own. */
async function longLog(): Promise<{ readonly path: string; readonly bytes: number }> {
  const path = await scratchLog();
  const lines = await makeLines(eventsOf(Array.from({ length: 120 }, () => ({}))));
  await putLog(path, lines, STARTS);
  const bytes = lines.reduce((sum, line) => sum + line.length + 1, 0);
  return { path, bytes };
}

describe("rebuildAuditIndex()", () => {
  it("covers a log of several files to its end, and leaves the log as it is", async () => {
    const { path, bytes } = await longLog();
    expect(await readIndexCoverage(path, KEY)).toEqual({ bytes, covered: 0 });
    const text = await readFile(path);
    let read = 0;
    const onRead = (more: number): void => void (read += more);
    expect(await rebuildAuditIndex(path, { indexKey: KEY, onRead })).toBe(true);
    expect(read).toBe(bytes);
    expect(await readIndexCoverage(path, KEY)).toEqual({ bytes, covered: bytes });
    expect(await readFile(path)).toEqual(text);
    await expectSameAnswers(path);
    // Nothing is read a second time.
    read = 0;
    await rebuildAuditIndex(path, { indexKey: KEY, onRead });
    expect(read).toBe(0);
    expect(await readIndexCoverage(path, OTHER_KEY)).toEqual({ bytes, covered: 0 });
    const other = await scratchLog();
    const events = Array.from({ length: 120 }, () => ({ tool: "x" }));
    await putLog(other, await makeLines(eventsOf(events)), STARTS);
    await copyFile(indexPath(path), indexPath(other));
    expect(await readIndexCoverage(other, KEY)).toMatchObject({ covered: 0 });
  });

  it("goes on behind the last whole record, wherever the one before was killed", async () => {
    const { path, bytes } = await longLog();
    await rebuildAuditIndex(path, { indexKey: KEY });
    const whole = await readFile(indexPath(path), "utf8");
    const ends = [...whole.matchAll(/\n/g)].map(({ index }) => index + 1);
    expect(ends.length).toBeGreaterThan(3);
    for (const cut of [ends[0], (ends[1] ?? 0) + 7, ends[2]]) {
      await truncate(indexPath(path), cut);
      const { covered } = await readIndexCoverage(path, KEY);
      expect(covered).toBeGreaterThan(0);
      expect(covered).toBeLessThan(bytes);
      let read = 0;
      const onRead = (more: number): void => void (read += more);
      expect(await rebuildAuditIndex(path, { indexKey: KEY, onRead })).toBe(true);
      expect(read).toBe(bytes - covered);
      expect((await recordsOf(path)).length).toBe(ends.length);
      await expectSameAnswers(path);
    }
  });

  it("keeps what it has when it is stopped", async () => {
    const { path, bytes } = await longLog();
    const stop = new AbortController();
    const onRead = (): void => stop.abort();
    const options = { indexKey: KEY, onRead, signal: stop.signal };
    expect(await rebuildAuditIndex(path, options)).toBe(false);
    await expectSameAnswers(path);
    const { covered } = await readIndexCoverage(path, KEY);
    expect(covered).toBeLessThan(bytes);
    expect(await rebuildAuditIndex(path, { indexKey: KEY })).toBe(true);
  });

  it("makes none of a log with a bad line, and cuts no torn one", async () => {
    const { path } = await longLog();
    await appendFile(path, '{"agent":"to');
    const { size } = await stat(path);
    expect(await rebuildAuditIndex(path, { indexKey: KEY })).toBe(true);
    expect((await stat(path)).size).toBe(size);
    await rm(indexPath(path));
    const text = await readFile(path, "utf8");
    await writeFile(path, text.replace("write_file", "Write_file"));
    expect(await rebuildAuditIndex(path, { indexKey: KEY })).toBe(false);
  });

  it("leaves a log alone that somebody writes", async () => {
    const { path } = await longLog();
    await using _log = await openAuditLog({ path });
    await expect(rebuildAuditIndex(path, { indexKey: KEY })).rejects.toMatchObject({
      code: "audit_busy",
    });
  });
});
