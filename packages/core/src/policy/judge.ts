/**
 * Judging: the first rule that matches. Rules that a name rules out are found once for each name
 * and kept. Pure as seen from outside.
 */
import type { Action, ToolAction } from "../action/action.js";
import type { Facts, Ruling } from "../layers.js";
import type { Rule } from "./rule.js";

/**
 * Kept slots over all names, where a name costs some itself: an agent may make up new names for
 * ever.
 */
const SLOTS_MAX = 100_000;
const NAME_SLOTS = 16;

/** How rules judge. */
export interface Judge {
  /** The first rule that matches, as a Ruling; `undefined` where none does. */
  judge(action: Action, facts: Facts): Ruling | undefined;
  /** What rules say about every call of a tool: see `Policy.deniesAll`. */
  deniesAll(action: ToolAction): "rule" | "unless_allowed" | undefined;
}

/** Makes the functions that go through the rules. */
export function createJudge(rules: readonly Rule[]): Judge {
  const candidatesOf = createCandidates(rules);
  return {
    judge(action, facts) {
      for (const { match, applies, say } of candidatesOf(action)) {
        if (match.byContent(action) && (applies === undefined || applies(facts.nowMs)))
          return say(action, facts);
      }
      return undefined;
    },
    deniesAll(action) {
      for (const { match, applies, summary } of candidatesOf(action)) {
        if (!match.byServer(action)) continue;
        // It decides some call, or whether it does is the arguments' or the clock's to say.
        if (summary.effect !== "deny") return undefined;
        if (!match.looksInside && applies === undefined) return "rule";
      }
      return "unless_allowed";
    },
  };
}

/** The rules that an action's kind and name leave, in order. */
function createCandidates(rules: readonly Rule[]): (action: Action) => readonly Rule[] {
  const kept = {
    tool: new Map<string, readonly Rule[]>(),
    http: new Map<string, readonly Rule[]>(),
    shell: new Map<string, readonly Rule[]>(),
  };
  let slots = 0;
  return (action) => {
    const { kind } = action.meta;
    const known = kept[kind].get(action.name);
    if (known !== undefined) return known;
    const found = rules.filter(({ match }) => match.kinds.includes(kind) && match.byName(action));
    slots += found.length + NAME_SLOTS;
    if (slots > SLOTS_MAX) {
      for (const map of Object.values(kept)) map.clear();
      slots = found.length + NAME_SLOTS;
    }
    kept[kind].set(action.name, found);
    return found;
  };
}
