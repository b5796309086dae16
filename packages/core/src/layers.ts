/**
 * Layers: pure, synchronous judges of an Action, and what they say.
 */
import type { Action } from "./action/action.js";
import type { LimitClaim } from "./ports.js";
import type { EscalationStep } from "./approval/escalation.js";
import type { OfferTerms } from "./approval/grants.js";

/** What a rule or layer says. Across layers: deny > ask > allow. */
export type Effect = "allow" | "ask" | "deny";

/** Risk of an Action (S0 §4.1), ascending. */
export type RiskLevel = "low" | "medium" | "high" | "critical";

/** Category of an Action (S0 §5.3). */
export type Category = "read" | "write" | "communication" | "financial" | "system" | "public" | "physical";

/** The process whose action is judged. Never trusted; named by id. */
export interface Agent {
  readonly id: string;
  readonly name?: string;
  /** How it was started, for the person who is asked. */
  readonly command?: string;
  /** Ids of the agents that started it, nearest first. */
  readonly parents?: readonly string[];
}

/** The first of those who started the agent, or the agent itself: its parts, whatever names they take, share one allowance. */
export function rootOf({ id, parents }: Agent): string {
  return parents?.at(-1) ?? id;
}

/** What a layer may know besides the Action. */
export interface Facts {
  readonly agent: Agent;
  /** The moment of judgement, milliseconds since 1970-01-01T00:00:00Z. */
  readonly nowMs: number;
  readonly session?: string;
  readonly task?: string;
}

/** Terms of a question. */
export interface AskTerms {
  readonly timeoutMs?: number;
  /** Approver ids or group names; left out means anybody the gate knows, empty means nobody. */
  readonly approvers?: readonly string[];
  /** Who else may answer, and where else the question is shown, after a time. Who is named here and not in `approvers` waits for it. */
  readonly escalate?: readonly EscalationStep[];
  /** How many distinct approvers must say yes; 1 unless given. */
  readonly quorum?: number;
  readonly evidence?: "any" | "passkey";
  /** What a yes may also cover. */
  readonly offers?: readonly OfferTerms[];
}

/** What a layer says about an Action. */
export interface Ruling {
  readonly effect: Effect;
  readonly ruleId: string;
  readonly ruleName?: string;
  readonly reason: string;
  /** Left out: the classification's risk. */
  readonly level?: RiskLevel;
  readonly ask?: AskTerms;
  readonly limits?: readonly LimitClaim[];
  /** Names of secrets the matching allow rule gives standing consent for, or the question shows. */
  readonly secrets?: readonly string[];
}

/** A judge. Pure and synchronous: no I/O, no clock. */
export interface Layer {
  readonly name: string;
  /** `undefined` abstains. A throw is a deny with `layer_failed`. */
  judge(action: Action, facts: Facts): Ruling | undefined;
}
