/**
 * Ports: everything an adapter may implement, with the plain types they exchange. Types only.
 * Source: spec/ports.md. Conformance suites: @acp/testing.
 */
import type { Action } from "./action/action.js";
import type { ConsentRequest } from "./approval/request.js";
import type { PendingRecord } from "./approval/pending-record.js";
import type { ConsentOutcome } from "./approval/consent-outcome.js";
import type { Grant } from "./approval/grants.js";
import type { JsonObject } from "./json/value.js";
import type { Facts, Ruling } from "./layers.js";
import type { ToolDefinition } from "./types/agent.js";
import type { AuditEventInput, AuditReceipt } from "./types/audit-event.js";
import type { EndStatus, RefusalCode } from "./types/ending.js";
import type { TrustedKey } from "./types/keys.js";
import type { LimitClaim } from "./types/limit-claim.js";
import type { Release } from "./types/permit.js";

/**
 * Carries one question to a person and brings the answer back; decides nothing. Source:
 * spec/ports.md.
 */
export interface Channel {
  /** Stable name written to the audit log: `[a-z][a-z0-9-]*`. */
  readonly name: string;
  /**
   * Shows the request to a person; resolves when it is shown. Answers go to `session.submit`, also
   * before it resolves.
   *
   * @param request - Show `request.text` whole, or say how many bytes are hidden.
   * @param session - `ended` settles when the question is over, however it ended: retract or update
   *   the message then.
   * @throws Anything means "not delivered": the gate denies with `channel_failed`, or with
   *   `channel_unavailable` if that is the code of the ConsentError.
   */
  deliver(request: ConsentRequest, session: AskSession): Promise<void>;
}

/** Room for questions that several gates share, such as those of one client. */
export interface QuestionRoom {
  /**
   * Why no further question of an agent may be asked now; `undefined` where one may.
   *
   * @param agent - Id of the agent; of one that another started, of the first of these.
   */
  full(agent: string): string | undefined;
  /**
   * Called when a gate takes a place for a question of an agent, and when it gives one up. Whoever
   * closes a gate forgets the places that it had not given up.
   */
  count(by: 1 | -1, agent: string): void;
}

/** What a channel holds while a question is open. */
export interface AskSession {
  /** True if the same question was shown before, as after a restart. */
  readonly redelivery: boolean;
  /** Settles (never rejects) when the question is over. */
  readonly ended: Promise<Ending>;
  /**
   * Settles (never rejects) with what became of an approval: only `ran` means that the action was
   * performed. `undefined` where the question did not end with an approval. Settles after `ended`,
   * and may take as long as the action.
   */
  readonly outcome: Promise<ConsentOutcome | undefined>;
  /**
   * Submits an answer. Never rejects, and may be called again while the question is open.
   *
   * @param claim - ACP v0.2 §4.2's JSON: text, bytes or object, e.g. from `makeResponse`.
   * @param by - Whom the channel authenticated; absent for a channel with one local person
   *   (`local`). `channel` is for channels that are made of others (`firstOf`, `toAll`), to say
   *   which of them it was; from any other channel it is ignored.
   */
  submit(
    claim: unknown,
    by?: { readonly subject: string; readonly channel?: string },
  ): Promise<AnswerReceipt>;
}

/** The end of a question, told to the channel that shows it. */
export interface Ending {
  /** How it ended. */
  readonly status: EndStatus;
  /** Why, in one line; `""` for nothing. */
  readonly reason: string;
  /** With `superseded`: the id of the question that took its place. */
  readonly successorId?: string;
}

/** What became of an answer that was submitted. */
export type AnswerReceipt =
  /** The question is over. */
  | {
      readonly status: "final";
      /** How it ended. */
      readonly outcome: EndStatus;
    }
  /** Counted towards a quorum. */
  | {
      readonly status: "counted";
      /** Yeses so far. */
      readonly have: number;
      /** Yeses that the question needs. */
      readonly need: number;
    }
  /**
   * The edited action needs a new look: `request` took the question's place and is being delivered.
   */
  | {
      readonly status: "reshow";
      /** The new question. */
      readonly request: ConsentRequest;
    }
  /** Not taken; the question is as it was. */
  | {
      readonly status: "refused";
      /** Why: stable, match on it. */
      readonly code: RefusalCode;
      /** Why, in one line for the person. */
      readonly reason: string;
    };

/** When events have to become durable. */
export interface AppendTerms {
  /**
   * Nothing is released on them: a sink may write them together with what comes within a moment, a
   * few milliseconds at most.
   */
  readonly mayWait?: boolean;
}

/** Where events become durable. */
export interface AuditSink {
  /**
   * Writes the events, in order, all or none; resolves when they are durable.
   *
   * @param terms - Default: at once. A sink need not heed it.
   * @throws ConsentError `audit_failed`. After a failed write every append throws (latched); events
   *   that cannot be written at all are refused without that.
   */
  append(events: readonly AuditEventInput[], terms?: AppendTerms): Promise<AuditReceipt>;
}

/** Puts secrets into a Release; made by `createVault`. */
export interface Vault {
  /**
   * Replaces the placeholders of the release's action with values, of the released names only.
   *
   * @throws Anything means "not injected": the gate denies with `vault_failed`.
   */
  inject(release: Release): Promise<Release>;
}

/** Whether a verifier accepts a proof, and if not, why. */
export type EvidenceResult =
  | { readonly ok: true }
  | {
      readonly ok: false;
      /** Why the proof does not hold, in one line. */
      readonly reason: string;
    };

/**
 * Verifies proofs of one algorithm other than Ed25519, e.g. a passkey's. A proof without a verifier
 * is refused.
 */
