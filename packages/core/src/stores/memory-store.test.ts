import { storeConformance } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { manualClock, pendingRecord } from "@acp/testing";
import { makeConsentOutcome } from "../approval/consent-outcome.js";
import { reduce } from "../approval/machine.js";
import type { MachineEvent } from "../approval/machine-event.js";
import type { PendingStore } from "../ports.js";
import { ENDED_KEPT_MAX } from "../limits.js";
import { memoryClaims } from "./memory-claims.js";
import { memoryPending } from "./memory-pending.js";
import { memoryStore } from "./memory-store.js";

describe("memoryStore() conforms", () => {
  it.each(storeConformance(memoryStore))("$name", async ({ run }) => run());
});

async function put(
  pending: PendingStore,
  id: string,
  ...events: readonly MachineEvent[]
): Promise<void> {
  let record = pendingRecord({ id });
  await pending.put(record);
  for (const event of events) {
    const reduction = reduce(record, event);
    if (!reduction.ok) throw new Error(reduction.code);
    await pending.transition(id, record.version, reduction.next);
    record = reduction.next;
  }
}

describe("memoryPending()", () => {
  const { createdAtMs, expiresAtMs } = pendingRecord().request;
  const expired = [{ type: "expire", atMs: expiresAtMs }, { type: "recorded" }] as const;
  const approval = { approverId: "local", channel: "test", atMs: createdAtMs };
  const approve = {
    type: "approve",
    approval,
    terms: { reason: "", validUntilMs: expiresAtMs },
  } as const;

  it("remembers a bounded number of ends, newest last", async () => {
    const pending = memoryPending();
    for (let i = 0; i <= ENDED_KEPT_MAX; i++) await put(pending, `cr_${i}`, ...expired);
    expect(await pending.get("cr_0")).toBeUndefined();
    expect(await pending.get(`cr_${ENDED_KEPT_MAX}`)).toBeDefined();
  });

  it("forgets no end that is not recorded yet, and no decision that a retry may still come for", async () => {
    const pending = memoryPending();
    await put(pending, "cr_unrecorded", approve);
    await put(pending, "cr_awaited", { type: "defer" }, approve, { type: "recorded" });
    for (let i = 0; i <= ENDED_KEPT_MAX; i++) await put(pending, `cr_${i}`, ...expired);
    expect((await pending.get("cr_unrecorded"))?.end?.recorded).toBe(false);
    const { agentId, originalDigest } = pendingRecord();
    expect((await pending.takeDecision(agentId, originalDigest, createdAtMs))?.id).toBe(
      "cr_awaited",
    );
    for (let i = 0; i <= ENDED_KEPT_MAX; i++) await put(pending, `cr_later_${i}`, ...expired);
    expect(await pending.get("cr_awaited")).toBeUndefined();
  });

  it("forgets no yes that its caller may still take, and no kept no", async () => {
    const pending = memoryPending();
    await put(pending, "cr_waited", approve, { type: "recorded" });
    await put(
      pending,
      "cr_no",
      { type: "defer" },
      { ...approve, type: "deny" },
      { type: "recorded" },
    );
    await put(
      pending,
      "cr_given_up",
      approve,
      { type: "recorded" },
      { type: "uncollected", reason: "" },
    );
    for (let i = 0; i <= ENDED_KEPT_MAX; i++) await put(pending, `cr_${i}`, ...expired);
    const kept = await Promise.all(
      ["cr_waited", "cr_no", "cr_given_up"].map((id) => pending.get(id)),
    );
    expect(kept.map((record) => record?.id)).toEqual(["cr_waited", "cr_no", undefined]);
  });

  it("forgets no yes that a call took, before it has an outcome", async () => {
    const pending = memoryPending();
    await put(pending, "cr_taken", approve, { type: "recorded" });
    const before = await pending.get("cr_taken");
    if (before === undefined) throw new Error("it is not there");
    const taken = { ...before, version: before.version + 1, adopted: true, call: "cc_1" };
    await pending.transition("cr_taken", before.version, taken);
    for (let i = 0; i <= ENDED_KEPT_MAX; i++) await put(pending, `cr_${i}`, ...expired);
    const open: string[] = [];
    for await (const { id } of pending.open()) open.push(id);
    expect(open).toEqual(["cr_taken"]);
    const outcome = makeConsentOutcome("not_performed", "");
    const over = { ...taken, version: taken.version + 1, outcome };
    await pending.transition("cr_taken", taken.version, over);
    for (let i = 0; i <= ENDED_KEPT_MAX; i++) await put(pending, `cr_later_${i}`, ...expired);
    expect(await pending.get("cr_taken")).toBeUndefined();
  });
});

describe("memoryClaims()", () => {
  it("forgets claims whose time is over when it grows", async () => {
    const clock = manualClock();
    const claims = memoryClaims(clock);
    for (let i = 0; i < 1_024; i++) await claims.claimOnce(`old:${i}`, 10);
    await clock.advance(11);
    expect(await claims.claimOnce("new", 10)).toBe(true);
    expect(await claims.claimOnce("old:5", 10)).toBe(true);
  });
});
