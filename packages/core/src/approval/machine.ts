/**
 * The approval state machine: one pure reducer. Format of a record: spec/consent.md §5.
 *
 * created → delivered → approved | approved_with_modifications | denied | expired | cancelled |
 * failed | superseded; one end only.
 */
import type { BootTime } from "../boot-time.js";
import type { JsonObject } from "../json/value.js";
import type { DenyCode } from "../deny-codes.js";
import type { ToolDefinition } from "../types/agent.js";
import type { LoggedAt } from "../types/audit-event.js";
import type { EndStatus, RefusalCode } from "../types/ending.js";
import { stepOf } from "./escalation.js";
import { makeConsentOutcome, type ConsentOutcome } from "./consent-outcome.js";
import { includesPerson, isSamePerson } from "./person.js";
import type { ConsentRequest } from "./request.js";
import { DECISIONS } from "../types/words.js";

/** One counted yes. */
export interface CountedApproval {
  readonly approverId: string;
  readonly channel: string;
  readonly atMs: number;
  /**
   * The answer as it was signed: ACP v0.2 §4.2's JSON with its proof. Left out where the gate has
   * no signer.
   */
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
  /** When it ended by the clock of the machine's boot; left out where nobody noted it. */
  readonly ended?: BootTime;
  /** Until when a kept decision may be adopted by a retry. */
  readonly validUntilMs: number;
  /** True once the audit events of the end are durable; nothing is released before. */
  readonly recorded: boolean;
}

/** What judges know of a call besides its action and agent. Plain JSON data. */
export interface QuestionContext {
  readonly session?: string;
  readonly task?: string;
  /** The tool as it was presented with the call. */
  readonly tool?: ToolDefinition;
}

/**
 * One question and where it stands. Plain JSON data; replaced as a whole with a higher `version`.
 */
export interface PendingRecord {
  readonly id: string;
  readonly version: number;
  readonly status: "created" | "delivered" | "ended";
  readonly request: ConsentRequest;
  readonly agentId: string;
  /** What an edit is judged by, like the call itself; left out where the call had none of it. */
  readonly context?: QuestionContext;
  /** Digest of the action the agent asked for first: the key of a retry. */
  readonly originalDigest: string;
  /** The action asked about, as `parseAction` reads it. */
  readonly action: JsonObject;
  readonly approvals: readonly CountedApproval[];
  /**
   * Nobody waits: the caller was told "call again", or went away. The decision is kept for its
   * retry.
   */
  readonly deferred: boolean;
  /** The caller went away: until when the open question waits for its retry. Left out otherwise. */
  readonly leftUntilMs?: number;
  /** The decision was taken, by the caller that waited or by a retry; nobody else gets it. */
  readonly adopted: boolean;
  /**
   * What the call took of limited allowances, by key; an edit takes only what goes beyond. Left out
   * for nothing.
   */
  readonly reserved?: readonly { readonly key: string; readonly amount: number }[];
  /** How many steps of the request's escalation were taken; left out for none. */
  readonly escalated?: number;
  readonly end?: RecordedEnd;
  /** What became of a yes; left out until it is known. */
  readonly outcome?: ConsentOutcome;
  /** When it was asked by the clock of the machine's boot; left out where nobody noted it. */
  readonly asked?: BootTime;
  /** Where the log has it: its `consent_requested` event. */
  readonly logged?: LoggedAt;
  /** What says that a gate wrote it, by the gate's `recordKey`. Stores keep it as it is. */
  readonly mac?: string;
}

