import { describe, expect, it } from "vitest";
import {
  type ConsentRequest,
  type MachineEvent,
  type PendingRecord,
  reduce,
} from "../src/index.js";
import { asPending, first, makeKit } from "./gate-kit.js";
import { toolAction } from "../src/index.js";

/**
 * Every state of one question that any sequence of events can reach, times and versions left out.
 */
async function explore(
  quorum: 1 | 2,
  escalation?: ConsentRequest["escalation"],
): Promise<{ readonly records: readonly PendingRecord[]; readonly steps: number }> {
  const { gate, shown, settle } = makeKit();
  await gate.open(toolAction("files", "write_file", {}), { agent: { id: "demo" } });
  await settle();
  const escalated = escalation === undefined ? {} : { escalation };
  const request: ConsentRequest = {
    ...first(shown).request,
    quorum,
    approvers: ["alice", "bob"],
    ...escalated,
  };
  const atMs = request.createdAtMs + 1;
  const approval = (
    approverId: string,
    when = atMs,
  ): { approverId: string; channel: string; atMs: number } => ({
    approverId,
    channel: "test",
    atMs: when,
  });
  const terms = { reason: "", validUntilMs: atMs + 1_000 };
  const people = ["alice", "bob", "mallory", "demo"];
  const late = request.expiresAtMs;
  const events: readonly MachineEvent[] = [
    { type: "delivered" },
    ...people.flatMap((id): MachineEvent[] => [
      { type: "approve", approval: approval(id), terms },
      {
        type: "modify",
        approval: approval(id),
        terms,
        modifications: { a: 1 },
        effectiveDigest: "sha256:edited",
      },
      { type: "supersede", approval: approval(id), successorId: "cr_next" },
      { type: "deny", approval: approval(id), terms },
      { type: "approve", approval: approval(id, late), terms },
    ]),
    { type: "expire", atMs: late },
    { type: "cancel", atMs, reason: "", denyCode: "consent_cancelled" },
    { type: "fail", atMs, reason: "", denyCode: "channel_failed" },
    { type: "recorded" },
    { type: "unrecordable", atMs, reason: "" },
    { type: "escalate", step: 1 },
    { type: "escalate", step: 2 },
    { type: "defer" },
    { type: "reattach" },
    { type: "adopt", atMs },
    { type: "adopt", atMs: late * 2 },
    { type: "leave", untilMs: late },
    { type: "lapse", untilMs: late, atMs: late },
    { type: "lapse", untilMs: late + 1, atMs: late },
    { type: "collect" },
    { type: "uncollected", reason: "nobody" },
    { type: "outcome", outcome: { status: "ran", detail: "" } },
  ];
  const start: PendingRecord = {
    id: request.id,
    version: 0,
    status: "created",
    request,
    agentId: "demo",
    originalDigest: request.actionDigest,
    action: {},
    approvals: [],
    deferred: false,
    adopted: false,
  };
  const keyOf = (record: PendingRecord): string => JSON.stringify({ ...record, version: 0 });
  const seen = new Map([[keyOf(start), start]]);
  const queue = [start];
  let steps = 0;
  for (let record = queue.shift(); record !== undefined; record = queue.shift()) {
    for (const event of events) {
      steps++;
      const reduction = reduce(record, event);
      if (!reduction.ok) continue;
      checkStep(record, reduction.next, event, quorum);
      const key = keyOf(reduction.next);
      if (!seen.has(key)) {
        seen.set(key, reduction.next);
        queue.push(reduction.next);
      }
    }
  }
  return { records: [...seen.values()], steps };
}

