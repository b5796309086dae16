/**
 * The index beside a log is a cache: with it, without it, with a damaged or an older one, every
 * answer is the same.
 */
import {
  appendFile,
  copyFile,
  link,
  readFile,
  rm,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isDeep } from "../../../tools/deep.js";
import { indexPath } from "../src/log-index/index-file.js";
import { lookupPath } from "../src/log-index/lookup-file.js";
import { openIndexWriter } from "../src/log-index/index-writer.js";
import { readLastMarks } from "../src/last-marks.js";
import {
  anyEvent,
  bringUp,
  eventsOf,
  expectSameAnswers,
  HASH,
  KEY,
  putLog,
  recordsOf,
} from "./index-world.js";
import { makeLines, scratchLog } from "./support.js";

/** Which bytes of a file are tried. */
const STEP = isDeep ? 31 : 1_321;

const PARTS = { key: KEY, now: () => 5, everyEvents: 3, closeEventsMin: 1 };

async function linesOf(count: number, seed: number): Promise<readonly string[]> {
  const [fields = []] = fc.sample(fc.array(anyEvent, { minLength: count, maxLength: count }), {
    seed,
    numRuns: 1,
  });
  return makeLines(eventsOf(fields));
}

describe("the index of a log", () => {
  it("answers as reading everything does, for every prefix of any log in any files", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyEvent, { minLength: 1, maxLength: 24 }),
        fc.array(fc.integer({ min: 1, max: 23 }), { maxLength: 3 }),
        fc.array(fc.integer({ min: 1, max: 24 }), { minLength: 1, maxLength: 4 }),
        async (fields, starts, prefixes) => {
          const path = await scratchLog();
          const lines = await makeLines(eventsOf(fields));
          const steps = [...new Set([...prefixes, lines.length])].sort((one, other) => one - other);
          for (const prefix of steps) {
            await putLog(path, lines.slice(0, prefix), starts);
            await expectSameAnswers(path); // by the index of a shorter log
            await bringUp(path);
            await expectSameAnswers(path);
          }
        },
      ),
      { numRuns: isDeep ? 60 : 2 },
    );
  });

  it("goes on from where it ends, and covers the log to its end", async () => {
    const path = await scratchLog();
    const lines = await linesOf(10, 1);
    await putLog(path, lines.slice(0, 7));
    await bringUp(path);
    const before = await recordsOf(path);
    await putLog(path, lines);
    await bringUp(path);
    const after = await recordsOf(path);
    expect(before.map(({ nextSeq }) => nextSeq)).toEqual([3, 6, 7]);
    expect(after.slice(0, 3)).toEqual(before);
    expect(after.at(-1)?.nextSeq).toBe(10);
  });

  it.each([
    ["log_opened", true],
    ["policy_evaluated", false],
    ["gate_notice", false],
    ["consent_requested", false],
  ] as const)("knows whether a log was settled that ends with %s", async (last, isSettled) => {
    const path = await scratchLog();
    const types = ["policy_evaluated", "log_opened", "gate_notice", "log_opened", last] as const;
    const lines = await makeLines(
      eventsOf(types.map((eventType) => ({ eventType, metadata: { open_questions: [] } }))),
    );
    // By what it follows, and by what a record says.
    for (const end of [lines.length - 1, lines.length]) {
      await putLog(path, lines.slice(0, end));
      const writer = await openIndexWriter({ ...PARTS, path, nextSeq: end });
      expect(writer?.work()?.isSettled()).toBe(end === lines.length ? isSettled : true);
      await writer?.close();
    }
    const again = await openIndexWriter({ ...PARTS, path, nextSeq: lines.length });
    expect(again?.work()?.isSettled()).toBe(isSettled);
    await again?.close();
  });

  it("changes no answer, whichever byte of it is another", async () => {
    const path = await scratchLog();
    await putLog(path, await linesOf(9, 2), [4]);
    await bringUp(path);
    const whole = await readFile(indexPath(path));
    for (let at = 0; at < whole.length; at += STEP) {
      const bytes = Buffer.from(whole);
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      await writeFile(indexPath(path), bytes);
      await expectSameAnswers(path);
      await bringUp(path);
      // What was damaged is mended from the log.
      expect(await readFile(indexPath(path))).toEqual(whole);
      await expectSameAnswers(path);
    }
  });

  it("changes no answer, wherever a kill cut it short", async () => {
    const path = await scratchLog();
    await putLog(path, await linesOf(9, 3));
    await bringUp(path);
    const whole = await readFile(indexPath(path));
    for (let length = 0; length < whole.length; length += STEP) {
      await writeFile(indexPath(path), whole.subarray(0, length));
      await expectSameAnswers(path);
      await bringUp(path);
      expect(await readFile(indexPath(path))).toEqual(whole);
    }
  });

  it("does not count where somebody wrote what hides events, or what is open", async () => {
    const path = await scratchLog();
    await putLog(path, await linesOf(9, 12));
    await bringUp(path);
    const records = (await readFile(indexPath(path), "utf8")).trimEnd().split("\n");
    const forged = records.map((record) => {
      const [mac, stretch, state = ""] = record.split("\t");
      const none = state.replaceAll(/"(questions|yeses|calls)":\[[^\]]*\]/g, '"$1":[]');
      return [mac, stretch, none].join("\t");
    });
    await writeFile(indexPath(path), `${forged.join("\n")}\n`);
    await expectSameAnswers(path);
    await bringUp(path);
    await expectSameAnswers(path);
  });

  it("does not count where it lacks records, has them twice or in another order", async () => {
    const path = await scratchLog();
    await putLog(path, await linesOf(12, 4));
    await bringUp(path);
    const records = (await readFile(indexPath(path), "utf8")).trimEnd().split("\n");
    const [a = "", b = "", c = "", d = ""] = records;
    for (const mixed of [
      [b, a, c, d],
      [a, c, d],
      [a, d],
      [a, a, b, c, d],
      [d, c, b, a],
      [d],
      [c, d],
      [a, b],
    ]) {
      await writeFile(indexPath(path), `${mixed.join("\n")}\n`);
      await expectSameAnswers(path);
      await bringUp(path);
      await expectSameAnswers(path);
    }
  });

  it("does not count for another log, with another key or for a log that was replaced", async () => {
    const [path, other] = [await scratchLog(), await scratchLog()];
    await putLog(path, await linesOf(9, 5));
    await putLog(other, await linesOf(9, 6));
    for (const each of [path, other]) await bringUp(each);
    const own = await readFile(indexPath(path));
    await copyFile(indexPath(other), indexPath(path));
    await expectSameAnswers(path);
    // Records of another log, sealed with the same key, before our own.
    const [, theirs = ""] = (await readFile(indexPath(other), "utf8")).split("\n");
    const [first = "", , ...rest] = own.toString("utf8").split("\n");
    await writeFile(indexPath(path), [first, theirs, ...rest].join("\n"));
    await expectSameAnswers(path);
    await copyFile(other, path);
    await writeFile(indexPath(path), own);
    await expectSameAnswers(path);
    await bringUp(path);
    await expectSameAnswers(path);
  });

  it("does not count for a log of which every line has the same length and place", async () => {
    const path = await scratchLog();
    const lines = (agent: string) =>
      makeLines(eventsOf(Array.from({ length: 7 }, () => ({ agent }))));
    await putLog(path, await lines("agent-1"));
    await bringUp(path);
    await putLog(path, await lines("agent-2"));
    await expectSameAnswers(path);
    await bringUp(path);
    await expectSameAnswers(path);
  });

  it("does not count for a log that lost its end, or has bytes of somebody else there", async () => {
    const path = await scratchLog();
    const lines = await linesOf(9, 7);
    await putLog(path, lines);
    await bringUp(path);
    const { length } = await readFile(path);
    for (let cut = 1; cut < length / 2; cut += STEP) {
      await truncate(path, length - cut);
      await expectSameAnswers(path);
      await putLog(path, lines);
    }
    await putLog(path, [...lines.slice(0, 8), (await linesOf(9, 8))[8] ?? ""]);
    await expectSameAnswers(path);
    await putLog(path, lines.slice(0, 5));
    await bringUp(path);
    expect((await recordsOf(path)).at(-1)?.nextSeq).toBe(5);
  });

  it("does not speak of the vault's newest state where the file with it was removed", async () => {
    const path = await scratchLog();
    const vault = (counter: number) => ({
      eventType: "vault_changed" as const,
      metadata: { counter, vault_hash: HASH },
    });
    const lines = await makeLines(eventsOf([vault(5), {}, vault(4), {}, {}]));
    await putLog(path, lines, [2]);
    await bringUp(path);
    await rm(`${path}.000000000000`);
    expect((await readLastMarks(path, { indexKey: KEY })).get("vault")?.event.seq).toBe(2);
    await expectSameAnswers(path);
  });

  it("of an older copy gives what the log says", async () => {
    const path = await scratchLog();
    const lines = await linesOf(12, 9);
    await putLog(path, lines.slice(0, 5));
    await bringUp(path);
    const old = await readFile(indexPath(path));
    await putLog(path, lines);
    await bringUp(path);
    await writeFile(indexPath(path), old);
    await expectSameAnswers(path);
    await bringUp(path);
    await expectSameAnswers(path);
  });

  it("ends where the log has a line that is no event, and what comes after is not indexed", async () => {
    const path = await scratchLog();
    await putLog(path, await linesOf(6, 10));
    await bringUp(path);
    await appendFile(path, "foreign bytes\n");
    const before = await readFile(indexPath(path));
    await expect(bringUp(path)).rejects.toThrow("expected undefined");
    expect(await readFile(indexPath(path))).toEqual(before);
  });

  it("is not made of a log whose lines are in another order, or that goes on elsewhere", async () => {
    const path = await scratchLog();
    const [a = "", b = "", c = "", d = ""] = await linesOf(4, 13);
    await putLog(path, [a, b, d, c]);
    await expect(bringUp(path)).rejects.toThrow("expected undefined");
    await putLog(path, [a, b, c, d]);
    const parts = { path, key: KEY, now: () => 5 };
    expect(await openIndexWriter({ ...parts, nextSeq: 5 })).toBeUndefined();
  });

  it("is not followed where it is a link", async () => {
    const path = await scratchLog();
    await putLog(path, await linesOf(4, 11));
    const target = `${path}.elsewhere`;
    await writeFile(target, "precious");
    await symlink(target, indexPath(path));
    await expect(bringUp(path)).rejects.toThrow("expected undefined");
    await rm(indexPath(path));
    await link(target, indexPath(path));
    await expect(bringUp(path)).rejects.toThrow("expected undefined");
    expect(await readFile(target, "utf8")).toBe("precious");
  });
});

describe("spec/vectors/audit-index.json", () => {
  interface Case {
    readonly name: string;
    readonly key: string;
    readonly lines: readonly string[];
    readonly every_events: number;
    readonly checked_ms: number;
    readonly span_lines: number;
    readonly join_tables: number;
    readonly want: readonly string[];
    readonly want_lookup: string;
  }
  const { cases }: { readonly cases: readonly Case[] } = JSON.parse(
    readFileSync(new URL("../../../spec/vectors/audit-index.json", import.meta.url), "utf8"),
  );
  it.each(cases)("openIndexWriter() writes the index $name", async (each) => {
    const path = await scratchLog();
    await putLog(path, each.lines);
    const writer = await openIndexWriter({
      path,
      key: Buffer.from(each.key, "hex"),
      now: () => each.checked_ms,
      nextSeq: each.lines.length,
      everyEvents: each.every_events,
      closeEventsMin: 1,
      sizes: { spanLines: each.span_lines, joinTables: each.join_tables },
    });
    await writer?.close();
    expect((await readFile(lookupPath(path))).toString("base64")).toBe(each.want_lookup);
    const text = each.want.map((record) => `${record}\n`).join("");
    expect(await readFile(indexPath(path), "utf8")).toBe(text);
  });
});
