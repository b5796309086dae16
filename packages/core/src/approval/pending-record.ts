/**
 * PendingRecord: one question and where it stands, as stores keep it. Format: spec/consent.md §5.
 */
import type { BootTime } from "../boot-time.js";
import type { JsonObject } from "../json/value.js";
import type { DenyCode } from "../deny-codes.js";
import type { ToolDefinition } from "../types/agent.js";
import type { LoggedAt } from "../types/audit-event.js";
import type { EndStatus } from "../types/ending.js";
import type { ConsentOutcome } from "./consent-outcome.js";
import type { ConsentRequest } from "./request.js";
import { DECISIONS } from "../types/words.js";

/** One approval that was counted. */
export interface CountedApproval {
  /** Id of the approver, as the gate mapped it from what the channel authenticated. */
  readonly approverId: string;
  /** Name of the channel that the answer came through. */
  readonly channel: string;
  /** Wall time of the answer, milliseconds since 1970. */
  readonly atMs: number;
  /**
   * The signed answer: ACP v0.2 §4.2's JSON with its proof. Absent where the gate has no signer.
   */
  readonly response?: JsonObject;
}

/** How a question ended, as kept. */
export interface RecordedEnd {
  /** How the question ended. */
  readonly status: EndStatus;
  /** Wall time of the end, milliseconds since 1970. */
  readonly atMs: number;
  /** Why, in one line; what the person wrote where one decided. */
  readonly reason: string;
  /**
   * The code that the caller is denied with; absent where the end is an approval, or another
   * question took its place.
   */
  readonly denyCode?: DenyCode;
  /** Approvers whose answers made the end; empty where no person did. */
  readonly approverIds: readonly string[];
  /**
   * Names of the channels that they answered through, in the same order; absent where no person
   * did.
   */
  readonly channels?: readonly string[];
  /** The signed answers behind the end; absent where the gate has no signer. */
  readonly responses?: readonly JsonObject[];
  /** With `approved_with_modifications`: the parameters to perform. */
  readonly modifications?: JsonObject;
  /**
   * Digest of the approved action, `sha256:<hex>`: only this action is released. Absent where
   * nothing was approved.
   */
  readonly effectiveDigest?: string;
  /**
   * Id of the offer that the approver accepted with the approval; absent where they accepted none.
   */
  readonly grantId?: string;
  /** The word that the person typed; absent where the question needs none. */
  readonly confirmation?: string;
  /** With `superseded`: id of the question that took its place. */
  readonly successorId?: string;
  /** When it ended, by the clock of the machine's boot; absent where nobody noted it. */
  readonly ended?: BootTime;
  /**
   * Wall time until which a retry may collect the decision, milliseconds since 1970; 0 where no
   * person decided.
   */
  readonly validUntilMs: number;
  /** True once the audit events of the end are durable; nothing is released before. */
  readonly recorded: boolean;
}

/** What layers know about a call in addition to its action and agent. Plain JSON data. */
export interface QuestionContext {
  /** The agent's session, as its host names it. */
  readonly session?: string;
  /** The task that the call belongs to, as its host names it. */
  readonly task?: string;
  /** The tool's definition as the host passed it with the call. */
  readonly tool?: ToolDefinition;
}

/**
 * One question and where it stands. Plain JSON data; replaced as a whole with a higher `version`.
 */
export interface PendingRecord {
  /** The question's id: starts with `cr_`. */
  readonly id: string;
  /** 0 for a new record, one more for every change; a store compares it before it replaces. */
  readonly version: number;
  /** `created` until a channel shows it, `ended` once and for good. */
  readonly status: "created" | "delivered" | "ended";
  /** The question as it was shown. */
  readonly request: ConsentRequest;
  /** The agent that asks. */
  readonly agentId: string;
  /** What an edit is judged by, like the call itself; absent where the call had none of it. */
  readonly context?: QuestionContext;
  /**
   * Id that its caller gave the call that asked, or that waits for it again since
   * (`GateContext.call`); absent where there is none.
   */
  readonly call?: string;
  /** Digest of the action the agent asked for first: the key of a retry. */
  readonly originalDigest: string;
  /** The action asked about, as JSON that `parseAction` reads. */
  readonly action: JsonObject;
  /** Approvals counted so far, each of another person. */
  readonly approvals: readonly CountedApproval[];
  /**
   * True if nobody waits: the caller was told "call again", or went away. The decision is kept for
   * its retry.
   */
  readonly deferred: boolean;
  /**
   * Where the caller went away: wall time until which the open question waits for its retry,
   * milliseconds since 1970. Absent otherwise.
   */
  readonly leftUntilMs?: number;
  /**
   * True once the decision was collected, by the caller that waited or by a retry; nobody else gets
   * it.
   */
  readonly adopted: boolean;
  /**
   * What the call reserved of limited allowances, by key; an edit reserves only what goes beyond.
   * Absent where it reserved nothing.
   */
  readonly reserved?: readonly {
    /** The limit that it counts for. */
    readonly key: string;
    /** How much of it was taken. */
    readonly amount: number;
  }[];
  /** How many steps of the request's escalation were taken; left out for none. */
  readonly escalated?: number;
  /** Present where `status` is `ended`. */
  readonly end?: RecordedEnd;
  /** What became of an approval; absent until that is known. */
  readonly outcome?: ConsentOutcome;
  /** When it was asked, by the clock of the machine's boot; absent where nobody noted it. */
  readonly asked?: BootTime;
  /** Where the log has its `consent_requested` event; absent where nobody noted it. */
  readonly logged?: LoggedAt;
  /**
   * HMAC that shows a gate wrote the record, made with `GateOptions.recordKey`. Stores keep it as
   * it is.
   */
  readonly mac?: string;
}

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
 * Whether a yes was taken by a call with an id of its caller's, and nothing is known of what came of
 * it. Such a call performs only what the log shows as forwarded first.
 */
export function isUnreleased(record: PendingRecord): boolean {
  return (
    isApproved(record) &&
    record.end?.recorded === true &&
    record.adopted &&
    record.call !== undefined &&
    record.outcome === undefined
  );
}

/**
 * Whether a person answered the question of a call with an id of its caller's, and its process ended
 * before it had noted that the log has the answer.
 */
export function isUnrecorded(record: PendingRecord): boolean {
  return isDecided(record) && record.end?.recorded === false && record.call !== undefined;
}

/**
 * True if a process that starts must continue with the question: it is open, or it was approved and
 * nobody collected the approval yet; or its call has an id (`PendingRecord.call`) and collected the
 * approval, or nobody noted yet that the log has the answer. `PendingStore.open()` lists these.
 */
export function isUnfinished(record: PendingRecord): boolean {
  return (
    record.status !== "ended" ||
    isUncollected(record) ||
    isUnreleased(record) ||
    isUnrecorded(record)
  );
}
