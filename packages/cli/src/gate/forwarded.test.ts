import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openAuditLog, pruneAuditLog } from "@acp/audit";
import { memoryPending } from "@acp/core";
import type { AuditEventInput, JsonObject, PendingRecord } from "@acp/core";
import { pendingRecord } from "@acp/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { sampleEvent } from "../../test/sample-event.js";
import { loggedOf, stateOfCalls } from "./forwarded.js";

const ASKED_MS = pendingRecord().request.createdAtMs;
const HOUR_MS = 3_600_000;
const COUNTED = { approverId: "ann", channel: "test", atMs: ASKED_MS };

let next = 0;
const event = (
  eventType: AuditEventInput["eventType"],
  metadata: JsonObject = {},
  change: Partial<AuditEventInput> = {},
): AuditEventInput =>
  sampleEvent(`ae_${++next}`, {
    eventType,
    metadata,
    requestId: "cr_1",
    atMs: ASKED_MS,
    ...change,
  });

async function homeOf(...logs: readonly (readonly AuditEventInput[])[]): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), "acp-"));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  for (const [at, events] of logs.entries()) {
    const name = at === 0 ? "audit.jsonl" : `audit.${at + 1}.jsonl`;
    await using log = await openAuditLog({ path: join(home, name) });
    if (events.length > 0) await log.append(events);
  }
  return home;
}

async function unanswered(home: string, change: Partial<PendingRecord> = {}): Promise<boolean> {
  const store = memoryPending();
  await store.put({ ...pendingRecord(), ...change });
  return (await loggedOf(home, store)).unanswered.has("cr_1");
}

const ASKED = event("consent_requested");

describe("stateOfCalls()", () => {
  const call = `cc_${"1".repeat(32)}`;
  const begun = (): AuditEventInput => event("tool_call_intercepted", { call });
  const stateIn = async (home: string) =>
    (await stateOfCalls(home, [{ call, agoMs: 1_000 }], ASKED_MS)).get(call);

  it("says how far a call came, however often it was begun", async () => {
    const other = event("tool_call_forwarded", { call: `cc_${"2".repeat(32)}` });
    expect(await stateIn(await homeOf([other]))).toBe("unknown");
    // A question that waits over handovers is begun anew with each.
    expect(await stateIn(await homeOf([begun(), begun()], [begun(), other]))).toBe("open");
    for (const type of ["tool_call_forwarded", "outcome_unknown", "tool_call_completed"] as const) {
      expect(await stateIn(await homeOf([begun(), event(type, { call })]))).toBe("forwarded");
      expect(await stateIn(await homeOf([event(type, { call })], [begun()]))).toBe("forwarded");
    }
    const undone = event("tool_call_completed", { call, outcome: "not_performed" });
    expect(await stateIn(await homeOf([begun(), undone]))).toBe("open");
  });

  it("takes what was pruned for lost until its last event, and not of a log that has a call's beginning", async () => {
    const notice = event("gate_notice", {}, { requestId: "" });
    /** A log of whose events the first, of that time, is gone. */
    const pruned = async (
      atMs: number,
      after: AuditEventInput,
      ...others: readonly AuditEventInput[]
    ) => {
      const home = await homeOf([], others);
      const path = join(home, "audit.jsonl");
      await using log = await openAuditLog({ path, rotation: { maxBytes: 300 } });
      await log.append([{ ...notice, id: `ae_${++next}`, atMs }]);
      await log.append([after]);
      expect(await pruneAuditLog(log, { keepFiles: 0 })).toEqual(["audit.jsonl.000000000000"]);
      return home;
    };
    // The first event that is left is as old as the call.
    expect(await stateIn(await pruned(ASKED_MS - HOUR_MS, notice))).toBe("unknown");
    expect(await stateIn(await pruned(ASKED_MS, notice))).toBe("forwarded");
    expect(await stateIn(await pruned(ASKED_MS, begun()))).toBe("open");
    expect(await stateIn(await pruned(ASKED_MS, notice, begun()))).toBe("forwarded");
    expect(await stateIn(await pruned(ASKED_MS - HOUR_MS, notice, begun()))).toBe("open");
    // One call of which nothing is known takes nothing from another.
    const home = await pruned(ASKED_MS - HOUR_MS, begun());
    const old = `cc_${"3".repeat(32)}`;
    const asked = [call, old].map((each) => ({
      call: each,
      agoMs: each === old ? HOUR_MS : 1_000,
    }));
    expect([...(await stateOfCalls(home, asked, ASKED_MS)).values()]).toEqual([
      "open",
      "forwarded",
    ]);
  });

  it("takes what an older version pruned for lost until the first event that is left", async () => {
    const home = await homeOf([]);
    const path = join(home, "audit.jsonl");
    await using log = await openAuditLog({ path, rotation: { maxBytes: 300 } });
    const notice = event("gate_notice", {}, { requestId: "", atMs: ASKED_MS - HOUR_MS });
    await log.append([notice]);
    await log.append([event("log_pruned", { before_seq: 1 }, { requestId: "" })]);
    await rm(`${path}.000000000000`);
    expect(await stateIn(home)).toBe("forwarded");
  });

  it("takes for forwarded what it cannot know", async () => {
    const broken = await homeOf([begun()]);
    await writeFile(join(broken, "audit.2.jsonl"), "no event\n", { mode: 0o600 });
    const states = [stateIn(broken), stateIn(join(broken, "none"))];
    expect(await Promise.all(states)).toEqual(["forwarded", "forwarded"]);
  });
});

