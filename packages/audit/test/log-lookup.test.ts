/**
 * The look-up tables beside a log are a cache: whoever wrote what into their file, every answer is
 * that of the log, and it comes at once.
 */
import { copyFile, mkdir, open, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isDeep } from "../../../tools/deep.js";
import { openAuditLog } from "../src/audit-log.js";
import { indexPath } from "../src/log-index/index-file.js";
import { type FoundTable, lookupPath, readTables } from "../src/log-index/lookup-file.js";
import { sealTable } from "../src/log-index/lookup-table.js";
import { pruneAuditLog } from "../src/prune.js";
import { openAuditReader, readAuditLog } from "../src/read.js";
import {
  anyEvent,
  bringUp,
  eventsOf,
  expectSameAnswers,
  KEY,
  OTHER_KEY,
  putLog,
} from "./index-world.js";
import { collect, countingReads, makeLines, scratchLog } from "./support.js";

/** Which bytes of a file are tried. */
const STEP = isDeep ? 17 : 797;

async function linesOf(count: number, seed: number): Promise<readonly string[]> {
  const [fields = []] = fc.sample(fc.array(anyEvent, { minLength: count, maxLength: count }), {
    seed,
    numRuns: 1,
  });
  return makeLines(eventsOf(fields));
}

/** A log of two files with its tables: of two events, of nine, which were three, and of three. */
async function tabledLog(seed: number): Promise<{ readonly path: string; readonly whole: Buffer }> {
  const path = await scratchLog();
  await putLog(path, await linesOf(14, seed), [2]);
  await bringUp(path);
  return { path, whole: await readFile(lookupPath(path)) };
}

async function tablesOf(path: string, key = KEY): Promise<readonly FoundTable[]> {
  await using handle = await open(lookupPath(path));
  return await readTables(handle, key);
}

describe("the look-up tables of a log", () => {
  it("reach its end, and those of one file become few", async () => {
    const { path } = await tabledLog(1);
    const heads = (await tablesOf(path)).map(({ head }) => [head.file, head.seq, head.nextSeq]);
    expect(heads).toEqual([
      [0, 0, 2],
      [2, 2, 11],
      [2, 11, 14],
    ]);
  });

  it("change no answer, whichever byte of them is another, and are mended where a head was", async () => {
    const { path, whole } = await tabledLog(2);
    for (let at = 0; at < whole.length; at += STEP) {
      const bytes = Buffer.from(whole);
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      await writeFile(lookupPath(path), bytes);
      await expectSameAnswers(path);
      await bringUp(path);
      expect((await tablesOf(path)).at(-1)?.head.nextSeq).toBe(14);
      await expectSameAnswers(path);
    }
  });

  it("change no answer, wherever a kill cut them short, and are made again from the log", async () => {
    const { path, whole } = await tabledLog(3);
    for (let length = 0; length < whole.length; length += STEP) {
      await writeFile(lookupPath(path), whole.subarray(0, length));
      await expectSameAnswers(path);
      await bringUp(path);
      expect(await readFile(lookupPath(path))).toEqual(whole);
    }
  });

  it("change no answer in another order, twice, with gaps, swapped or of another home", async () => {
    const path = await scratchLog();
    await putLog(path, await linesOf(9, 4), [3, 6]);
    await bringUp(path);
    const whole = await readFile(lookupPath(path));
    // One table a file, so that none of them becomes part of another.
    const [a, b, c] = (await tablesOf(path)).map(({ at, end }) => whole.subarray(at, end));
    if (a === undefined || b === undefined || c === undefined) throw new Error("three tables");
    const other = await tabledLog(5);
    for (const mixed of [[b], [c], [a, c], [b, a, c], [a, a, b, c], [a, b, b], [other.whole]]) {
      await writeFile(lookupPath(path), Buffer.concat([...mixed]));
      await expectSameAnswers(path);
      await bringUp(path);
      expect(await readFile(lookupPath(path))).toEqual(whole);
    }
    // A part of one table in the place of the same part of another.
    const [first, second] = await tablesOf(path);
    if (first === undefined || second === undefined) throw new Error("two tables");
    for (const size of [second.end - second.body, 100]) {
      const bytes = Buffer.from(whole);
      whole.copy(bytes, second.body, first.body, Math.min(first.end, first.body + size));
      await writeFile(lookupPath(path), bytes);
      await expectSameAnswers(path);
    }
    expect(await tablesOf(path, OTHER_KEY)).toEqual([]);
  });

  it("do not count for a log whose lines are others of the same length", async () => {
    const path = await scratchLog();
    const lines = (agent: string) =>
      makeLines(eventsOf(Array.from({ length: 7 }, () => ({ agent }))));
    await putLog(path, await lines("agent-1"));
    await bringUp(path);
    const old = await readFile(lookupPath(path));
    await putLog(path, await lines("agent-2"));
    await expectSameAnswers(path);
    await bringUp(path);
    expect(await readFile(lookupPath(path))).not.toEqual(old);
    await expectSameAnswers(path);
  });

  it("of an older copy, and of a log that was cut back, give what the log says", async () => {
    const path = await scratchLog();
    const lines = await linesOf(14, 6);
    await putLog(path, lines.slice(0, 5));
    await bringUp(path);
    await copyFile(lookupPath(path), `${path}.old`);
    await putLog(path, lines);
    await bringUp(path);
    const whole = await readFile(lookupPath(path));
    await copyFile(`${path}.old`, lookupPath(path));
    await expectSameAnswers(path);
    await bringUp(path);
    await writeFile(lookupPath(path), whole);
    await putLog(path, lines.slice(0, 8));
    await expectSameAnswers(path);
  });

  it("that come further than the index go back to where it ends, and on with it", async () => {
    const path = await scratchLog();
    const lines = await linesOf(14, 9);
    await putLog(path, lines.slice(0, 10), [2]);
    await bringUp(path);
    const [first = ""] = (await readFile(indexPath(path), "utf8")).split("\n");
    await writeFile(indexPath(path), `${first}\n`);
    await putLog(path, lines, [2]);
    await bringUp(path);
    expect((await tablesOf(path)).at(-1)?.head.nextSeq).toBe(14);
    await expectSameAnswers(path);
  });

  it.each([
    ["ends far outside", { buckets: [2 ** 40] }],
    ["has a number that is negative", { seq: -1 }],
    ["has no number where one belongs", { to: Number.NaN }],
    ["has more stretches than fit", { stretches: 2 ** 31 }],
    ["is of lines that the log does not have", { to: 2 ** 50 }],
    ["goes on for ever", { from: 0, nextSeq: Number.MAX_SAFE_INTEGER }],
  ])("give every answer where a head %s, whoever sealed it", async (_name, forged) => {
    const { path } = await tabledLog(7);
    const [first] = await tablesOf(path);
    if (first === undefined) throw new Error("one table");
    const { stretches: _stretches, spans: _spans, buckets: _buckets, ...stretch } = first.head;
    const content = { stretch: { ...stretch, ...forged }, rows: [], entries: Buffer.alloc(0) };
    const bytes = (() => {
      try {
        return sealTable(content, KEY);
      } catch {
        return Buffer.from(`${"0".repeat(64)}\t${JSON.stringify(forged)}\n`); // no such JSON
      }
    })();
    await writeFile(lookupPath(path), bytes);
    await expectSameAnswers(path);
    await bringUp(path);
    await expectSameAnswers(path);
  });

  it("cost next to nothing where the file is a huge one, or none", async () => {
    const { path } = await tabledLog(8);
    await truncate(lookupPath(path), 0);
    await truncate(lookupPath(path), 2 ** 40).catch(() => truncate(lookupPath(path), 2 ** 33));
    const read = await countingReads();
    await expectSameAnswers(path);
    expect(read()).toBeLessThan(32 * 1024 * 1024);
    await rm(lookupPath(path));
    await mkdir(lookupPath(path));
    await expectSameAnswers(path);
    await bringUp(path);
  });
});

