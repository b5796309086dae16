/**
 * The approval state machine: one pure reducer. Format of a record: spec/consent.md §5.
 *
 * created → delivered → approved | approved_with_modifications | denied | expired | cancelled | failed | superseded; one end only.
 */
import type { JsonObject } from "../json/value.js";
import { DECISION_TTL_MS } from "../limits.js";
import type { DenyCode } from "../deny-codes.js";
import type { EndStatus, RefusalCode } from "../ports.js";
import { stepOf } from "./escalation.js";
import type { ConsentRequest } from "./request.js";

/** One counted yes. */
export interface CountedApproval {
  readonly approverId: string;
  readonly channel: string;
  readonly atMs: number;
  /** The answer as it was signed: ACP v0.2 §4.2's JSON with its proof. Left out where the gate has no signer. */
  readonly response?: JsonObject;
}

/** How a question ended, as kept. */
export interface RecordedEnd {
  readonly status: EndStatus;
  readonly atMs: number;
  readonly reason: string;
  /** What the caller is told where the end is a no. */
  readonly denyCode?: DenyCode;
  readonly approverIds: readonly string[];
  /** Where they answered, in the same order. */
  readonly channels?: readonly string[];
  /** The signed answers that the end stands on; left out where the gate has no signer. */
  readonly responses?: readonly JsonObject[];
  /** With `approved_with_modifications`: the parameters to perform. */
  readonly modifications?: JsonObject;
  /** Digest of the action that the yes is for; what is released must have it. */
  readonly effectiveDigest?: string;
  /** The offer that the approver took besides the yes. */
  readonly grantId?: string;
  /** The word that was typed, where the question takes one. */
  readonly confirmation?: string;
  /** With `superseded`: the question that took its place. */
  readonly successorId?: string;
  /** Until when a kept decision may be adopted by a retry. */
  readonly validUntilMs: number;
  /** True once the audit events of the end are durable; nothing is released before. */
  readonly recorded: boolean;
}

/** One question and where it stands. Plain JSON data; replaced as a whole with a higher `version`. */
export interface PendingRecord {
  readonly id: string;
  readonly version: number;
  readonly status: "created" | "delivered" | "ended";
  readonly request: ConsentRequest;
  readonly agentId: string;
  /** Digest of the action the agent asked for first: the key of a retry. */
  readonly originalDigest: string;
  /** The action asked about, as `parseAction` reads it. */
  readonly action: JsonObject;
  readonly approvals: readonly CountedApproval[];
  /** The caller was told "call again". */
  readonly deferred: boolean;
  /** A retry took the decision. */
  readonly adopted: boolean;
  /** How many steps of the request's escalation were taken; left out for none. */
  readonly escalated?: number;
  readonly end?: RecordedEnd;
}

/** What can happen to a question. Times and identities are checked facts by now: the reducer trusts them and nothing else. */
export type MachineEvent =
  | { readonly type: "delivered" }
  | { readonly type: "approve"; readonly approval: CountedApproval; readonly terms: AnswerTerms }
  | {
      readonly type: "modify";
      readonly approval: CountedApproval;
      readonly terms: AnswerTerms;
      readonly modifications: JsonObject;
      readonly effectiveDigest: string;
    }
  | { readonly type: "supersede"; readonly approval: CountedApproval; readonly successorId: string }
  | { readonly type: "deny"; readonly approval: CountedApproval; readonly terms: AnswerTerms }
  | { readonly type: "expire"; readonly atMs: number }
  | { readonly type: "cancel"; readonly atMs: number; readonly reason: string; readonly denyCode: DenyCode }
  | { readonly type: "fail"; readonly atMs: number; readonly reason: string; readonly denyCode: DenyCode }
  /** The audit events of the end are durable. */
  | { readonly type: "recorded" }
  /** They could not be made durable: the end becomes `failed`, whatever it was. */
  | { readonly type: "unrecordable"; readonly atMs: number; readonly reason: string }
  /** The step of this number, counted from 1, is taken. */
  | { readonly type: "escalate"; readonly step: number }
  | { readonly type: "defer" }
  /** A retry waits for the open question again. */
  | { readonly type: "reattach" }
  /** A retry takes the kept decision. */
  | { readonly type: "adopt"; readonly atMs: number };

/** The conditions that an answer set. */
export interface AnswerTerms {
  readonly reason: string;
  readonly validUntilMs: number;
  readonly grantId?: string;
  /** The word that was typed, where the question takes one. */
  readonly confirmation?: string;
}

/** The next record, or why the event changes nothing. */
export type Reduction = { readonly ok: true; readonly next: PendingRecord } | { readonly ok: false; readonly code: RefusalCode };

const refused = (code: RefusalCode): Reduction => ({ ok: false, code });

type Change = Partial<Pick<PendingRecord, "status" | "approvals" | "deferred" | "adopted" | "escalated" | "end">>;

const changed = (record: PendingRecord, change: Change): Reduction => ({
  ok: true,
  next: { ...record, ...change, version: record.version + 1 },
});

const ended = (record: PendingRecord, end: Omit<RecordedEnd, "recorded">, change: Change = {}): Reduction =>
  changed(record, { ...change, status: "ended", end: { ...end, recorded: false } });