describe("loggedOf()", () => {
  it("says of a question that waits that nobody has answered it, in whichever log it was asked", async () => {
    const waits = [
      event("consent_delivered"),
      event("consent_escalated", { approvers: ["ann"] }),
      event("consent_refused", { code: "already_answered", approver: "ann" }),
      event("consent_deferred"),
      event("tool_call_intercepted", {}, { requestId: "" }),
      event("consent_approved", { approvers: ["ann"] }, { requestId: "cr_2" }),
    ];
    expect(await unanswered(await homeOf([ASKED, ...waits]))).toBe(true);
    expect(
      await unanswered(
        await homeOf([event("gate_notice", {}, { requestId: "" })], [ASKED, ...waits]),
      ),
    ).toBe(true);
  });

  it.each([
    "consent_approved",
    "consent_denied",
    "consent_expired",
    "consent_cancelled",
    "consent_failed",
    "consent_superseded",
    "consent_not_collected",
    "grant_created",
    "decision_adopted",
    "tool_call_forwarded",
    "outcome_unknown",
  ] as const)("does not where a log has %s of it", async (type) => {
    expect(await unanswered(await homeOf([ASKED, event(type)]))).toBe(false);
    expect(await unanswered(await homeOf([ASKED], [event(type)]))).toBe(false);
  });

  it("does where its record has whom the log counted, and not where it was set back behind one", async () => {
    const home = await homeOf([ASKED, event("consent_counted", { approver: "ann", have: 1 })]);
    expect(await unanswered(home, { approvals: [COUNTED] })).toBe(true);
    expect(await unanswered(home)).toBe(false);
    expect(await unanswered(home, { approvals: [{ ...COUNTED, approverId: "bob" }] })).toBe(false);
  });

  it("does not of one that no log shows as asked, nor of one that is over", async () => {
    expect(await unanswered(await homeOf([event("consent_deferred")]))).toBe(false);
    expect(await unanswered(await homeOf([event("gate_notice", {}, { requestId: "" })]))).toBe(
      false,
    );
    const end = { status: "approved", atMs: 1, reason: "", approverIds: ["ann"] } as const;
    const yes = { ...end, effectiveDigest: "sha256:0", validUntilMs: 2, recorded: true };
    expect(await unanswered(await homeOf([ASKED]), { status: "ended", end: yes })).toBe(false);
  });

  it("does not where a log cannot be read, or has lost what may be of its time", async () => {
    const home = await homeOf([ASKED]);
    await writeFile(join(home, "audit.2.jsonl"), "no event\n", { mode: 0o600 });
    expect(await unanswered(home)).toBe(false);
    for (const [lostMs, isKnown] of [
      [ASKED_MS - HOUR_MS, true],
      [ASKED_MS + HOUR_MS, false],
    ] as const) {
      const pruned = await homeOf([ASKED]);
      await using log = await openAuditLog({
        path: join(pruned, "audit.2.jsonl"),
        rotation: { maxBytes: 300 },
      });
      for (let number = 0; number < 3; number++)
        await log.append([event("gate_notice", {}, { requestId: "", atMs: lostMs })]);
      expect(await pruneAuditLog(log, { keepFiles: 1 })).not.toEqual([]);
      expect(await unanswered(pruned)).toBe(isKnown);
    }
  });

  it("says whose answer a log has, and whose yes was forwarded; all where none can be read", async () => {
    const yes = {
      status: "approved",
      atMs: 1,
      reason: "",
      approverIds: ["ann"],
      effectiveDigest: "sha256:0",
      validUntilMs: 2,
    } as const;
    const call = `cc_${"0".repeat(32)}`;
    const of = async (home: string, change: Partial<PendingRecord>) => {
      const store = memoryPending();
      await store.put({ ...pendingRecord(), status: "ended", call, ...change });
      const { answered, forwarded } = await loggedOf(home, store);
      return [answered.has("cr_1"), forwarded.has("cr_1")];
    };
    const taken = { adopted: true, end: { ...yes, recorded: true } };
    const unrecorded = { end: { ...yes, recorded: false } };
    const answer = await homeOf([ASKED, event("consent_approved")]);
    const ran = await homeOf([ASKED, event("consent_approved"), event("tool_call_forwarded")]);
    const broken = await homeOf([ASKED]);
    await writeFile(join(broken, "audit.2.jsonl"), "no event\n", { mode: 0o600 });
    expect(await of(await homeOf([ASKED]), unrecorded)).toEqual([false, false]);
    expect(await of(answer, unrecorded)).toEqual([true, false]);
    expect(await of(answer, taken)).toEqual([false, false]);
    expect(await of(ran, taken)).toEqual([false, true]);
    expect(await of(broken, unrecorded)).toEqual([false, false]);
    expect(await of(broken, taken)).toEqual([false, true]);
  });
});