/**
 * What can happen to a question. Times and identities are checked facts by now: the reducer trusts
 * them and nothing else.
 */
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
  | {
      readonly type: "cancel";
      readonly atMs: number;
      readonly reason: string;
      readonly denyCode: DenyCode;
    }
  | {
      readonly type: "fail";
      readonly atMs: number;
      readonly reason: string;
      readonly denyCode: DenyCode;
    }
  /** Its agent is paused: denied by whoever paused it, in nobody's name. */
  | {
      readonly type: "pause";
      readonly atMs: number;
      readonly reason: string;
      readonly denyCode: "agent_paused";
    }
  /** The audit events of the end are durable. */
  | { readonly type: "recorded" }
  /**
   * They could not be made durable, or it had ended before: the end becomes `failed`, whatever it
   * was.
   */
  | {
      readonly type: "unrecordable";
      readonly atMs: number;
      readonly reason: string;
      readonly denyCode?: DenyCode;
    }
  /** The step of this number, counted from 1, is taken. */
  | { readonly type: "escalate"; readonly step: number }
  | { readonly type: "defer" }
  /**
   * The caller went away; until `untilMs` its retry may find the open question, and afterwards the
   * decision.
   */
  | { readonly type: "leave"; readonly untilMs: number }
  /** The time that `leave` named is over, and nobody came back. */
  | { readonly type: "lapse"; readonly untilMs: number; readonly atMs: number }
  /** A retry waits for the open question again. */
  | { readonly type: "reattach" }
  /** A retry takes the kept decision. */
  | { readonly type: "adopt"; readonly atMs: number }
  /** The caller that waited takes the yes. */
  | { readonly type: "collect" }
  /** Nobody took the yes, and from now on nobody can. */
  | { readonly type: "uncollected"; readonly reason: string }
  /** What became of a yes that was taken. */
  | { readonly type: "outcome"; readonly outcome: ConsentOutcome };

/** The conditions that an answer set. */
export interface AnswerTerms {
  readonly reason: string;
  readonly validUntilMs: number;
  readonly grantId?: string;
  /** The word that was typed, where the question takes one. */
  readonly confirmation?: string;
}

/** The next record, or why the event changes nothing. */
export type Reduction =
  | { readonly ok: true; readonly next: PendingRecord }
  | { readonly ok: false; readonly code: RefusalCode };

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

const BY_A_PERSON: readonly EndStatus[] = DECISIONS;

/**
 * Whether a person ended the question, with a yes or a no. Silence, a withdrawal and a failure are
 * neither: nothing of them is kept for a retry.
 */
export function isDecided({ end }: PendingRecord): boolean {
  return end !== undefined && BY_A_PERSON.includes(end.status);
}

/** Whether a person said yes. */
export function isApproved(record: PendingRecord): boolean {
  return isDecided(record) && record.end?.status !== "denied";
}

/** Whether a yes waits for the one who takes it. */
export function isUncollected(record: PendingRecord): boolean {
  return (
    isApproved(record) &&
    record.end?.recorded === true &&
    !record.adopted &&
    record.outcome === undefined
  );
}

/**
 * Whether a process that starts has to go on with the question: it is open, or nobody took its yes
 * yet. What `PendingStore.open()` lists.
 */
export function isUnfinished(record: PendingRecord): boolean {
  return record.status !== "ended" || isUncollected(record);
}

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

function reducePerson(record: PendingRecord, event: PersonEvent): Reduction {
  const { approval } = event;
  const refusal = checkApprover(record, approval);
  // One denial ends the question, also of somebody who said yes before.
  if (refusal !== undefined && !(refusal === "already_answered" && event.type === "deny"))
    return refused(refusal);
  const end = {
    atMs: approval.atMs,
    approverIds: [approval.approverId],
    channels: [approval.channel],
    ...signedBy([approval]),
  };
  switch (event.type) {
    case "approve": {
      const approvals = [...record.approvals, approval];
      if (approvals.length < record.request.quorum) return changed(record, { approvals });
      const all = {
        approverIds: approvals.map((counted) => counted.approverId),
        channels: approvals.map(({ channel }) => channel),
      };
      const effectiveDigest = record.request.actionDigest;
      return ended(
        record,
        {
          ...end,
          ...event.terms,
          ...signedBy(approvals),
          ...all,
          status: "approved",
          effectiveDigest,
        },
        { approvals },
      );
    }
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
        ? changed(waited(record), { deferred: false })
        : refused("request_ended");
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
 * The next state of a question. Pure and total; an end is final: after it only its recording can
 * follow, and after a person's word its taking and its outcome, each once.
 *
 * @returns The next record with a version one higher, or the code that says why nothing changes.
 */
export function reduce(record: PendingRecord, event: MachineEvent): Reduction {
  if (record.status !== "ended") return reduceOpen(record, event);
  return record.end === undefined
    ? refused("request_ended")
    : reduceEnded(record, record.end, event);
}
