/**
 * What may follow an end: a person's word is taken once, in time and once it is recorded; silence
 * leaves nothing to take.
 */
import { pendingRecord } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { reduce } from "./machine.js";
import type { MachineEvent } from "./machine-event.js";
import type { PendingRecord } from "./pending-record.js";

const end = {
  status: "approved",
  atMs: 1,
  reason: "",
  approverIds: ["ann"],
  validUntilMs: 100,
  recorded: true,
} as const;
const approved: PendingRecord = { ...pendingRecord(), status: "ended", end };
const deferred: PendingRecord = { ...approved, deferred: true };
const expired: PendingRecord = { ...approved, end: { ...end, status: "expired" } };
const adopt: MachineEvent = { type: "adopt", atMs: 99 };
const leave: MachineEvent = { type: "leave", untilMs: 5 };
const collect: MachineEvent = { type: "collect" };
const uncollected: MachineEvent = { type: "uncollected", reason: "" };

describe("reduce() of an ended question", () => {
  it.each<readonly [string, PendingRecord, MachineEvent]>([
    ["a retry that takes it", deferred, adopt],
    ["the caller that waited", approved, collect],
    ["the caller that leaves as the answer comes", approved, leave],
    ["nobody in time", approved, uncollected],
  ])("gives a yes to %s, once", (_, record, event) => {
    const first = reduce(record, event);
    if (!first.ok) throw new Error(first.code);
    expect(reduce(first.next, event)).toEqual({ ok: false, code: "request_ended" });
  });

  it.each<readonly [string, PendingRecord, MachineEvent]>([
    ["a yes that is over to a retry", deferred, { type: "adopt", atMs: 100 }],
    [
      "a yes that is not recorded to a retry",
      { ...deferred, end: { ...end, recorded: false } },
      adopt,
    ],
    [
      "a yes that is not recorded to the caller that waited",
      { ...approved, end: { ...end, recorded: false } },
      collect,
    ],
    ["a yes that the caller waits for to a retry", approved, adopt],
    ["a yes that waits for a retry to the caller that waited", deferred, collect],
    ["a taken yes to a caller that leaves", { ...approved, adopted: true }, leave],
    ["a taken yes to nobody", { ...approved, adopted: true }, uncollected],
    [
      "an outcome to a yes that nobody took",
      approved,
      { type: "outcome", outcome: { status: "unknown", detail: "" } },
    ],
    ["silence to a retry", { ...expired, deferred: true }, adopt],
    ["silence to a caller that leaves", expired, leave],
  ])("does not give %s", (_, record, event) => {
    expect(reduce(record, event)).toEqual({ ok: false, code: "request_ended" });
  });
});

describe("reduce() of an open question", () => {
  const open = pendingRecord();
  const yesOf = (approverId: string): MachineEvent => ({
    type: "approve",
    approval: { approverId, channel: "test", atMs: open.request.createdAtMs },
    terms: { reason: "", validUntilMs: 1 },
  });

  it("counts a person once, though a gate that started with another spelling of the name takes it over", () => {
    const counted = reduce({ ...open, request: { ...open.request, quorum: 2 } }, yesOf("Ann"));
    if (!counted.ok) throw new Error(counted.code);
    expect(reduce(counted.next, yesOf("ann "))).toEqual({ ok: false, code: "already_answered" });
  });
});
