import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as immediate } from "node:timers/promises";
import { type PendingStore, memoryStore, reduce } from "@acp/core";
import { pendingRecord, storeConformance } from "@acp/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { scratchDirectory } from "../test/support.js";
import { type PendingJournal, createPendingJournal } from "./pending-journal.js";
import { readRecord } from "./pending-line.js";

async function journal(
  records: Parameters<typeof createPendingJournal>[1] = [],
): Promise<{ store: PendingJournal; path: string }> {
  const path = join(await scratchDirectory(), "journal.jsonl");
  const store = await createPendingJournal(path, records);
  onTestFinished(async () => store[Symbol.asyncDispose]());
  return { store, path };
}

const VERBS = /^(put|transition|open|takeDecision|watch)\(\)/;

async function lastVersions(path: string): Promise<Record<string, number>> {
  const lines = (await readFile(path, "utf8")).split("\n").slice(0, -1);
  return Object.fromEntries(
    lines.map((line) => readRecord(line)).map((record) => [record?.id, record?.version]),
  );
}

async function deliver(store: PendingStore, id: string): Promise<boolean> {
  const record = await store.get(id);
  const reduction = record === undefined ? undefined : reduce(record, { type: "delivered" });
  return reduction?.ok === true && store.transition(id, record?.version ?? -1, reduction.next);
}

describe("createPendingJournal()", () => {
  const cases = storeConformance(async (clock) => ({
    ...memoryStore(clock),
    pending: (await journal()).store,
  }));
  const own = cases.filter(({ name }) => VERBS.test(name));
  it("has cases of the suite to pass", () => expect(own.length).toBeGreaterThanOrEqual(8));
  for (const { name, run } of own) it(name, () => run());

  it("has a change in its file before it answers", async () => {
    const { store, path } = await journal();
    await store.put(pendingRecord());
    expect(await lastVersions(path)).toEqual({ cr_1: 0 });
    expect(await deliver(store, "cr_1")).toBe(true);
    expect(await lastVersions(path)).toEqual({ cr_1: 1 });
  });

  it("shows nobody a change that is not in the file yet", async () => {
    const { store, path } = await journal();
    const putting = store.put(pendingRecord());
    for (;;) {
      const seen = await store.get("cr_1");
      if (seen === undefined) {
        await immediate();
        continue;
      }
      expect(await lastVersions(path)).toEqual({ cr_1: 0 });
      break;
    }
    await putting;
  });

  it("writes nothing for a change that loses", async () => {
    const { store, path } = await journal([pendingRecord()]);
    expect(await store.put(pendingRecord())).toBe(false);
    expect(await store.transition("cr_1", 7, { ...pendingRecord(), version: 8 })).toBe(false);
    expect(await lastVersions(path)).toEqual({ cr_1: 0 });
  });

  it("decides nothing any more after a write that failed, and shows nothing of it", async () => {
    const { store } = await journal([pendingRecord()]);
    const circular: Record<string, unknown> = {};
    circular["self"] = circular;
    const record = await store.get("cr_1");
    const next = { ...pendingRecord(), version: 1, action: circular as never };
    await expect(store.transition("cr_1", 0, next)).rejects.toMatchObject({ code: "home_invalid" });
    expect(await store.get("cr_1")).toBe(record);
    await expect(store.put(pendingRecord({ id: "cr_2" }))).rejects.toMatchObject({
      code: "home_invalid",
    });
    await expect(store.takeDecision("demo", "", 0)).rejects.toMatchObject({ code: "home_invalid" });
  });

  it("takes no change after it was closed", async () => {
    const { store } = await journal();
    await store[Symbol.asyncDispose]();
    await expect(store.put(pendingRecord())).rejects.toMatchObject({
      code: "home_invalid",
      message: /it is closed$/,
    });
  });

  it("writes its file anew where it has grown, without losing a record", async () => {
    const { store, path } = await journal();
    const text = "x".repeat(1024 * 1024);
    for (let at = 0; at < 12; at++) {
      const record = pendingRecord({ id: `cr_${at}` });
      await store.put({ ...record, request: { ...record.request, text } });
      await deliver(store, `cr_${at}`);
    }
    expect((await readFile(path)).length).toBeLessThan(20 * 1024 * 1024);
    expect(await lastVersions(path)).toEqual(
      Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`cr_${at}`, 1])),
    );
    expect(await store.put(pendingRecord({ id: "cr_after" }))).toBe(true);
    expect(await lastVersions(path)).toMatchObject({ cr_after: 0 });
  });
});
