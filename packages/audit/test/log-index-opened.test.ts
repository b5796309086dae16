/** Logs that are opened with an index: what is read, what is written and what is dropped. */
import { appendFile, rm, stat } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { openAuditLog } from "../src/audit-log.js";
import { readLastMarks } from "../src/last-marks.js";
import { indexPath } from "../src/log-index/index-file.js";
import { openParts } from "../src/log-parts.js";
import { pruneAuditLog } from "../src/prune.js";
import { readAuditLog } from "../src/read.js";
import { eventsOf, expectSameAnswers, HASH, KEY, OTHER_KEY, recordsOf } from "./index-world.js";
import { collect, countingReads, scratchLog } from "./support.js";

describe("openAuditLog() with an index", () => {
  it("reads the end of a log alone, and finds and ends there what is open", async () => {
    const path = await scratchLog();
    const filler = { filler: "x".repeat(2_000) };
    const question = { eventType: "consent_requested", requestId: "cr_open" } as const;
    const note = {
      eventType: "vault_changed",
      metadata: { counter: 1, vault_hash: HASH },
    } as const;
    const fields = Array.from({ length: 3_000 }, () => ({ metadata: filler }));
    {
      await using log = await openAuditLog({ path, indexKey: KEY });
      await log.append(eventsOf([note, question, ...fields]));
    }
    const { size } = await stat(path);
    const read = await countingReads();
    await using log = await openAuditLog({
      path,
      indexKey: KEY,
      recover: { pendingIds: new Set() },
    });
    expect(log.ended).toBe(1);
    expect((await readLastMarks(path, { indexKey: KEY })).get("vault")?.event.seq).toBe(0);
    const found = await collect(
      readAuditLog(path, { filter: { requestId: "cr_open" }, indexKey: KEY }),
    );
    expect(found.map(({ eventType }) => eventType)).toEqual([
      "consent_requested",
      "consent_expired",
    ]);
    expect(read()).toBeLessThan(size / 2);
  });

  const many = (count: number, from = 0): ReturnType<typeof eventsOf> =>
    eventsOf(
      Array.from({ length: count }, (_, n) => ({ id: `ae_${from + n}`, atMs: 1_000_000 + n })),
    );

  it("writes a record every 1,000 events and at its end, over files and after a torn line", async () => {
    const path = await scratchLog();
    const openIt = () =>
      openAuditLog({
        path,
        indexKey: KEY,
        rotation: { maxBytes: 600_000 },
        recover: { pendingIds: new Set() },
      });
    for (let round = 0; round < 3; round++) {
      await using log = await openIt();
      await log.append(many(1_100, round * 10_000));
      await log.append(many(60, round * 10_000 + 5_000));
      await log.close();
      await appendFile(path, '{"agent":"to');
    }
    {
      await using _log = await openIt();
    }
    const records = await recordsOf(path);
    expect(records.length).toBeGreaterThan(4);
    expect(records.every(({ seq, nextSeq }) => nextSeq - seq <= 1_000)).toBe(true);
    const last = records.at(-1)?.nextSeq ?? 0;
    expect(3 * 1_161 - last).toBeLessThan(60);
    await expectSameAnswers(path);
  });

  it("answers for what stays after files were removed, and drops the records of them", async () => {
    const path = await scratchLog();
    const openIt = () => openAuditLog({ path, indexKey: KEY, rotation: { maxBytes: 200_000 } });
    {
      await using log = await openIt();
      for (let round = 0; round < 12; round++) await log.append(many(200, round * 1_000));
      expect((await pruneAuditLog(log, { keepFiles: 1 })).length).toBeGreaterThan(1);
      await expectSameAnswers(path);
    }
    const before = await recordsOf(path);
    {
      await using _log = await openIt();
    }
    await expectSameAnswers(path);
    await using log = await openParts(path);
    const records = await recordsOf(path);
    expect(records[0]?.seq).toBe(await log.parts[0]?.startSeq());
    expect(records).toEqual(before.slice(-records.length));
    await rm(indexPath(path));
    {
      await using _again = await openIt();
    }
    await expectSameAnswers(path);
  });

  it("does without one for a home of another key, and says nothing of it", async () => {
    const path = await scratchLog();
    for (const indexKey of [KEY, OTHER_KEY, KEY]) {
      await using log = await openAuditLog({ path, indexKey });
      await log.append(many(60));
    }
    await expectSameAnswers(path);
    expect((await recordsOf(path)).at(-1)?.nextSeq).toBe(180);
  });
});
