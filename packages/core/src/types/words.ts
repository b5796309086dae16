/**
 * Words: every list of words that a policy, a question and a log share. A union is made from its
 * list, so that whoever reads the list knows them all.
 */

/** Every effect that a rule or a layer can have. */
export const EFFECTS = ["allow", "ask", "deny"] as const;

/**
 * What a rule or a layer says. Across layers, `deny` comes before `ask`, and `ask` before `allow`.
 */
export type Effect = (typeof EFFECTS)[number];

/** Every level of risk, ascending. */
export const RISK_LEVELS = ["low", "medium", "high", "critical"] as const;

/** Risk of an action (ACP v0.2 §4.1), ascending. */
export type RiskLevel = (typeof RISK_LEVELS)[number];

/** Every decision that a person can make. */
export const DECISIONS = ["approved", "denied", "approved_with_modifications"] as const;

/** What a person decided (ACP v0.2 §4.2). */
export type Decision = (typeof DECISIONS)[number];

/** Every category of actions. */
export const CATEGORIES = [
  "read",
  "write",
  "communication",
  "financial",
  "system",
  "public",
  "physical",
] as const;

/** Category of an action (ACP v0.2 §5.3). */
export type Category = (typeof CATEGORIES)[number];
