/**
 * Rules: one rule of a policy, from its source to what it matches and what it says. Pure. Format:
 * spec/policy.md §2.
 */
import type { Action } from "../action/action.js";
import { EFFECTS, RISK_LEVELS } from "../types/words.js";
import type { Effect } from "../types/words.js";
import type { ConsentError } from "../errors.js";
import { isJsonObject } from "../json/value.js";
import type { JsonObject } from "../json/value.js";
import type { AskTerms, Facts, Ruling } from "../layers.js";
import {
  ASK_TIMEOUT_MS,
  ASK_TIMEOUT_MS_MAX,
  NAME_CHARS_MAX,
  QUORUM_MAX,
  REASON_CHARS_MAX,
} from "../limits.js";
import { quote } from "@acp/exec-safety/text";
import { conditions } from "./conditions.js";
import type { ConditionsContext, TimeTest, ZoneClocks } from "./conditions.js";
import { escalate } from "./escalate.js";
import type { TextTest } from "./glob.js";
import { idleWhere } from "./key-rules.js";
import { match } from "./match.js";
import type { Match, MatchContext } from "./match.js";
import { idleOffers, offers } from "./offers.js";
import type { PathOrigins } from "./path.js";
import type { RuleSummary } from "./policy.js";
import { rate, rateClaim } from "./rate.js";
import type { Reader } from "./readings.js";
import { optional, required, section } from "./section.js";
import type { KeyRule } from "./section.js";
import { below, list, number, text, textLike, word } from "./shape.js";
import type { Shape } from "./shape.js";
import { invalid, printPath } from "./spot.js";
import type { Spot } from "./spot.js";

/** A compiled rule. */
export interface Rule {
  readonly summary: RuleSummary;
  readonly match: Match;
  /** Whether its conditions hold; left out where it has none. */
  readonly applies: TimeTest | undefined;
  /** What it says once it matches. */
  readonly say: (action: Action, facts: Facts) => Ruling;
}

/** What all rules of one policy share. */
export interface RuleContext {
  readonly origins: PathOrigins;
  readonly read: Reader;
  readonly clocks: ZoneClocks;
  readonly classify: MatchContext["classify"];
  /** Takes what loads but deserves a look. */
  readonly warn: (warning: string) => void;
  /** Gets the test of each path pattern of a rule that denies. */
  readonly onDeniedPath: (test: TextTest) => void;
}

/** Keys of a match that are not keys of a rule. */
const MATCH_KEYS: readonly string[] = [
  "tool",
  "server",
  "category",
  "kind",
  "host",
  "method",
  "port",
  "args",
];
const ID = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;
const SECRET = /^[A-Za-z_][A-Za-z0-9_.-]*$/;
const TIMEOUT_S = { min: 0.001, max: ASK_TIMEOUT_MS_MAX / 1_000 };
const QUORUM = { min: 1, max: QUORUM_MAX, whole: true };
/**
 * Keys that make no sense unless somebody is asked: on any other rule they would promise what does
 * not happen.
 */
const ASK_ONLY = ["approvers", "quorum", "approval", "offers", "escalate"];

/** What the readers of a rule's values get. */
interface ValueContext extends MatchContext, ConditionsContext, PathOrigins {}

const idleOn = (effect: Effect, keys: readonly string[]): KeyRule =>
  idleWhere({
    key: "action",
    values: [effect],
    keys,
    problem: (key) => `"${key}" means nothing on a rule whose action is ${effect}`,
  });

const id = textLike(ID, {
  charsMax: NAME_CHARS_MAX,
  problem: (written) => `the id ${quote(written)} is not made of letters, digits, ".", "_" and "-"`,
});

const secretName = textLike(SECRET, {
  charsMax: NAME_CHARS_MAX,
  problem: (written) =>
    `the secret name ${quote(written)} is not made of letters, digits, "_", "." and "-"`,
});

const fields = section(
  {
    id: optional(
      "id",
      id,
      "Its name in logs and answers. Default: rule_1 for the first, and so on.",
    ),
    name: optional("name", text(NAME_CHARS_MAX), "A name for people."),
    reason: optional("reason", text(REASON_CHARS_MAX), "Why, for people and agents."),
    match: required("match", match, "What it is about: every key that is given must hold."),
    effect: required("action", word(EFFECTS), "What happens to an action that matches."),
    level: optional(
      "level",
      word(RISK_LEVELS),
      "Level of the question. Default: the action's risk.",
    ),
    timeoutS: optional("timeout", number(TIMEOUT_S), "Seconds that a question stays open."),
    rate: optional("rate_limit", rate, "How often it may be used, such as 20/minute."),
    applies: optional("conditions", conditions, "When it holds at all. Default: always."),
    approvers: optional(
      "approvers",
      list(text(NAME_CHARS_MAX)),
      "IDs and group names of who may answer. An empty list means that nobody may.",
    ),
    quorum: optional("quorum", number(QUORUM), "How many different approvers must approve."),
    evidence: optional("approval", word(["any", "passkey"]), "The evidence that approving needs."),
    offers: optional("offers", offers, "What an approval may also cover."),
    escalate: optional("escalate", escalate, "Who else is asked, and where, after a time."),
    secrets: optional("secrets", list(secretName), "Names of secrets that the action may use."),
  },
  [idleOn("allow", ASK_ONLY), idleOn("deny", [...ASK_ONLY, "secrets"])],
  {
    missing: (key) => `the rule has no "${key}"`,
    // The likeliest slip of all: a key of the match beside it.
    stray: (key) =>
      MATCH_KEYS.includes(key)
        ? {
            problem: `"${key}" belongs in the rule's match`,
            suggestion: `match: { ${key}: … }`,
          }
        : undefined,
  },
);

