import { readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { collect, makeEvent, manualTime, scratchLog } from "../test/support.js";
import { openAuditLog } from "./audit-log.js";
import type { AuditEvent } from "./event.js";
import { archivePath } from "./log-parts.js";
import { readAuditLog } from "./read.js";
import { verifyAuditLog } from "./verify.js";

async function eventsOf(path: string): Promise<readonly AuditEvent[]> {
  return collect(readAuditLog(path));
}

/** A log of `count` events in files of two. */
async function rotatedLog(count: number): Promise<string> {
  const path = await scratchLog();
  await using log = await openAuditLog({ path, rotation: { maxBytes: 1_100 } });
  for (let number = 0; number < count; number++)
    await log.append([makeEvent(number, { id: `ae_${1_000 + number}` })]);
  return path;
}

const filesOf = async (path: string): Promise<readonly string[]> =>
  (await readdir(dirname(path)))
    .filter((name) => name.startsWith(basename(path)) && !name.includes(".lock."))
    .sort();

describe("openAuditLog() with rotation", () => {
  it("keeps one chain over all files, named after their first event", async () => {
    const path = await rotatedLog(7);
    expect(await filesOf(path)).toEqual([
      "audit.jsonl",
      "audit.jsonl.000000000000",
      "audit.jsonl.000000000002",
      "audit.jsonl.000000000004",
    ]);
    expect(await verifyAuditLog(path)).toMatchObject({ ok: true, events: 7, head: { seq: 6 } });
    expect((await eventsOf(path)).map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  it("goes on over openings", async () => {
    const path = await rotatedLog(5);
    await using log = await openAuditLog({ path, rotation: { maxBytes: 1_100 } });
    for (let number = 0; number < 4; number++) await log.append([makeEvent(number)]);
    expect(await verifyAuditLog(path)).toMatchObject({ ok: true, events: 9 });
  });

  it("starts a file when the one it has is too old, also after an opening", async () => {
    const path = await scratchLog();
    const clock = manualTime(Date.UTC(2026, 0, 15, 10, 30));
    const rotation = { maxAgeMs: 60_000 };
    await using first = await openAuditLog({ path, clock, rotation });
    await first.append([makeEvent(0)]);
    await first.append([makeEvent(1)]);
    await first.close();
    clock.pass(60_001);
    await using log = await openAuditLog({ path, clock, rotation });
    await log.append([makeEvent(2)]);
    expect(await filesOf(path)).toEqual(["audit.jsonl", "audit.jsonl.000000000000"]);
    expect(await verifyAuditLog(path)).toMatchObject({ ok: true, events: 3 });
  });

  it("never cuts a batch, and never makes an empty file", async () => {
    const path = await scratchLog();
    await using log = await openAuditLog({ path, rotation: { maxBytes: 1 } });
    await log.append([makeEvent(0), makeEvent(1), makeEvent(2)]);
    await log.append([makeEvent(3)]);
    expect(await filesOf(path)).toEqual(["audit.jsonl", "audit.jsonl.000000000000"]);
    expect(await verifyAuditLog(path)).toMatchObject({ ok: true, events: 4 });
  });

  it("goes on where a crash came between the renaming and the new file", async () => {
    const path = await rotatedLog(4);
    await rename(path, archivePath(path, 2));
    expect(await verifyAuditLog(path)).toMatchObject({ ok: true, events: 4 });
    await using log = await openAuditLog({ path });
    expect(log.start).toMatchObject({ seq: 3 });
    await log.append([makeEvent(4)]);
    expect(await verifyAuditLog(path)).toMatchObject({ ok: true, events: 5 });
  });

  it("goes on where a crash cut the first line of a new file", async () => {
    const path = await rotatedLog(4);
    const next = await readFile(path);
    await rename(path, archivePath(path, 2));
    await writeFile(path, next.subarray(0, 100), { mode: 0o600 });
    await using log = await openAuditLog({ path });
    expect(log).toMatchObject({ recovered: { bytes: 100 }, start: { seq: 4 } });
    expect(await verifyAuditLog(path)).toMatchObject({ ok: true, events: 5 });
  });

  it("refuses everything rather than replace a file", async () => {
    const path = await rotatedLog(4);
    await using log = await openAuditLog({ path, rotation: { maxBytes: 1_100 } });
    await writeFile(archivePath(path, 2), "mine");
    await expect(log.append([makeEvent(4)])).rejects.toMatchObject({ code: "audit_failed" });
    await expect(log.append([makeEvent(5)])).rejects.toMatchObject({ code: "audit_failed" });
    expect(await readFile(archivePath(path, 2), "utf8")).toBe("mine");
    expect((await readFile(path, "utf8")).trimEnd().split("\n")).toHaveLength(2);
  });
});

describe("verifyAuditLog() over files", () => {
  it("names the file and its line", async () => {
    const path = await rotatedLog(7);
    const middle = archivePath(path, 2);
    await writeFile(middle, (await readFile(middle, "utf8")).replace("ae_1003", "ae_1009"));
    expect(await verifyAuditLog(path)).toMatchObject({
      ok: false,
      events: 3,
      firstBad: { file: "audit.jsonl.000000000002", line: 2, code: "hash_mismatch" },
    });
  });

  it("finds a file that is missing, renamed or swapped", async () => {
    const gone = await rotatedLog(7);
    await rm(archivePath(gone, 2));
    expect((await verifyAuditLog(gone)).firstBad).toMatchObject({
      file: "audit.jsonl.000000000004",
      line: 1,
      code: "seq_broken",
    });
    const renamed = await rotatedLog(7);
    await rename(archivePath(renamed, 2), archivePath(renamed, 3));
    expect((await verifyAuditLog(renamed)).firstBad).toMatchObject({
      file: "audit.jsonl.000000000003",
      line: 1,
      code: "seq_broken",
    });
    const swapped = await rotatedLog(7);
    await rename(archivePath(swapped, 2), `${swapped}.x`);
    await rename(archivePath(swapped, 4), archivePath(swapped, 2));
    await rename(`${swapped}.x`, archivePath(swapped, 4));
    expect((await verifyAuditLog(swapped)).firstBad).toMatchObject({
      file: "audit.jsonl.000000000002",
      line: 1,
      code: "seq_broken",
    });
  });

  it("finds a start that is missing", async () => {
    const path = await rotatedLog(7);
    await rm(archivePath(path, 0));
    expect((await verifyAuditLog(path)).firstBad).toMatchObject({
      file: "audit.jsonl.000000000002",
      line: 1,
      code: "start_missing",
    });
    await rm(archivePath(path, 2));
    await rm(archivePath(path, 4));
    expect((await verifyAuditLog(path)).firstBad).toMatchObject({ line: 1, code: "start_missing" });
  });

  it("takes one full file by itself", async () => {
    const path = await rotatedLog(7);
    expect(await verifyAuditLog(archivePath(path, 2))).toMatchObject({
      ok: true,
      events: 2,
      startSeq: 2,
      head: { seq: 3 },
    });
    await rename(archivePath(path, 2), archivePath(path, 9));
    expect((await verifyAuditLog(archivePath(path, 9))).firstBad).toMatchObject({
      line: 1,
      code: "seq_broken",
    });
  });
});
