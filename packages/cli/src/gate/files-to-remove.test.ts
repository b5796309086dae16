import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openAuditLog, readAuditLog, verifyAuditLog } from "@acp/audit";
import type { AuditLogOptions } from "@acp/audit";
import { logEvent } from "@acp/core";
import { homePaths } from "@acp/home";
import type { Home } from "@acp/home";
import { describe, expect, it, onTestFinished } from "vitest";
import { filesToRemove } from "./files-to-remove.js";
import { keepRetention } from "./retention.js";

const DAY_MS = 86_400_000;
const NOW_MS = Date.now() - DAY_MS;

const optionsOf = (path: string): AuditLogOptions => ({ path, rotation: { maxBytes: 600 } });

/** Logs with one event a file, so many days before the newest one. */
async function homeOf(logs: Readonly<Record<string, readonly number[]>>): Promise<Home> {
  const dir = await mkdtemp(join(tmpdir(), "acp-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  for (const [name, days] of Object.entries(logs)) {
    await using log = await openAuditLog(optionsOf(join(dir, name)));
    for (const [at, ago] of days.entries())
      await log.append([
        logEvent(
          "gate_notice",
          { id: `ae_${at}`, atMs: NOW_MS - ago * DAY_MS },
          { notice: "unsigned", text: "x".repeat(200) },
        ),
      ]);
  }
  return homePaths(dir);
}

const OLD = [400, 300, 200, 80, 20, 0];

describe("filesToRemove()", () => {
  it("names by default what is older than 90 days, by the log's own events", async () => {
    const { dir } = await homeOf({ "audit.jsonl": OLD, "audit.2.jsonl": [900, 895] });
    expect(await filesToRemove(dir, join(dir, "audit.jsonl"), {})).toEqual({
      keepFiles: 2,
      firstKept: 3,
    });
    expect(await filesToRemove(dir, join(dir, "audit.2.jsonl"), {})).toBeUndefined();
    expect(await filesToRemove(dir, join(dir, "audit.3.jsonl"), {})).toBeUndefined();
    // What a clock that jumped ahead wrote last makes nothing old.
    const jumped = await homeOf({ "audit.jsonl": [40, 30, 20, -4_000] });
    expect(await filesToRemove(jumped.dir, join(jumped.dir, "audit.jsonl"), {})).toBeUndefined();
  });

  it("goes by a number alone where only that is configured", async () => {
    const { dir } = await homeOf({ "audit.jsonl": OLD });
    const log = join(dir, "audit.jsonl");
    expect(await filesToRemove(dir, log, { keepFiles: 12 })).toBeUndefined();
    expect(await filesToRemove(dir, log, { keepFiles: 4 })).toMatchObject({ firstKept: 1 });
    const both = { keepFiles: 4, keepMs: 250 * DAY_MS };
    expect(await filesToRemove(dir, log, both)).toMatchObject({ firstKept: 2 });
  });

  it("takes the oldest files of the home where its logs are too large, and never the newest of a log", async () => {
    const { dir } = await homeOf({ "audit.jsonl": [9, 7, 5, 3], "audit.2.jsonl": [8, 6, 4, 2] });
    const [one, two] = ["audit.jsonl", "audit.2.jsonl"].map((name) => join(dir, name));
    const bytes = 8 * 560;
    const sizeOf = async (keepBytes: number): Promise<unknown> => [
      (await filesToRemove(dir, one ?? "", { keepBytes }))?.firstKept,
      (await filesToRemove(dir, two ?? "", { keepBytes }))?.firstKept,
    ];
    expect(await sizeOf(bytes * 2)).toEqual([undefined, undefined]);
    expect(await sizeOf(1)).toEqual([2, 2]);
  });

  it("leaves what has an event of the last ten minutes, whatever says that it goes", async () => {
    const minutesAgo = [30, 20, 8, 6, 4, 0].map((minutes) => minutes / 1_440 - 1);
    const { dir } = await homeOf({ "audit.jsonl": minutesAgo });
    const log = join(dir, "audit.jsonl");
    for (const terms of [{ keepFiles: 1 }, { keepBytes: 1 }])
      expect(await filesToRemove(dir, log, terms)).toEqual({ keepFiles: 3, firstKept: 2 });
  });

  it("removes few at once", async () => {
    const { dir } = await homeOf({ "audit.jsonl": [500, 499, 498, 497, 496, 495, 494, 1, 0] });
    expect(await filesToRemove(dir, join(dir, "audit.jsonl"), {})).toMatchObject({ firstKept: 4 });
  });
});

describe("keepRetention()", () => {
  it("removes what is too old of every log, and what stays verifies and says so", async () => {
    const home = await homeOf({ "audit.jsonl": OLD, "audit.2.jsonl": [400, 300, 1, 0] });
    const own = join(home.dir, "audit.jsonl");
    const other = join(home.dir, "audit.2.jsonl");
    const removed: string[] = [];
    {
      await using audit = await openAuditLog(optionsOf(own));
      await using _retention = keepRetention({
        home,
        audit,
        retention: {},
        optionsOf,
        onRemoved: (_path, names) => removed.push(...names),
        onError: (error) => {
          throw error;
        },
        every: (work) => {
          work();
          return { [Symbol.dispose]: () => {} };
        },
      });
    }
    expect(removed).toEqual([
      ...[0, 1, 2].map((seq) => `audit.jsonl.00000000000${seq}`),
      ...[0, 1].map((seq) => `audit.2.jsonl.00000000000${seq}`),
    ]);
    for (const [path, startSeq] of [
      [own, 3],
      [other, 2],
    ] as const) {
      expect(await verifyAuditLog(path)).toMatchObject({ ok: true, startSeq });
      const said: unknown[] = [];
      for await (const { metadata } of readAuditLog(path, { filter: { eventType: "log_pruned" } }))
        said.push(metadata["before_seq"]);
      expect(said.at(-1)).toBe(startSeq);
    }
    expect((await readdir(home.dir)).filter((name) => removed.includes(name))).toEqual([]);
  });
});
