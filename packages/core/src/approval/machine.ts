/**
 * The approval state machine: one pure reducer. Format of a record: spec/consent.md §5.
 *
 * created → delivered → approved | approved_with_modifications | denied | expired | cancelled |
 * failed | superseded; one end only.
 */
import type { RefusalCode } from "../types/ending.js";
import { stepOf } from "./escalation.js";
import { makeConsentOutcome } from "./consent-outcome.js";
import type { MachineEvent } from "./machine-event.js";
import {
  type CountedApproval,
  isApproved,
  isDecided,
  type PendingRecord,
  type RecordedEnd,
} from "./pending-record.js";
import { includesPerson, isSamePerson } from "./person.js";

/** The result of {@link reduce}: the next record, or why the event changes nothing. */
export type Reduction =
  | {
      readonly ok: true;
      /** The record to keep in place of the old one. */
      readonly next: PendingRecord;
    }
  | {
      readonly ok: false;
      /** Why the event changes nothing. */
      readonly code: RefusalCode;
    };

const refused = (code: RefusalCode): Reduction => ({ ok: false, code });

type Change = Partial<
  Pick<
    PendingRecord,
    | "status"
    | "approvals"
    | "deferred"
    | "leftUntilMs"
    | "adopted"
    | "escalated"
    | "end"
    | "outcome"
    | "call"
  >
>;

const changed = (record: PendingRecord, change: Change): Reduction => ({
  ok: true,
  next: { ...record, ...change, version: record.version + 1 },
});

const ended = (
  record: PendingRecord,
  end: Omit<RecordedEnd, "recorded">,
  change: Change = {},
): Reduction => changed(record, { ...change, status: "ended", end: { ...end, recorded: false } });

/**
 * Whether this approver may move the question at this time. The agent that asks never answers,
 * whatever the list says.
 */
function checkApprover(
  record: PendingRecord,
  { approverId, atMs }: CountedApproval,
): RefusalCode | undefined {
  if (atMs >= record.request.expiresAtMs) return "request_ended";
  const { approvers } = record.request;
  if (approvers !== undefined && !includesPerson(approvers, approverId))
    return "approver_not_allowed";
  if (includesPerson([record.agentId, ...(record.request.agent.parents ?? [])], approverId))
    return "approver_not_allowed";
  if (stepOf(record.request.escalation, approverId) >= (record.escalated ?? 0))
    return "approver_too_early";
  return record.approvals.some((counted) => isSamePerson(counted.approverId, approverId))
    ? "already_answered"
    : undefined;
}

/** The signed answers among these, as part of an end. */
function signedBy(approvals: readonly CountedApproval[]): Pick<RecordedEnd, "responses"> {
  const responses = approvals.flatMap(({ response }) => (response === undefined ? [] : [response]));
  return responses.length === 0 ? {} : { responses };
}

type PersonEvent = Extract<MachineEvent, { readonly approval: CountedApproval }>;

/** What an end says of the person who made it. */
type Answered = Pick<RecordedEnd, "atMs" | "approverIds" | "channels" | "responses">;

/** Counts a yes; the one that completes the quorum ends the question. */
function countYes(
  record: PendingRecord,
  { approval, terms }: Extract<MachineEvent, { readonly type: "approve" }>,
  end: Answered,
): Reduction {
  const approvals = [...record.approvals, approval];
  const { quorum, actionDigest } = record.request;
  if (approvals.length < quorum) return changed(record, { approvals });
  return ended(
    record,
    {
      ...end,
      ...terms,
      ...signedBy(approvals),
      approverIds: approvals.map(({ approverId }) => approverId),
      channels: approvals.map(({ channel }) => channel),
      status: "approved",
      effectiveDigest: actionDigest,
    },
    { approvals },
  );
}

