/**
 * Judging: the first rule that matches. Rules that a name rules out are found once for each name
 * and kept; of many rules, only those are tested whose anchors an action has. Pure as seen from
 * outside.
 */
import type { Action, ToolAction } from "../action/action.js";
import type { Facts, Ruling } from "../layers.js";
import type { PathOrigins } from "./path.js";
import type { Rule } from "./rule.js";
import { createRuleIndex } from "./rule-index.js";

/** Finds the first matching rule; `undefined` where there is none. */
export type FirstMatch = (action: Action, facts: Facts) => Ruling | undefined;

/** How rules judge. */
export interface Judge {
  /** The first rule that matches, as a Ruling; `undefined` where none does. */
  readonly judge: FirstMatch;
  /** What rules say about every call of a tool: see `Policy.deniesAll`. */
  deniesAll(action: ToolAction): "rule" | "unless_allowed" | undefined;
}

/**
 * Kept slots over all names, where a name costs some itself: an agent may make up new names for
 * ever.
 */
const SLOTS_MAX = 100_000;
const NAME_SLOTS = 16;
/** So few rules are tested sooner than looked up. */
const FEW_RULES = 32;

/** Makes the functions that go through the rules. */
export function createJudge(rules: readonly Rule[], origins: PathOrigins = {}): Judge {
  const all: readonly Numbered[] = [...rules.entries()];
  const candidatesOf = createCandidates(() => all);
  return {
    judge: rules.length <= FEW_RULES ? createPlainMatch(rules) : createIndexedMatch(rules, origins),
    deniesAll(action) {
      for (const [, { match, applies, summary }] of candidatesOf(action)) {
        if (!match.byServer(action)) continue;
        // It decides some call, or whether it does is the arguments' or the clock's to say.
        if (summary.effect !== "deny") return undefined;
        if (!match.looksInside && applies === undefined) return "rule";
      }
      return "unless_allowed";
    },
  };
}

/** One that tests rule after rule. */
export function createPlainMatch(rules: readonly Rule[]): FirstMatch {
  const all: readonly Numbered[] = [...rules.entries()];
  const candidatesOf = createCandidates(() => all);
  return (action, facts) => {
    for (const [, rule] of candidatesOf(action))
      if (holds(rule, action, facts)) return rule.say(action, facts);
    return undefined;
  };
}

/** One that says the same, and whose time grows with the rules that an action can match. */
export function createIndexedMatch(rules: readonly Rule[], origins: PathOrigins): FirstMatch {
  const index = createRuleIndex(
    rules.map(({ match }) => match.anchors),
    origins,
  );
  const namedOf = createCandidates((action) =>
    index.underName(action).flatMap((number): readonly Numbered[] => {
      const rule = rules[number];
      return rule === undefined ? [] : [[number, rule]];
    }),
  );
  return (action, facts) => {
    const anchored = index.underContent(action).find((number) => {
      const rule = rules[number];
      return rule !== undefined && isNamed(rule, action) && holds(rule, action, facts);
    });
    for (const [number, rule] of namedOf(action)) {
      if (anchored !== undefined && anchored < number) break;
      if (holds(rule, action, facts)) return rule.say(action, facts);
    }
    return anchored === undefined ? undefined : rules[anchored]?.say(action, facts);
  };
}

/** A rule and its number in the policy. */
type Numbered = readonly [number: number, rule: Rule];

const isNamed = ({ match }: Rule, action: Action): boolean =>
  match.kinds.includes(action.meta.kind) && match.byName(action);

const holds = ({ match, applies }: Rule, action: Action, { nowMs }: Facts): boolean =>
  match.byContent(action) && (applies === undefined || applies(nowMs));

/** The rules that an action's kind and name leave of those that they may leave, in order. */
function createCandidates(
  rulesFor: (action: Action) => readonly Numbered[],
): (action: Action) => readonly Numbered[] {
  const kept = {
    tool: new Map<string, readonly Numbered[]>(),
    http: new Map<string, readonly Numbered[]>(),
    shell: new Map<string, readonly Numbered[]>(),
  };
  let slots = 0;
  return (action) => {
    const { kind } = action.meta;
    const known = kept[kind].get(action.name);
    if (known !== undefined) return known;
    const found = rulesFor(action).filter(([, rule]) => isNamed(rule, action));
    slots += found.length + NAME_SLOTS;
    if (slots > SLOTS_MAX) {
      for (const map of Object.values(kept)) map.clear();
      slots = found.length + NAME_SLOTS;
    }
    kept[kind].set(action.name, found);
    return found;
  };
}