describe("a look-up in a long log", () => {
  const many = (from: number): ReturnType<typeof eventsOf> =>
    eventsOf(
      Array.from({ length: 200 }, (_, at) => ({
        id: `ae_${String(from + at).padStart(8, "0")}`,
        requestId: `cr_${from + at}`,
        atMs: 1_000_000 + from + at,
        tool: from + at === 4_321 ? "rare" : "usual",
      })),
    );

  it("reads the few lines that can be meant, before and after files were removed", async () => {
    const path = await scratchLog();
    await using log = await openAuditLog({ path, indexKey: KEY, rotation: { maxBytes: 300_000 } });
    for (let from = 0; from < 6_000; from += 200) await log.append(many(from));
    await log.close();
    const bytes = (await stat(path)).size;
    const filters = [
      { requestId: "cr_4321" },
      { id: "ae_00004321" },
      { tool: "rare" },
      { sinceMs: 1_004_321, untilMs: 1_004_322 },
      { fromSeq: 4_321, beforeSeq: 4_322 },
    ];
    const ask = async (): Promise<void> => {
      for (const filter of filters) {
        const nowMs = 2_000_000_000;
        const read = await countingReads();
        const options = { filter, indexKey: KEY, nowMs };
        const found = await collect(readAuditLog(path, options));
        expect(found.map(({ seq }) => seq)).toEqual([4_321]);
        // Of each file the head of its table and one bucket; sixteen lines; and what is behind.
        expect(read()).toBeLessThan(bytes + 200_000);
      }
    };
    await ask();
    // What is in nearly every span is found in all of them.
    const usual = { filter: { tool: "usual" }, indexKey: KEY };
    expect(await collect(readAuditLog(path, usual))).toHaveLength(5_999);
    await using again = await openAuditLog({ path, indexKey: KEY });
    expect((await pruneAuditLog(again, { keepFiles: 4 })).length).toBeGreaterThan(1);
    await ask();
    await again.close();
    const before = (await tablesOf(path)).length;
    await (await openAuditLog({ path, indexKey: KEY })).close();
    expect((await tablesOf(path)).length).toBeLessThan(before);
    await ask();
  });

  it("is one of several of one reader", async () => {
    const path = await scratchLog();
    await using log = await openAuditLog({ path, indexKey: KEY });
    await log.append(many(0));
    await using reader = await openAuditReader(path, { indexKey: KEY });
    const filter = { requestId: ["cr_7", "cr_107"] };
    for (let round = 0; round < 2; round++) {
      expect((await collect(reader.read({ filter }))).map(({ seq }) => seq)).toEqual([7, 107]);
      const backward = await collect(reader.readBackward({ filter }));
      expect(backward.map(({ seq }) => seq)).toEqual([107, 7]);
    }
  });
});