/** What a rule holds. */
type RuleFields = typeof fields extends Shape<infer T, ValueContext> ? T : never;

/** A rule of a policy, at an index of its list. */
export const rule: Shape<Rule, RuleContext> = {
  schema: fields.schema,
  read(spot, { onDeniedPath, ...context }) {
    const { origins, read, warn } = context;
    const source = isJsonObject(spot.value) ? spot.value : {};
    const effect = EFFECTS.find((each) => each === source["action"]);
    if (effect !== undefined) warnOfIdleKeys(spot, { source, effect, warn });
    const grants = effect === "allow";
    const stance = { grants, read, origins, ...(effect === "deny" && { onPath: onDeniedPath }) };
    const outcome = fields.read(spot, { ...context, ...origins, stance, uncertain: !grants });
    if (outcome.mistakes !== undefined) return outcome;
    const mistakes = [
      ...lateSteps(spot, outcome.value),
      ...idleOffers(below(spot, "offers"), outcome.value.offers ?? [], outcome.value.match.kinds),
    ];
    return mistakes.length > 0 ? { mistakes } : { value: compileRule(spot, outcome.value) };
  },
};

/** A step that comes after the question has ended. */
function lateSteps(
  spot: Spot,
  { escalate: steps = [], timeoutS }: RuleFields,
): readonly ConsentError[] {
  if (timeoutS === undefined) return [];
  const late = steps.find(({ afterMs }) => afterMs >= timeoutS * 1_000);
  return late === undefined
    ? []
    : [
        invalid(
          below(spot, "escalate"),
          `a step comes after ${late.afterMs / 1_000} s, and the question ends after ${timeoutS} s`,
        ),
      ];
}

interface RuleSource {
  readonly source: JsonObject;
  readonly effect: Effect;
  readonly warn: RuleContext["warn"];
}

function warnOfIdleKeys(spot: Spot, { source, effect, warn }: RuleSource): void {
  const at = (key: string): string => printPath(below(spot, key).path);
  const { timeout, rate_limit: limit, escalate: steps, offers: given, level, quorum } = source;
  if (timeout !== undefined && effect !== "ask")
    warn(`${at("timeout")} does nothing: nobody is asked where the action is ${effect}`);
  if (limit !== undefined && effect === "deny")
    warn(`${at("rate_limit")} does nothing: the rule denies every call`);
  if (steps !== undefined && timeout === undefined)
    warn(
      `${at("escalate")} may come too late: the rule has no timeout, and the gate's is ${ASK_TIMEOUT_MS / 1_000} s unless it says otherwise`,
    );
  const isAlone = quorum === undefined || quorum === 1;
  if (given !== undefined && (level === "critical" || !isAlone))
    warn(
      `${at("offers")} does nothing: a question at level critical, or for several people, offers no more than the call`,
    );
}

function compileRule(spot: Spot, given: RuleFields): Rule {
  const ruling = rulingOf(spot, given);
  freeze(ruling);
  return {
    summary: summarize(spot, ruling, given),
    match: given.match,
    applies: given.applies,
    say: sayer(ruling, given),
  };
}

/** The id of a rule that has none of its own: its number, counted from 1. */
export function defaultId(index: number): string {
  return `rule_${index + 1}`;
}

function rulingOf(spot: Spot, given: RuleFields): Ruling {
  const {
    id: ruleId = defaultId(Number(spot.path.at(-1))),
    effect,
    name: ruleName,
    level,
    secrets,
  } = given;
  return {
    effect,
    ruleId,
    reason: given.reason ?? `rule ${ruleId} says ${effect}`,
    ...(ruleName === undefined ? {} : { ruleName }),
    ...(level === undefined ? {} : { level }),
    ...(secrets === undefined ? {} : { secrets }),
    ...(effect === "ask" ? { ask: termsOf(given) } : {}),
  };
}

function termsOf({ timeoutS, approvers, quorum, evidence, escalate: steps }: RuleFields): AskTerms {
  return {
    ...(timeoutS === undefined ? {} : { timeoutMs: Math.round(timeoutS * 1_000) }),
    ...(approvers === undefined ? {} : { approvers }),
    ...(quorum === undefined ? {} : { quorum }),
    ...(evidence === undefined ? {} : { evidence }),
    ...(steps === undefined ? {} : { escalate: steps }),
  };
}

function summarize(
  spot: Spot,
  { ruleId, ruleName, effect, ask }: Ruling,
  { reason, quorum }: RuleFields,
): RuleSummary {
  const line = spot.locate(spot.path, "value")?.line;
  const quorumAt =
    quorum === undefined ? undefined : spot.locate([...spot.path, "quorum"], "value");
  return {
    ruleId,
    effect,
    ...(ruleName === undefined ? {} : { ruleName }),
    ...(reason === undefined ? {} : { reason }),
    ...(ask?.quorum === undefined ? {} : { quorum: ask.quorum }),
    ...(quorumAt === undefined ? {} : { quorumAt }),
    ...(line === undefined ? {} : { line }),
  };
}

/** A rule without a rate and offers says the same frozen thing every time. */
function sayer(ruling: Ruling, { rate: given, offers: makers }: RuleFields): Rule["say"] {
  const limited = ruling.effect === "deny" ? undefined : given;
  if (limited === undefined && makers === undefined) return () => ruling;
  return (action, { agent }) => ({
    ...ruling,
    ...(limited === undefined ? {} : { limits: [rateClaim(limited, ruling.ruleId, agent)] }),
    ...(makers === undefined
      ? {}
      : { ask: { ...ruling.ask, offers: makers.flatMap(({ make }) => make(action) ?? []) } }),
  });
}

function freeze(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  for (const part of Object.values(value)) freeze(part);
  Object.freeze(value);
}