/** Whether this approver may move the question at this time. The agent that asks never answers, whatever the list says. */
function checkApprover(record: PendingRecord, { approverId, atMs }: CountedApproval): RefusalCode | undefined {
  if (atMs >= record.request.expiresAtMs) return "request_ended";
  const { approvers } = record.request;
  if (approvers !== undefined && !approvers.includes(approverId)) return "approver_not_allowed";
  if (approverId === record.agentId || (record.request.agent.parents ?? []).includes(approverId)) return "approver_not_allowed";
  if (stepOf(record.request.escalation, approverId) >= (record.escalated ?? 0)) return "approver_too_early";
  return record.approvals.some((counted) => counted.approverId === approverId) ? "already_answered" : undefined;
}

/** The signed answers among these, as part of an end. */
function signedBy(approvals: readonly CountedApproval[]): Pick<RecordedEnd, "responses"> {
  const responses = approvals.flatMap(({ response }) => (response === undefined ? [] : [response]));
  return responses.length === 0 ? {} : { responses };
}

type PersonEvent = Extract<MachineEvent, { readonly approval: CountedApproval }>;

function reducePerson(record: PendingRecord, event: PersonEvent): Reduction {
  const { approval } = event;
  const refusal = checkApprover(record, approval);
  // One denial ends the question, also of somebody who said yes before.
  if (refusal !== undefined && !(refusal === "already_answered" && event.type === "deny")) return refused(refusal);
  const end = { atMs: approval.atMs, approverIds: [approval.approverId], channels: [approval.channel], ...signedBy([approval]) };
  switch (event.type) {
    case "approve": {
      const approvals = [...record.approvals, approval];
      if (approvals.length < record.request.quorum) return changed(record, { approvals });
      const all = { approverIds: approvals.map((counted) => counted.approverId), channels: approvals.map(({ channel }) => channel) };
      const effectiveDigest = record.request.actionDigest;
      return ended(record, { ...end, ...event.terms, ...signedBy(approvals), ...all, status: "approved", effectiveDigest }, { approvals });
    }
    case "modify": {
      const { modifications, effectiveDigest } = event;
      return ended(record, { ...end, ...event.terms, status: "approved_with_modifications", modifications, effectiveDigest });
    }
    case "supersede":
      return ended(record, {
        ...end,
        status: "superseded",
        reason: "the edited action needs a new look",
        successorId: event.successorId,
        validUntilMs: 0,
      });
    case "deny":
      return ended(record, { ...end, ...event.terms, status: "denied", denyCode: "consent_denied" });
    default:
      return event satisfies never;
  }
}

function reduceOpen(record: PendingRecord, event: MachineEvent): Reduction {
  const lapse = { approverIds: [], validUntilMs: record.request.expiresAtMs + DECISION_TTL_MS };
  switch (event.type) {
    case "delivered":
      return record.status === "created" ? changed(record, { status: "delivered" }) : refused("request_ended");
    case "approve":
    case "modify":
    case "supersede":
    case "deny":
      return reducePerson(record, event);
    case "expire":
      return ended(record, {
        ...lapse,
        status: "expired",
        atMs: event.atMs,
        reason: "nobody answered in time",
        denyCode: "consent_expired",
      });
    case "cancel":
    case "fail":
      return ended(record, {
        ...lapse,
        status: event.type === "cancel" ? "cancelled" : "failed",
        atMs: event.atMs,
        reason: event.reason,
        denyCode: event.denyCode,
      });
    case "escalate": {
      const { length = 0 } = record.request.escalation ?? [];
      const isNext = event.step === (record.escalated ?? 0) + 1 && event.step <= length;
      return isNext ? changed(record, { escalated: event.step }) : refused("request_ended");
    }
    case "defer":
      return record.deferred ? refused("request_ended") : changed(record, { deferred: true });
    case "reattach":
      return record.deferred ? changed(record, { deferred: false }) : refused("request_ended");
    case "recorded":
    case "unrecordable":
    case "adopt":
      return refused("request_ended");
    default:
      return event satisfies never;
  }
}

function reduceEnded(record: PendingRecord, end: RecordedEnd, event: MachineEvent): Reduction {
  if (event.type === "recorded") return end.recorded ? refused("request_ended") : changed(record, { end: { ...end, recorded: true } });
  if (event.type === "unrecordable") {
    if (end.recorded) return refused("request_ended");
    const { atMs, reason } = event;
    return changed(record, {
      end: { status: "failed", atMs, reason, denyCode: "audit_failed", approverIds: [], validUntilMs: 0, recorded: true },
    });
  }
  if (event.type !== "adopt") return refused("request_ended");
  const adoptable = record.deferred && !record.adopted && end.recorded && event.atMs < end.validUntilMs;
  return adoptable ? changed(record, { adopted: true }) : refused("request_ended");
}

/**
 * The next state of a question. Pure and total; an end is final: after it only its recording and its adoption can follow, each once.
 *
 * @returns The next record with a version one higher, or the code that says why nothing changes.
 */
export function reduce(record: PendingRecord, event: MachineEvent): Reduction {
  if (record.status !== "ended") return reduceOpen(record, event);
  return record.end === undefined ? refused("request_ended") : reduceEnded(record, record.end, event);
}
