/**
 * Layers: pure, synchronous judges of an Action, and what they say.
 */
import type { Action } from "./action/action.js";
import type { Agent, ToolDefinition } from "./types/agent.js";
import type { LimitClaim } from "./types/limit-claim.js";
import type { OfferTerms } from "./types/scope.js";
import type { Effect, RiskLevel } from "./types/words.js";
import type { EscalationStep } from "./approval/escalation.js";

/**
 * The first of those who started the agent, or the agent itself: its parts, whatever names they
 * take, share one allowance.
 */
export function rootOf({ id, parents }: Agent): string {
  return parents?.at(-1) ?? id;
}

/**
 * What a layer may know besides the Action: copied and frozen when the call arrives, and the same
 * for an edit of it, also after a restart.
 */
export interface Facts {
  /** Who acts. */
  readonly agent: Agent;
  /** The moment of judgement, milliseconds since 1970-01-01T00:00:00Z. */
  readonly nowMs: number;
  /** The agent's session; left out where its host names none. */
  readonly session?: string;
  /** The task that the call belongs to; left out where its host names none. */
  readonly task?: string;
  /** Left out where the host presents no definition. */
  readonly tool?: ToolDefinition;
}

/** Terms of a question. */
export interface AskTerms {
  /**
   * How long the question stays open, in milliseconds; left out for the gate's `askTimeoutMs`.
   */
  readonly timeoutMs?: number;
  /** Approver ids or group names; left out means anybody the gate knows, empty means nobody. */
  readonly approvers?: readonly string[];
  /**
   * Who else may answer, and where else the question is shown, after a time. Who is named here and
   * not in `approvers` waits for it.
   */
  readonly escalate?: readonly EscalationStep[];
  /** How many distinct approvers must say yes; 1 unless given. */
  readonly quorum?: number;
  /** What a yes must be proven with; `any` unless given. */
  readonly evidence?: "any" | "passkey";
  /** What a yes may also cover. */
  readonly offers?: readonly OfferTerms[];
}

/** What a layer says about an Action. */
export interface Ruling {
  /** What happens to the action. */
  readonly effect: Effect;
  /** Id of the rule that says so, for the question and the log. */
  readonly ruleId: string;
  /** The rule's name for people. */
  readonly ruleName?: string;
  /** Why, in one line for the approver and the agent; `""` for nothing. */
  readonly reason: string;
  /** Left out: the classification's risk. */
  readonly level?: RiskLevel;
  /** Terms of the question, where `effect` is `ask`. */
  readonly ask?: AskTerms;
  /** Allowances that the action takes from. The gate reserves them: a layer counts nothing. */
  readonly limits?: readonly LimitClaim[];
  /** Names of secrets the matching allow rule gives standing consent for, or the question shows. */
  readonly secrets?: readonly string[];
}

/** A judge. Pure and synchronous: no I/O, no clock. */
export interface Layer {
  /** Stable name, as evaluations and the log write it. */
  readonly name: string;
  /** `undefined` abstains. A throw is a deny with `layer_failed`. */
  judge(action: Action, facts: Facts): Ruling | undefined;
}