function reducePerson(record: PendingRecord, event: PersonEvent): Reduction {
  const { approval } = event;
  const refusal = checkApprover(record, approval);
  // One denial ends the question, also of somebody who said yes before.
  if (refusal !== undefined && !(refusal === "already_answered" && event.type === "deny"))
    return refused(refusal);
  const end: Answered = {
    atMs: approval.atMs,
    approverIds: [approval.approverId],
    channels: [approval.channel],
    ...signedBy([approval]),
  };
  switch (event.type) {
    case "approve":
      return countYes(record, event, end);
    case "modify": {
      const { modifications, effectiveDigest } = event;
      return ended(record, {
        ...end,
        ...event.terms,
        status: "approved_with_modifications",
        modifications,
        effectiveDigest,
      });
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
      return ended(record, {
        ...end,
        ...event.terms,
        status: "denied",
        denyCode: "consent_denied",
      });
    default:
      return event satisfies never;
  }
}

/** The record of a question whose caller waits. */
function waited({ leftUntilMs: _gone, ...record }: PendingRecord): PendingRecord {
  return record;
}

/** Of an end that is not a person's word: there is nothing that a retry could be given. */
const lapse = { approverIds: [], validUntilMs: 0 } as const;
/** How a question ends by what is no answer. */
const ENDED_BY = { cancel: "cancelled", fail: "failed", pause: "denied" } as const;

type CallerEvent = Extract<
  MachineEvent,
  { readonly type: "defer" | "leave" | "lapse" | "reattach" }
>;

/** The caller of an open question goes, comes back, or stays away for too long. */
function reduceCaller(record: PendingRecord, event: CallerEvent): Reduction {
  switch (event.type) {
    case "defer":
    case "leave":
      if (record.deferred) return refused("request_ended");
      return changed(record, {
        deferred: true,
        ...(event.type === "leave" ? { leftUntilMs: event.untilMs } : {}),
      });
    case "lapse":
      return record.leftUntilMs === event.untilMs
        ? ended(record, {
            ...lapse,
            status: "cancelled",
            atMs: event.atMs,
            reason: "the caller went away and did not call again",
            denyCode: "consent_cancelled",
          })
        : refused("request_ended");
    case "reattach":
      return record.deferred
        ? changed(waited(record), {
            deferred: false,
            ...(event.call === undefined ? {} : { call: event.call }),
          })
        : refused("request_ended");
    default:
      return event satisfies never;
  }
}

function reduceOpen(record: PendingRecord, event: MachineEvent): Reduction {
  switch (event.type) {
    case "delivered":
      return record.status === "created"
        ? changed(record, { status: "delivered" })
        : refused("request_ended");
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
    case "pause":
      return ended(record, {
        ...lapse,
        status: ENDED_BY[event.type],
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
    case "leave":
    case "lapse":
    case "reattach":
      return reduceCaller(record, event);
    case "recorded":
    case "unrecordable":
    case "adopt":
    case "collect":
    case "uncollected":
    case "outcome":
      return refused("request_ended");
    default:
      return event satisfies never;
  }
}

/** What may follow a yes or a no: it is taken at most once, and a yes has one outcome. */
function reduceDecided(record: PendingRecord, end: RecordedEnd, event: MachineEvent): Reduction {
  if (record.outcome !== undefined) return refused("request_ended");
  switch (event.type) {
    case "leave":
      // The answer came as the caller left: it is kept for the retry.
      return record.deferred || record.adopted
        ? refused("request_ended")
        : changed(record, { deferred: true });
    case "adopt":
      return record.deferred && !record.adopted && end.recorded && event.atMs < end.validUntilMs
        ? changed(record, { adopted: true })
        : refused("request_ended");
    case "collect":
      return isApproved(record) && !record.deferred && !record.adopted && end.recorded
        ? changed(record, { adopted: true })
        : refused("request_ended");
    case "uncollected":
      return isApproved(record) && !record.adopted && end.recorded
        ? changed(record, { outcome: makeConsentOutcome("not_collected", event.reason) })
        : refused("request_ended");
    case "outcome":
      return isApproved(record) && record.adopted
        ? changed(record, { outcome: event.outcome })
        : refused("request_ended");
    default:
      return refused("request_ended");
  }
}

function reduceEnded(record: PendingRecord, end: RecordedEnd, event: MachineEvent): Reduction {
  if (event.type === "recorded")
    return end.recorded
      ? refused("request_ended")
      : changed(record, { end: { ...end, recorded: true } });
  if (event.type === "unrecordable") {
    if (end.recorded) return refused("request_ended");
    const { atMs, reason, denyCode = "audit_failed" } = event;
    return changed(record, {
      end: {
        status: "failed",
        atMs,
        reason,
        denyCode,
        approverIds: [],
        validUntilMs: 0,
        recorded: true,
      },
    });
  }
  return isDecided(record) ? reduceDecided(record, end, event) : refused("request_ended");
}

/**
 * The next state of a question. Pure and total. A question ends once: afterwards only the recording
 * of its end can follow (an end that cannot be recorded becomes `failed`), and after a person's
 * decision that it is collected and what came of it, each once. Source: spec/consent.md §5.
 *
 * @returns The next record with a version one higher, or the code that says why nothing changes.
 */
export function reduce(record: PendingRecord, event: MachineEvent): Reduction {
  if (record.status !== "ended") return reduceOpen(record, event);
  return record.end === undefined
    ? refused("request_ended")
    : reduceEnded(record, record.end, event);
}
