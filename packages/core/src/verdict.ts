/**
 * Verdict: the gate's final word about one Action. A record, never an exception.
 */
import type { Action } from "./action/action.js";
import type { DenyCode } from "./deny-codes.js";
import type { JsonObject } from "./json/value.js";
import type { Permit } from "./types/permit.js";

/** Why an action may go ahead. */
export type AllowCode = "policy_allowed" | "consent_approved" | "consent_modified" | "grant_used";

/** Yes: perform `action` with `permit`. */
export interface Allowed {
  readonly decision: "allow";
  /** Why it may go ahead. */
  readonly code: AllowCode;
  /** Why, in one line; what the approver wrote where one decided. */
  readonly reason: string;
  /** The effective action: perform this one. */
  readonly action: Action;
  /** Redeem it within 30 s with this very `action`, once; `gate.perform` does it. */
  readonly permit: Permit;
  /** Id of the question, where a person was asked. */
  readonly requestId?: string;
  /** Ids of the approvers who said yes. */
  readonly approvers?: readonly string[];
  /**
   * The signed answers that the yes stands on: ACP v0.2 §4.2's JSON, one of each approver. Left out
   * where the gate has no signer.
   */
  readonly proofs?: readonly JsonObject[];
}

/** No. */
export interface Denied {
  readonly decision: "deny";
  /** Why not: stable, match on it. All codes are in {@link DENY_CODES}. */
  readonly code: DenyCode;
  /** Why not, in one line for people and agents. */
  readonly reason: string;
  /** What the agent or its operator can do about it. */
  readonly remedy: string;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /** Milliseconds to wait before the same call can succeed, where that is known. */
  readonly retryAfterMs?: number;
  /** Id of the question, where a person was asked. */
  readonly requestId?: string;
  /** Id of the rule that denied or asked, where one did. */
  readonly ruleId?: string;
}

/** The final word. */
export type Verdict = Allowed | Denied;

/** Not yet: a person is being asked. */
export interface Pending {
  readonly decision: "pending";
  /** Id of the question that was asked first. */
  readonly requestId: string;
  /** Wall time from which no answer counts, milliseconds since 1970. */
  readonly expiresAtMs: number;
  /** Settles with the verdict; never rejects. Not used after {@link defer}. */
  readonly settled: Promise<Verdict>;
  /** Takes the question back: it ends at once, for everybody. */
  withdraw(reason: string): Promise<void>;
  /**
   * The caller went away, as when its signal aborts: this call gets no permit. The question stays
   * open for the same call of the same agent for the gate's `retryWindowMs`, and an answer to it is
   * kept for that call; then it is taken back.
   */
  leave(reason: string): Promise<void>;
  /**
   * The caller is being told "call again": the decision is kept for its retry, and no permit is
   * made for this call. False if the question is over already: use `settled`.
   */
  defer(): Promise<boolean>;
}

/** What came of `gate.run` and `gate.perform`. */
export type RunResult<T> =
  | {
      readonly ran: true;
      /** What `perform` returned, with known secret values masked. */
      readonly value: T;
      /** Why it ran, or why it did not. */
      readonly verdict: Allowed;
      /** Whether the completion is in the log. Of a stream it is not yet: see `ended`. */
      readonly recorded: boolean;
      /**
       * Present where `value` is a stream: settles when that ends, with whether its completion is
       * in the log. Never rejects.
       */
      readonly ended?: Promise<boolean>;
    }
  | {
      readonly ran: false;
      /** Why it ran, or why it did not. */
      readonly verdict: Denied;
    };
