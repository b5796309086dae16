/** MachineEvent: what can happen to a question. Types only; machine.ts says what follows. */
import type { JsonObject } from "../json/value.js";
import type { DenyCode } from "../deny-codes.js";
import type { ConsentOutcome } from "./consent-outcome.js";
import type { CountedApproval } from "./pending-record.js";

/**
 * What can happen to a question. Times and identities are facts that were checked before: the
 * reducer trusts them and nothing else.
 */
export type MachineEvent =
  | { readonly type: "delivered" }
  | {
      readonly type: "approve";
      /** Who answered, where and when. */
      readonly approval: CountedApproval;
      /** What the answer set. */
      readonly terms: AnswerTerms;
    }
  | {
      readonly type: "modify";
      /** Who answered, where and when. */
      readonly approval: CountedApproval;
      /** What the answer set. */
      readonly terms: AnswerTerms;
      /** The whole new parameters. */
      readonly modifications: JsonObject;
      /** Digest of the edited action: `sha256:<hex>`. */
      readonly effectiveDigest: string;
    }
  | {
      readonly type: "supersede";
      /** Who answered, where and when. */
      readonly approval: CountedApproval;
      /** Id of the question that takes this one's place. */
      readonly successorId: string;
    }
  | {
      readonly type: "deny";
      /** Who answered, where and when. */
      readonly approval: CountedApproval;
      /** What the answer set. */
      readonly terms: AnswerTerms;
    }
  | {
      readonly type: "expire";
      /** Wall time, milliseconds since 1970. */
      readonly atMs: number;
    }
  | {
      readonly type: "cancel";
      /** Wall time, milliseconds since 1970. */
      readonly atMs: number;
      /** Why, in one line for the caller and the log. */
      readonly reason: string;
      /** What the caller is denied with. */
      readonly denyCode: DenyCode;
    }
  | {
      readonly type: "fail";
      /** Wall time, milliseconds since 1970. */
      readonly atMs: number;
      /** Why, in one line for the caller and the log. */
      readonly reason: string;
      /** What the caller is denied with. */
      readonly denyCode: DenyCode;
    }
  /** Its agent is paused: denied by whoever paused it, in nobody's name. */
  | {
      readonly type: "pause";
      /** Wall time, milliseconds since 1970. */
      readonly atMs: number;
      /** Why, in one line for the caller and the log. */
      readonly reason: string;
      /** What the caller is denied with. */
      readonly denyCode: "agent_paused";
    }
  /** The audit events of the end are durable. */
  | { readonly type: "recorded" }
  /**
   * They could not be made durable, or the store was set back to before an end that is in the log:
   * the end becomes `failed`, whatever it was.
   */
  | {
      readonly type: "unrecordable";
      /** Wall time, milliseconds since 1970. */
      readonly atMs: number;
      /** Why, in one line for the caller and the log. */
      readonly reason: string;
      /** What the caller is denied with; `audit_failed` unless given. */
      readonly denyCode?: DenyCode;
    }
  /** The step of this number, counted from 1, is taken. */
  | {
      readonly type: "escalate";
      /** Number of the step, from 1. */
      readonly step: number;
    }
  | { readonly type: "defer" }
  /**
   * The caller went away; until `untilMs` its retry may find the open question, and afterwards the
   * decision.
   */
  | {
      readonly type: "leave";
      /** Wall time until which the question is held, milliseconds since 1970. */
      readonly untilMs: number;
    }
  /** The time that `leave` named is over, and nobody came back. */
  | {
      readonly type: "lapse";
      /** The `untilMs` of that `leave`; another one changes nothing. */
      readonly untilMs: number;
      /** Wall time, milliseconds since 1970. */
      readonly atMs: number;
    }
  /** A retry waits for the open question again. */
  | {
      readonly type: "reattach";
      /** Id that the caller gave the retry. */
      readonly call?: string | undefined;
    }
  /** A retry takes the kept decision. */
  | {
      readonly type: "adopt";
      /** Wall time, milliseconds since 1970. */
      readonly atMs: number;
    }
  /** The caller that waited takes the yes. */
  | { readonly type: "collect" }
  /** Nobody took the yes, and from now on nobody can. */
  | {
      readonly type: "uncollected";
      /** Why, in one line for the caller and the log. */
      readonly reason: string;
    }
  /** What became of a yes that was taken. */
  | {
      readonly type: "outcome";
      /** What came of it, final. */
      readonly outcome: ConsentOutcome;
    };

/** The conditions that an answer set. */
export interface AnswerTerms {
  /** What the person wrote; `""` where they wrote nothing. */
  readonly reason: string;
  /** Wall time until which the decision may be used, milliseconds since 1970. */
  readonly validUntilMs: number;
  /**
   * Id of the offer that the person accepted with the approval; absent where they accepted none.
   */
  readonly grantId?: string;
  /** The word that the person typed; absent where the question needs none. */
  readonly confirmation?: string;
}