export interface EvidenceVerifier {
  /** The algorithm's name as the proof writes it, e.g. `"WebAuthn"`. */
  readonly algorithm: string;
  /**
   * Whether the response's proof holds for this response and this request, by these keys or by keys
   * of its own. An error counts as "does not hold".
   *
   * @param use - `reuse` is true if an earlier consent is used again: a key that was revoked since
   *   then no longer counts.
   */
  verify(
    response: JsonObject,
    request: JsonObject,
    keys: readonly TrustedKey[],
    use?: { readonly reuse: boolean },
  ): Promise<EvidenceResult>;
}

/** Looks at an action with outside help (a model, a scanner). May only tighten. */
export interface Assessor {
  /** Stable name, as the log writes it. */
  readonly name: string;
  /**
   * Looks at the action after the layers; `undefined` leaves their ruling as it is.
   *
   * @param ruling - What the layers say. A ruling that is less strict changes nothing.
   * @param signal - Aborts when the caller goes away, or after 30 s.
   * @throws Anything means "could not be assessed": the gate denies with `assessor_failed`.
   */
  assess(
    action: Action,
    facts: Facts,
    ruling: Ruling,
    signal: AbortSignal,
  ): Promise<Ruling | undefined>;
}

/**
 * Checks a call's arguments against the tool's input schema: of calls, of edited calls, and again
 * when a permit is redeemed.
 */
export interface ArgumentCheck {
  /**
   * Why the arguments do not fit, in one line for the agent and the approver; `undefined` where
   * nothing is known to be wrong.
   *
   * @param tool - The definition that the host passed with the call; absent where it passed none.
   * @throws Anything means "could not be checked": the gate denies with `layer_failed`.
   */
  check(action: Action, tool?: ToolDefinition): string | undefined;
}

/** Claims of names that can be made once, such as an approval that is used once. */
export interface Claims {
  /**
   * Claims `key` for `ttlMs` milliseconds: true if it was free, false if it is claimed already.
   * Atomic.
   */
  claimOnce(key: string, ttlMs: number): Promise<boolean>;
  /** True while `key` is claimed; claims nothing itself. */
  isClaimed(key: string): Promise<boolean>;
}

/** Whether a reservation was made. */
export type ReserveResult =
  | {
      readonly ok: true;
      /** Names the reservation for `settle`. */
      readonly id: string;
    }
  | {
      readonly ok: false;
      /** The limit that is used up. */
      readonly key: string;
      /** Milliseconds until the claims fit. */
      readonly retryAfterMs: number;
    };

/** Limits on what is used within a sliding window. */
export interface Limits {
  /** Reserves all claims or none. Atomic. */
  reserve(claims: readonly LimitClaim[]): Promise<ReserveResult>;
  /**
   * Ends a reservation: keeps it as used, or gives it back where `used` is false. Unknown and
   * settled ids are ignored.
   */
  settle(id: string, used: boolean): Promise<void>;
}

/** Open questions and their ends. Records are plain JSON data. */
export interface PendingStore {
  /** Keeps a new record; false if one with its id exists. */
  put(record: PendingRecord): Promise<boolean>;
  /** The record; `undefined` where there is none. */
  get(id: string): Promise<PendingRecord | undefined>;
  /**
   * Every record that `isUnfinished`: one that has not ended, and one whose approval nobody
   * collected yet.
   */
  open(): AsyncIterable<PendingRecord>;
  /** Replaces the record where its version is still `fromVersion`; false otherwise. Atomic. */
  transition(id: string, fromVersion: number, next: PendingRecord): Promise<boolean>;
  /**
   * Finds what a retry may continue, for a caller that was told "call again" or went away: the
   * deferred record of this agent and original action that was not collected. A record that a
   * person decided is marked as collected in the same step, so that it is returned once; an open
   * one is returned as it is. A record that ended otherwise (expired, cancelled, failed) is never
   * returned, nor one whose time is over.
   *
   * @param digest - {@link PendingRecord.originalDigest}.
   * @param call - Id that the caller gave the call. A store that keeps what a dead process left may
   *   return the record of this very call ({@link PendingRecord.call}), deferred or not, and one
   *   whose yes it had taken. Only where the log shows nothing of it as forwarded; every other store
   *   leaves it out of account.
   */
  takeDecision(
    agentId: string,
    digest: string,
    nowMs: number,
    call?: string,
  ): Promise<PendingRecord | undefined>;
  /** Yields the record as it is, then after every transition, until the signal aborts. */
  watch(id: string, signal: AbortSignal): AsyncIterable<PendingRecord>;
}

/** Earlier consents that still hold. */
export interface Grants {
  /** Keeps a grant; replaces one of the same id. */
  put(grant: Grant): Promise<void>;
  /**
   * The grant, used up or not; `undefined` where it was revoked or never was. One that is over may
   * be gone.
   */
  get(id: string): Promise<Grant | undefined>;
  /**
   * Grants that may cover the action (`scopeMayCover`), narrowest first; none that is revoked, used
   * up or expired at `nowMs`. What argument patterns cover is not the store's to know.
   */
  find(agentId: string, action: Action, nowMs: number): Promise<readonly Grant[]>;
  /** Every grant that is neither revoked nor gone, in any order. */
  list(): Promise<readonly Grant[]>;
  /** Ends a grant; false if there was none of this id. */
  revoke(id: string): Promise<boolean>;
  /** Takes one use; false when none is left, it expired or was revoked. Atomic. */
  use(id: string, nowMs: number): Promise<boolean>;
}

/** All stores of a gate. Each that a gate is not given is in memory. */
export interface Store {
  /** What may happen once. */
  readonly claims: Claims;
  /** Rates and budgets. */
  readonly limits: Limits;
  /** Questions, open and decided. */
  readonly pending: PendingStore;
  /** Earlier consents that may answer later asks. */
  readonly grants: Grants;
}
