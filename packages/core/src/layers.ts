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
 * What a layer may know in addition to the Action: copied and frozen when the call arrives, and the
 * same for an edit of it, also after a restart.
 */
export interface Facts {
  /** Who acts. */
  readonly agent: Agent;
  /** The moment of judgment, milliseconds since 1970. */
  readonly nowMs: number;
  /** The agent's session; left out where its host names none. */
  readonly session?: string;
  /** The task that the call belongs to; left out where its host names none. */
  readonly task?: string;
  /** The tool's definition; absent where the host passes none. */
  readonly tool?: ToolDefinition;
}

/** Terms of a question. The terms of several asks are merged, the stricter of two each time. */
export interface AskTerms {
  /**
   * How long the question stays open, in milliseconds; left out for the gate's `askTimeoutMs`.
   */
  readonly timeoutMs?: number;
  /**
   * Ids or group names of the approvers who may answer; absent: everyone the gate knows; empty:
   * nobody.
   */
  readonly approvers?: readonly string[];
  /**
   * Who else may answer, and where else the question is shown, after a time. Who is named here and
   * not in `approvers` waits for it.
   */
  readonly escalate?: readonly EscalationStep[];
  /** How many distinct approvers must approve; 1 unless given. */
  readonly quorum?: number;
  /** What an approval must be proven with; `any` unless given. */
  readonly evidence?: "any" | "passkey";
  /**
   * What an approval may also cover; absent: the gate's `defaultOffers`; empty: only the call
   * itself.
   */
  readonly offers?: readonly OfferTerms[];
}

/** What a layer says about an Action. */
export interface Ruling {
  /** Whether the action is allowed, asked about or denied. */
  readonly effect: Effect;
  /** Id of the rule that says so, for the question and the log. */
  readonly ruleId: string;
  /** The rule's name for people; absent where it has none. */
  readonly ruleName?: string;
  /** Why, in one line for the approver and the agent; `""` for nothing. */
  readonly reason: string;
  /** How serious the action is; absent: the classification's risk. */
  readonly level?: RiskLevel;
  /** Terms of the question, where `effect` is `ask`. */
  readonly ask?: AskTerms;
  /** Allowances that the action takes from. The gate reserves them: a layer counts nothing. */
  readonly limits?: readonly LimitClaim[];
  /** Names of the secrets that an allow releases without a question, or that the question shows. */
  readonly secrets?: readonly string[];
}

/** A judge of actions. Pure and synchronous: no I/O, no clock. */
export interface Layer {
  /** Stable name, as evaluations and the log write it. */
  readonly name: string;
  /**
   * True if it never allows: a policy whose default denies then denies what it alone would. One that
   * allows nonetheless has failed, and denies.
   */
  readonly onlyRestricts?: boolean;
  /**
   * What it says about an action; `undefined` where it abstains. An error denies the action with
   * `layer_failed`.
   */
  judge(action: Action, facts: Facts): Ruling | undefined;
}
