/** Explanation: what `acp why` knows of one decision, as plain data. Types only. */
import type { JsonObject } from "@acp/core";

/** How a decision stands. */
export type Standing = "allowed" | "denied" | "open" | "replaced" | "unknown";

/** Why it was decided so. */
export interface Verdict {
  readonly standing: Standing;
  /** A deny code, or why it may go ahead (`policy_allowed`, `consent_approved`, …). */
  readonly code?: string;
  /** What the code means. */
  readonly meaning?: string;
  /** What the agent or the operator can do about it. */
  readonly remedy?: string;
  /** As the log has it. */
  readonly reason?: string;
}

/** Text of a rule as it was in force. */
export interface RuleText {
  /** The policy's file. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly text: string;
  /** `sha256:<hex>` of the whole policy's text. */
  readonly policy: string;
}

/** The rule that decided. */
export interface DecidingRule {
  readonly id: string;
  readonly name?: string;
  /** What judged: `rules` is the policy. */
  readonly layer: string;
  readonly effect: string;
  readonly reason: string;
  /** One for each policy that had such a rule; almost always one. */
  readonly texts: readonly RuleText[];
  /** Why there is no text. */
  readonly missing?: string;
}

/** One person's answer. */
export interface Answer {
  readonly approver: string;
  readonly channel?: string;
  readonly decision: "approved" | "denied";
  readonly atMs: number;
  /** Since the question was asked. */
  readonly tookMs?: number;
}

/** An answer that did not count. */
export interface Refusal {
  readonly atMs: number;
  readonly code: string;
  readonly channel?: string;
  readonly subject?: string;
}

/** The question that a person was asked. */
export interface AskedQuestion {
  readonly id: string;
  readonly askedMs: number;
  /** How many people had to approve. */
  readonly needed: number;
  /** Channels that showed it. */
  readonly shown: readonly string[];
  /** Channels that could not, with the reason. */
  readonly notShown: readonly string[];
  readonly escalations: number;
  readonly endedMs?: number;
  /** As the log names it: approved, denied, expired, … */
  readonly end?: string;
  readonly answers: readonly Answer[];
  readonly refused: readonly Refusal[];
  /** The question that it replaced, after an edit. */
  readonly replaces?: string;
  /** The question that replaced it. */
  readonly successor?: string;
}

/** An earlier consent that answered. */
export interface Earlier {
  readonly kind: "grant" | "decision";
  /** The question that a person answered then. */
  readonly question: string;
  readonly grant?: string;
  readonly approvers: readonly string[];
}

/** What came of it. */
export interface Run {
  readonly state:
    | "ran"
    | "failed"
    | "not_run"
    | "started"
    | "waiting"
    | "not_collected"
    | "unknown"
    | "never";
  readonly why?: string;
  readonly startedMs?: number;
  readonly endedMs?: number;
  /** A host said so; the gate did not see it. */
  readonly reported?: boolean;
  /** Names of secrets that were put in. */
  readonly secrets: readonly string[];
}

/** Whether the signed answers prove the decision. */
export interface ProofStatus {
  readonly state: "verified" | "not_verified" | "unsigned" | "none";
  readonly code?: string;
  readonly detail?: string;
}

/** Something that the gate said meanwhile. */
export interface Said {
  readonly atMs: number;
  readonly notice: string;
  readonly text: string;
}

/** One decision, explained. */
export interface Explanation {
  /** ID of the question, or of the call where nobody was asked. */
  readonly id: string;
  readonly atMs: number;
  readonly log: string;
  readonly seq: number;
  readonly agent: string;
  readonly parents: readonly string[];
  readonly action: {
    readonly kind?: string;
    readonly server?: string;
    readonly tool: string;
    /** As the log has them: secrets are placeholders. */
    readonly parameters?: JsonObject;
    /** What a person changed them to. */
    readonly approvedParameters?: JsonObject;
  };
  readonly category: string;
  readonly risk: string;
  readonly isolation?: string;
  readonly verdict: Verdict;
  readonly rule: DecidingRule;
  readonly question?: AskedQuestion;
  readonly earlier?: Earlier;
  readonly run: Run;
  readonly proof: ProofStatus;
  readonly notices: readonly Said[];
  /** Numbers of its events in the log. */
  readonly events: readonly number[];
}
