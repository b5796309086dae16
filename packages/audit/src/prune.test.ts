import { copyFile, readFile, rm, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { collect, makeEvent, scratchLog } from "../test/support.js";
import { type AuditLog, openAuditLog } from "./audit-log.js";
import { encodeEvent } from "./codec.js";
import { archivePath, listArchives } from "./log-parts.js";
import { generateNoteKey } from "./note.js";
import { pruneAuditLog } from "./prune.js";
import { readAuditLog } from "./read.js";
import { verifyAuditLog } from "./verify.js";
import { readCheckpoints, type Witness } from "./witness.js";

const KEY = generateNoteKey("pruned");
const CLAIMS = async (
  path: string,
): Promise<{ notes: readonly string[]; verifierKeys: readonly string[] }> => ({
  notes: await readCheckpoints(`${path}.checkpoints`),
  verifierKeys: [KEY.verifierKey],
});

async function signedLog(path: string, maxBytes = 1_100): Promise<AuditLog> {
  return openAuditLog({
    path,
    rotation: { maxBytes },
    checkpoints: { signerKey: KEY.signerKey, everyEvents: 3 },
  });
}

async function fill(log: AuditLog, from: number, to: number): Promise<void> {
  for (let number = from; number < to; number++)
    await log.append([makeEvent(number, { id: `ae_${1_000 + number}` })]);
}

describe("pruneAuditLog()", () => {
  it("removes the oldest files and leaves a log that verifies, with its checkpoints", async () => {
    const path = await scratchLog();
    await using log = await signedLog(path);
    await fill(log, 0, 9);
    expect(await pruneAuditLog(log, { keepFiles: 1 })).toEqual([
      "audit.jsonl.000000000000",
      "audit.jsonl.000000000002",
      "audit.jsonl.000000000004",
    ]);
    await fill(log, 9, 12);
    await log.close();
    const found = await verifyAuditLog(path, { checkpoints: await CLAIMS(path) });
    expect(found).toMatchObject({
      ok: true,
      startSeq: 6,
      head: { seq: 14 },
      checkpoints: { tooOld: 1, events: 15 },
    });
    expect(found.checkpoints?.verified).toBeGreaterThan(1);
  });

  it("goes on from there: again, over openings, down to the file that is written to", async () => {
    const path = await scratchLog();
    await using first = await signedLog(path);
    await fill(first, 0, 7);
    await pruneAuditLog(first, { keepFiles: 2 });
    await first.close();
    // then the tree is read anew, from what the log says of its start
    await rm(`${path}.checkpoints`);
    await using second = await signedLog(path, 1_000_000);
    await fill(second, 7, 10);
    await pruneAuditLog(second, { keepFiles: 0 });
    await second.append([makeEvent(11)]);
    await second.close();
    expect(await listArchives(path)).toEqual([]);
    const found = await verifyAuditLog(path, { checkpoints: await CLAIMS(path) });
    expect(found).toMatchObject({ ok: true, checkpoints: { tooOld: expect.any(Number) } });
    expect(found.startSeq).toBeGreaterThan(6);
  });

  it("lets a copy of what was removed be proven: the log has its last hash", async () => {
    const path = await scratchLog();
    await using log = await signedLog(path);
    await fill(log, 0, 3);
    await copyFile(archivePath(path, 0), `${path}.copy`);
    await pruneAuditLog(log, { keepFiles: 0 });
    await log.close();
    const said = await collect(readAuditLog(path, { filter: { eventType: "log_pruned" } }));
    const copied = (await readFile(`${path}.copy`, "utf8")).trimEnd().split("\n").at(-1) ?? "";
    expect(said).toMatchObject([
      {
        metadata: {
          before_seq: 2,
          file: "audit.jsonl.000000000000",
          hash: JSON.parse(copied).event_hash,
          last_ms: Date.parse(JSON.parse(copied).timestamp),
        },
      },
    ]);
  });

  it("never removes a file that does not verify", async () => {
    const path = await scratchLog();
    await using log = await signedLog(path);
    await fill(log, 0, 7);
    const oldest = archivePath(path, 0);
    await writeFile(oldest, (await readFile(oldest, "utf8")).replace("ae_1001", "ae_1009"));
    await expect(pruneAuditLog(log, { keepFiles: 0 })).rejects.toMatchObject({
      code: "audit_failed",
      message: expect.stringContaining("line 2"),
    });
    expect(await listArchives(path)).toHaveLength(3);
  });

  it("leaves a log whose start is missing without a word as it is", async () => {
    const path = await scratchLog();
    await using log = await signedLog(path);
    await fill(log, 0, 7);
    await rm(archivePath(path, 0));
    await expect(pruneAuditLog(log, { keepFiles: 0 })).rejects.toMatchObject({
      code: "audit_failed",
    });
    expect(await listArchives(path)).toHaveLength(2);
  });

  it("finds a start that was cut further than the log says", async () => {
    const path = await scratchLog();
    await using log = await signedLog(path);
    await fill(log, 0, 7);
    await pruneAuditLog(log, { keepFiles: 2 });
    await log.close();
    await rm(archivePath(path, 2));
    expect((await verifyAuditLog(path)).firstBad).toMatchObject({ code: "start_missing" });
  });

  it("finds a rest that was written anew and follows other events than those removed", async () => {
    const path = await scratchLog();
    await using first = await signedLog(path);
    await fill(first, 0, 3);
    await first.close();
    await using log = await signedLog(path, 1_000_000);
    await pruneAuditLog(log, { keepFiles: 0 });
    await log.close();
    expect(await verifyAuditLog(path)).toMatchObject({ ok: true, startSeq: 2 });
    const events = await collect(readAuditLog(path));
    let head = { seq: (events[0]?.seq ?? 0) - 1, hash: `sha256:${"0".repeat(64)}` };
    const lines = events.map((event) => {
      const encoded = encodeEvent({ ...event, eventType: event.eventType as "log_pruned" }, head);
      ({ head } = encoded);
      return encoded.line;
    });
    await writeFile(path, lines.map((line) => `${line}\n`).join(""));
    expect((await verifyAuditLog(path)).firstBad).toMatchObject({ line: 1, code: "chain_broken" });
  });

  it("keeps what is open, and what came after it, until it has an end", async () => {
    const path = await scratchLog();
    await using log = await openAuditLog({ path, rotation: { maxBytes: 1_100 } });
    await fill(log, 0, 2);
    const question = { eventType: "consent_requested", requestId: "cr_1" } as const;
    await log.append([makeEvent(2, question)]);
    await fill(log, 3, 9);
    const open = await log.heldFrom();
    expect(open).toBe(2);
    expect(await pruneAuditLog(log, { keepFiles: 0 })).toEqual(["audit.jsonl.000000000000"]);
    await log.append([makeEvent(9, { ...question, eventType: "consent_denied" })]);
    expect(await log.heldFrom()).toBe(Infinity);
    await pruneAuditLog(log, { keepFiles: 0 });
    // The events about the removals may fill files themselves.
    expect((await listArchives(path))[0]?.firstSeq).toBeGreaterThan(9);
  });

  it("keeps what a witness does not have", async () => {
    const path = await scratchLog();
    let isAway = true;
    const witness: Witness = {
      name: "elsewhere",
      publish: () => (isAway ? Promise.reject(new Error("away")) : Promise.resolve()),
    };
    await using log = await openAuditLog({
      path,
      rotation: { maxBytes: 1_100 },
      checkpoints: { signerKey: KEY.signerKey, witnesses: [witness] },
    });
    await fill(log, 0, 7);
    expect(await pruneAuditLog(log, { keepFiles: 0 })).toEqual([]);
    isAway = false;
    expect(await pruneAuditLog(log, { keepFiles: 0 })).not.toEqual([]);
    await log.close();
    expect(await verifyAuditLog(path, { checkpoints: await CLAIMS(path) })).toMatchObject({
      ok: true,
    });
  });

  it("refuses a count that is none", async () => {
    const path = await scratchLog();
    await using log = await openAuditLog({ path });
    for (const keepFiles of [-1, 0.5, Number.NaN])
      await expect(pruneAuditLog(log, { keepFiles })).rejects.toMatchObject({
        code: "audit_failed",
      });
  });
});
