import { open, readFile, rename, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { someInLane } from "../../../tools/deep.js";
import { makeEvent, makeLines, scratchLog } from "../test/support.js";
import { openAuditLog } from "./audit-log.js";
import { sha256 } from "./codec.js";
import { readAuditLog } from "./read.js";
import { readTail, recoverTail } from "./tail.js";
import { verifyAuditLog } from "./verify.js";

const LINES = (await makeLines([makeEvent(1), makeEvent(2)])).map((line) => `${line}\n`);
const TEXT = LINES.join("");

describe("readTail()", () => {
  it("finds the last full line and what is torn behind it, across reads of any size", async () => {
    const path = await scratchLog();
    const filler = "x".repeat(200_000);
    const [long = ""] = await makeLines([makeEvent(1, { metadata: { filler } })]);
    await writeFile(path, `${long}\n${long.slice(0, -1)}`);
    await using handle = await open(path);
    const tail = await readTail(path, handle);
    expect(tail.size).toBe(Buffer.byteLength(long) + 1);
    expect(tail.head?.seq).toBe(0);
    expect(tail.torn).toEqual({
      bytes: Buffer.byteLength(long) - 1,
      hash: sha256(long.slice(0, -1)),
    });
  });
});

describe("recoverTail()", () => {
  it("writes into no other file that took the log's name meanwhile", async () => {
    const path = await scratchLog();
    await writeFile(path, `${TEXT}{`);
    const replace = async (): Promise<void> => {
      await rename(path, `${path}.1`);
      await writeFile(path, "somebody else's");
    };
    await expect(recover(path, replace)).rejects.toMatchObject({
      code: "audit_failed",
      message: expect.stringContaining("replaced"),
    });
    expect(await readFile(path, "utf8")).toBe("somebody else's");
  });

  it("leaves a log that recovers, whatever byte of it a crash comes at", async () => {
    for (const torn of ['{"agent":"x', "y".repeat(600)]) {
      const whole = await recovered(torn);
      const record = whole.subarray(Buffer.byteLength(TEXT));
      const rest = Buffer.from(torn);
      const places = Array.from({ length: record.length + 1 }, (_, at) => at);
      for (const written of new Set([...someInLane(places), record.length])) {
        // The record is written over the torn bytes from the front; the cut behind it may not have
        // happened.
        const crashed = Buffer.concat([
          Buffer.from(TEXT),
          record.subarray(0, written),
          rest.subarray(written),
        ]);
        await expectRecovers(crashed);
      }
    }
  });
});

async function recovered(torn: string): Promise<Buffer> {
  const path = await scratchLog();
  await writeFile(path, TEXT + torn);
  await recover(path);
  return await readFile(path);
}

/** Recovers the log at `path`; `between` runs after its end was read. */
async function recover(path: string, between: () => Promise<void> = async () => {}): Promise<void> {
  await using handle = await open(path, "a+");
  const tail = await readTail(path, handle);
  if (tail.torn === undefined) throw new Error("nothing is torn");
  await between();
  await recoverTail({ path, handle, tail: { ...tail, torn: tail.torn } }, { id: "ae_r", atMs: 0 });
}

async function expectRecovers(bytes: Uint8Array): Promise<void> {
  const path = await scratchLog();
  await writeFile(path, bytes, { mode: 0o600 });
  await (await openAuditLog({ path })).close();
  const types: string[] = [];
  for await (const { eventType } of readAuditLog(path)) types.push(eventType);
  expect(types.slice(0, 2)).toEqual(["policy_evaluated", "policy_evaluated"]);
  expect(types.slice(2)).toContain("log_recovered");
  expect(await verifyAuditLog(path)).toMatchObject({ ok: true });
}
