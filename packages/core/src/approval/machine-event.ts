/** MachineEvent: what can happen to a question. Types only; machine.ts says what follows. */
import type { JsonObject } from "../json/value.js";
import type { DenyCode } from "../deny-codes.js";
import type { ConsentOutcome } from "./consent-outcome.js";
import type { CountedApproval } from "./pending-record.js";

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