/** What must hold of every single step. */
function checkStep(
  before: PendingRecord,
  after: PendingRecord,
  event: MachineEvent,
  quorum: number,
): void {
  expect(after.version).toBe(before.version + 1);
  if ("approval" in event) {
    // Nobody outside the list, never the agent, never late.
    expect(["alice", "bob"]).toContain(event.approval.approverId);
    expect(event.approval.atMs).toBeLessThan(before.request.expiresAtMs);
    expect(before.status).not.toBe("ended");
    // Nobody before their step, not even with a no.
    const step = (before.request.escalation ?? []).findIndex(
      ({ approvers }) => approvers?.includes(event.approval.approverId) === true,
    );
    expect(before.escalated ?? 0).toBeGreaterThan(step);
  }
  // One step after the other, and none that the question does not have.
  expect((after.escalated ?? 0) - (before.escalated ?? 0)).toBe(event.type === "escalate" ? 1 : 0);
  expect(after.escalated ?? 0).toBeLessThanOrEqual(before.request.escalation?.length ?? 0);
  if (before.end !== undefined) {
    // An end is final: it can be recorded, adopted, or turned into a failure before it is recorded.
    if (after.end?.status !== before.end.status) {
      expect(event.type).toBe("unrecordable");
      expect(before.end.recorded).toBe(false);
      expect(after.end?.status).toBe("failed");
    }
    // Whoever takes it is the only one, takes a person's word, and takes it while nobody has said
    // that it was not collected.
    if (after.adopted !== before.adopted) {
      expect([before.adopted, before.end.recorded, before.outcome]).toEqual([
        false,
        true,
        undefined,
      ]);
      expect(["approved", "approved_with_modifications", "denied"]).toContain(before.end.status);
      // A retry takes what was kept for it, the caller that waited takes a yes that was not.
      expect(event.type).toBe(before.deferred ? "adopt" : "collect");
    }
    // An outcome is a yes's, final, and "not collected" of nothing that anybody took.
    if (after.outcome !== before.outcome) {
      expect(before.outcome).toBeUndefined();
      expect(before.end.effectiveDigest).toBeDefined();
      expect(event.type).toBe(before.adopted ? "outcome" : "uncollected");
    }
  }
  // Only a question that its caller left can lapse, and only at the time that was set.
  if (event.type === "lapse")
    expect([before.leftUntilMs, after.end?.status]).toEqual([event.untilMs, "cancelled"]);
  if (after.leftUntilMs !== undefined) expect(after.deferred).toBe(true);
  const approvers = new Set(after.approvals.map(({ approverId }) => approverId));
  expect(approvers.size).toBe(after.approvals.length);
  if (after.end?.status === "approved") expect(approvers.size).toBe(quorum);
  if (after.end !== undefined && before.end === undefined) expect(after.end.recorded).toBe(false);
}

describe("reduce() over its whole state space", () => {
  it.each([
    [1, undefined],
    [2, undefined],
    [
      1,
      [
        { afterMs: 1, channel: "web" },
        { afterMs: 2, approvers: ["bob"] },
      ],
    ],
    [
      2,
      [
        { afterMs: 1, approvers: ["alice"] },
        { afterMs: 2, approvers: ["bob"] },
      ],
    ],
  ] as const)(
    "keeps every promise with a quorum of %s and steps %j",
    async (quorum, escalation) => {
      const { records, steps } = await explore(quorum, escalation);
      expect(records.length).toBeGreaterThan(30);
      expect(steps).toBeGreaterThan(900);
      // Only a yes carries the digest that a release must have.
      for (const { end } of records) {
        const isYes = end?.status === "approved" || end?.status === "approved_with_modifications";
        expect(end?.effectiveDigest !== undefined).toBe(isYes);
      }
      expect(new Set(records.map(({ end }) => end?.status ?? "open"))).toEqual(
        new Set([
          "open",
          "approved",
          "approved_with_modifications",
          "superseded",
          "denied",
          "expired",
          "cancelled",
          "failed",
        ]),
      );
    },
  );
});

describe("withdraw()", () => {
  it("ends the question once; a yes that came first stands", async () => {
    const { gate, shown, settle } = makeKit();
    const pending = asPending(
      await gate.open(toolAction("files", "write_file", {}), { agent: { id: "demo" } }),
    );
    await settle();
    await pending.withdraw("not needed");
    expect(await pending.settled).toMatchObject({
      code: "consent_cancelled",
      reason: "not needed",
    });
    expect(await first(shown).session.ended).toMatchObject({ status: "cancelled" });
  });
});
