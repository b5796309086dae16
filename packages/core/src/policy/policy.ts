/**
 * Policy: ordered rules and a default, compiled and immutable. Made by parsePolicy (objects) or
 * readPolicy (YAML text).
 */
import type { Action } from "../action/action.js";
import type { ArgumentsScope } from "../types/scope.js";
import type { Category, Effect, RiskLevel } from "../types/words.js";
import type { TextPosition } from "../errors.js";
import type { Facts, Ruling } from "../layers.js";

/** What a rule is, for listing and explaining. */
export interface RuleSummary {
  /** The rule's `id`, unique in its policy. */
  readonly ruleId: string;
  /** The rule's `name` for people. */
  readonly ruleName?: string;
  /** What the rule does to an action that it matches. */
  readonly effect: Effect;
  /** The rule's `reason`, as people and agents read it. */
  readonly reason?: string;
  /** How many people must say yes, where the rule asks and says so. */
  readonly quorum?: number;
  /** Where the text that it was read from says so. */
  readonly quorumAt?: TextPosition;
  /** 1-based, where the policy was read from text. */
  readonly line?: number;
}

/** Category and risk of an Action. */
export interface Classification {
  /** What kind of effect the action has. */
  readonly category: Category;
  /** How risky it is. */
  readonly risk: RiskLevel;
}

/** A compiled policy. Opaque: read it through these members only. */
export interface Policy {
  /** What happens to an action that no rule matches and no layer speaks about. */
  readonly defaultEffect: Effect;
  /** Its rules, in their order. */
  readonly rules: readonly RuleSummary[];
  /** What loaded but deserves a look, e.g. a v0.3 file without `version`. */
  readonly warnings: readonly string[];
  /** The first rule that matches, as a Ruling; `undefined` when none does. Pure. */
  judge(action: Action, facts: Facts): Ruling | undefined;
  /** Category and risk: the policy's `classify` rows, then the built-in table. */
  classify(action: Action): Classification;
  /**
   * Whether the patterns of a grant's scope prove the arguments of a call, as a rule that allows
   * would read them.
   */
  proves(scope: ArgumentsScope, action: Action): boolean;
  /**
   * Whether a rule that denies names this path by a path pattern, whatever tool or argument the
   * rule is about.
   */
  deniesPath(path: string): boolean;
}
