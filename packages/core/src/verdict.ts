/**
 * Verdict: the gate's final word about one Action. A record, never an exception.
 */
import type { Action } from "./action/action.js";
import type { DenyCode } from "./deny-codes.js";
import type { JsonObject } from "./json/value.js";
import type { Permit } from "./types/permit.js";

/** Why an action may go ahead. */
export type AllowCode = "policy_allowed" | "consent_approved" | "consent_modified" | "grant_used";

/** An allow: perform `action` with `permit`. */
export interface Allowed {
  readonly decision: "allow";
  /** Why it may go ahead. */
  readonly code: AllowCode;
  /** Why, in one line; what the approver wrote where one decided. */
  readonly reason: string;
  /** The action to perform, with a person's edits: this one and no other. */
  readonly action: Action;
  /**
   * Redeem it with this `action`, once, within 30 s (sooner where a grant behind it ends);
   * `gate.perform` does it for you.
   */
  readonly permit: Permit;
  /** Id of the question; absent where nobody was asked. */
  readonly requestId?: string;
  /** Ids of the approvers who approved; absent where no person did. */
  readonly approvers?: readonly string[];
  /**
   * The signed answers behind the approval: ACP v0.2 §4.2's JSON, one per approver. Absent where
   * the gate has no signer.
   */
  readonly proofs?: readonly JsonObject[];
}

/** A denial: the action must not be performed. */
export interface Denied {
  readonly decision: "deny";
  /** Why not: stable, match on it. All codes are in {@link DENY_CODES}. */
  readonly code: DenyCode;
  /** Why not, in one line for people and agents. */
  readonly reason: string;
  /** What the agent or its operator can do about it. */
  readonly remedy: string;
  /** Whether the same call may succeed later without a change of the policy or the setup. */
  readonly retryable: boolean;
  /** Milliseconds to wait before the same call can succeed; absent where that is not known. */
  readonly retryAfterMs?: number;
  /** Id of the question; absent where nobody was asked. */
  readonly requestId?: string;
  /** Id of the rule that denied or asked; absent where none did. */
  readonly ruleId?: string;
}

/** The gate's final decision about one action. */
export type Verdict = Allowed | Denied;

/** A question that is open: a person is being asked. */
export interface Pending {
  readonly decision: "pending";
  /** Id of the question that was asked first. */
  readonly requestId: string;
  /** Wall time from which no answer counts, milliseconds since 1970. */
  readonly expiresAtMs: number;
  /**
   * Settles with the verdict; never rejects. Do not wait for it after {@link defer} or {@link
   * leave}.
   */
  readonly settled: Promise<Verdict>;
  /** Takes the question back: it ends at once, for everyone who could answer it. */
  withdraw(reason: string): Promise<void>;
  /**
   * Call it when the caller went away, as when its signal aborts: this call gets no permit. The
   * question stays open for the same call of the same agent for the gate's `retryWindowMs`, and an
   * answer is kept for that call; then the question is taken back.
   */
  leave(reason: string): Promise<void>;
  /**
   * Call it when the caller is told "call again": the decision is kept for its retry, and this call
   * gets no permit. False if the question is over already: use `settled`.
   */
  defer(): Promise<boolean>;
}

/** The result of `gate.run` and `gate.perform`: what the action returned, or why it did not run. */
export type RunResult<T> =
  | {
      readonly ran: true;
      /** What `perform` returned, with known secret values masked. */
      readonly value: T;
      /** The verdict that allowed it. */
      readonly verdict: Allowed;
      /**
       * Whether the completion is in the log. Of a stream, and where the caller wanted the result
       * first, it is not yet: see `completed`.
       */
      readonly recorded: boolean;
      /** Settles once the completion is in the log, or cannot be: then false. Never rejects. */
      readonly completed: Promise<boolean>;
      /**
       * Present where `value` is a stream: settles when that ends, with whether its completion is
       * in the log. Never rejects.
       */
      readonly ended?: Promise<boolean>;
    }
  | {
      readonly ran: false;
      /** Why it did not run. */
      readonly verdict: Denied;
    };
