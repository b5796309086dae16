/**
 * Policy: ordered rules and a default, compiled and immutable. Made by parsePolicy (objects) or
 * readPolicy (YAML text).
 */
import type { Action, ToolAction } from "../action/action.js";
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
  /** How many people must approve, where the rule asks and names a number. */
  readonly quorum?: number;
  /** Where the policy's text names that number; absent where the policy was not read from text. */
  readonly quorumAt?: TextPosition;
  /**
   * Line of the rule in the policy's text, from 1; absent where the policy was not read from text.
   */
  readonly line?: number;
}

/** Category and risk of an Action. */
export interface Classification {
  /** What kind of effect the action has. */
  readonly category: Category;
  /** How risky it is. */
  readonly risk: RiskLevel;
}

/** A compiled policy; made by `parsePolicy` or `readPolicy`. Read it only through these members. */
export interface Policy {
  /** What happens to an action that no rule matches and every layer abstains from. */
  readonly defaultEffect: Effect;
  /** Its rules, in their order. */
  readonly rules: readonly RuleSummary[];
  /** What loaded but needs attention, e.g. a policy without `version`; one line each. */
  readonly warnings: readonly string[];
  /** The first rule that matches, as a Ruling; `undefined` when none does. Pure. */
  judge(action: Action, facts: Facts): Ruling | undefined;
  /**
   * Whether every call of a tool is denied, whatever its arguments and whenever it comes. Pure, and
   * exact on the safe side: `undefined` where some call may be anything else.
   *
   * @param action - A call of the tool; its arguments are not looked at.
   * @returns `"rule"`: by a rule, whatever else judges. `"default"`: by the policy's default, unless a
   *   layer allows.
   */
  deniesAll(action: ToolAction): "rule" | "default" | undefined;
  /** Category and risk: the policy's `classify` rows, then the built-in table. */
  classify(action: Action): Classification;
  /**
   * Whether the argument patterns of a grant's scope cover the arguments of a call, read as
   * strictly as by a rule that allows.
   */
  proves(scope: ArgumentsScope, action: Action): boolean;
  /**
   * Whether the path pattern of some rule that denies matches this path, whatever tool or argument
   * the rule is about.
   */
  deniesPath(path: string): boolean;
}
