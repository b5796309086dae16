/**
 * Rules: one rule of a policy, from its source to what it matches and what it says. Pure. Format:
 * spec/policy.md §2.
 */
import type { Action } from "../action/action.js";
import { EFFECTS, RISK_LEVELS } from "../types/words.js";
import type { Effect } from "../types/words.js";
import type { AskTerms, Facts, Ruling } from "../layers.js";
import {
  ASK_TIMEOUT_MS,
  ASK_TIMEOUT_MS_MAX,
  NAME_CHARS_MAX,
  QUORUM_MAX,
  REASON_CHARS_MAX,
} from "../limits.js";
import { quote } from "@acp/exec-safety/text";
import { parseConditions } from "./conditions.js";
import type { TimeTest, ZoneClocks } from "./conditions.js";
import { parseEscalate } from "./escalate.js";
import { parseMatch } from "./match.js";
import type { TextTest } from "./glob.js";
import type { Match, MatchContext } from "./match.js";
import { parseOffers } from "./offers.js";
import type { OfferMaker } from "./offers.js";
import type { PathOrigins } from "./path.js";
import type { RuleSummary } from "./policy.js";
import { parseRate, rateClaim } from "./rate.js";
import type { Reader } from "./readings.js";
import { invalid, printPath, readList, readMap, readNumber, readOneOf, readText } from "./spot.js";
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

const KEYS = [
  "id",
  "name",
  "reason",
  "match",
  "action",
  "level",
  "timeout",
  "rate_limit",
  "conditions",
  "approvers",
  "quorum",
  "approval",
  "offers",
  "escalate",
  "secrets",
] as const;
/** Keys of a match that are not keys of a rule. */
const MATCH_KEYS: ReadonlySet<string> = new Set([
  "tool",
  "server",
  "category",
  "kind",
  "host",
  "method",
  "port",
  "args",
]);
const ID = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;
const SECRET = /^[A-Za-z_][A-Za-z0-9_.-]*$/;
const TIMEOUT_S = { min: 0.001, max: ASK_TIMEOUT_MS_MAX / 1_000 };
const QUORUM = { min: 1, max: QUORUM_MAX, whole: true };
/**
 * Keys that make no sense unless somebody is asked: on any other rule they would promise what does
 * not happen.
 */
const ASK_ONLY = ["approvers", "quorum", "approval", "offers", "escalate"] as const;

type Entries = ReadonlyMap<string, Spot>;

/** Compiles the rule at `spot`, the `number`th of its policy, counted from 1. */
export function parseRule(spot: Spot, number: number, context: RuleContext): Rule {
  refuseMatchKeys(spot);
  const entries = readMap(spot, KEYS);
  const effect = readOneOf(required(spot, entries, "action"), EFFECTS);
  const match = required(spot, entries, "match");
  refuseIdleKeys(entries, effect);
  warnOfIdleKeys(entries, effect, context);
  const { origins, read: reader, classify, clocks, warn, onDeniedPath } = context;
  const stance = {
    grants: effect === "allow",
    read: reader,
    origins,
    ...(effect === "deny" && { onPath: onDeniedPath }),
  };
  const conditions = entries.get("conditions");
  const ruling = parseRuling(entries, effect, `rule_${number}`);
  const compiled = parseMatch(match, { stance, classify, warn });
  const offers = entries.get("offers");
  return {
    summary: summarize(spot, ruling, entries),
    match: compiled,
    applies:
      conditions === undefined
        ? undefined
        : parseConditions(conditions, { clocks, warn, uncertain: effect !== "allow" }),
    say: sayer(
      ruling,
      entries,
      offers === undefined ? undefined : parseOffers(offers, compiled.kinds, origins),
    ),
  };
}

/** The likeliest slip of all: a key of the match beside it. */
function refuseMatchKeys(spot: Spot): void {
  for (const [key, entry] of readMap(spot)) {
    if (MATCH_KEYS.has(key))
      throw invalid(entry, `"${key}" belongs into the rule's match`, {
        part: "key",
        suggestion: `match: { ${key}: … }`,
      });
  }
}

function required(spot: Spot, entries: Entries, key: string): Spot {
  const entry = entries.get(key);
  if (entry === undefined) throw invalid(spot, `the rule has no "${key}"`);
  return entry;
}

function refuseIdleKeys(entries: Entries, effect: Effect): void {
  const idle =
    effect === "ask" ? [] : [...ASK_ONLY, ...(effect === "deny" ? (["secrets"] as const) : [])];
  for (const key of idle) {
    const entry = entries.get(key);
    if (entry !== undefined)
      throw invalid(entry, `"${key}" means nothing on a rule whose action is ${effect}`, {
        part: "key",
      });
  }
}

function warnOfIdleKeys(entries: Entries, effect: Effect, { warn }: RuleContext): void {
  const timeout = entries.get("timeout");
  if (timeout !== undefined && effect !== "ask") {
    warn(`${printPath(timeout.path)} does nothing: nobody is asked where the action is ${effect}`);
  }
  const rate = entries.get("rate_limit");
  if (rate !== undefined && effect === "deny")
    warn(`${printPath(rate.path)} does nothing: the rule denies every call`);
  const escalate = entries.get("escalate");
  if (escalate !== undefined && timeout === undefined)
    warn(
      `${printPath(escalate.path)} may come too late: the rule has no timeout, and the gate's is ${ASK_TIMEOUT_MS / 1_000} s unless it says otherwise`,
    );
  const [offers, quorum] = [entries.get("offers"), entries.get("quorum")?.value];
  const isAlone = quorum === undefined || quorum === 1;
  if (offers !== undefined && (entries.get("level")?.value === "critical" || !isAlone))
    warn(
      `${printPath(offers.path)} does nothing: a question at level critical, or for several people, offers no more than the call`,
    );
}

function parseRuling(entries: Entries, effect: Effect, defaultId: string): Ruling {
  const id = read(entries, "id", readId) ?? defaultId;
  const name = read(entries, "name", (spot) => readText(spot, NAME_CHARS_MAX));
  const level = read(entries, "level", (spot) => readOneOf(spot, RISK_LEVELS));
  const secrets = read(entries, "secrets", (spot) => readList(spot).map(readSecret));
  return {
    effect,
    ruleId: id,
    reason:
      read(entries, "reason", (spot) => readText(spot, REASON_CHARS_MAX)) ??
      `rule ${id} says ${effect}`,
    ...(name === undefined ? {} : { ruleName: name }),
    ...(level === undefined ? {} : { level }),
    ...(secrets === undefined ? {} : { secrets }),
    ...(effect === "ask" ? { ask: parseTerms(entries) } : {}),
  };
}

function parseTerms(entries: Entries): AskTerms {
  const timeoutS = read(entries, "timeout", (spot) => readNumber(spot, TIMEOUT_S));
  const approvers = read(entries, "approvers", (spot) =>
    readList(spot).map((each) => readText(each, NAME_CHARS_MAX)),
  );
  const quorum = read(entries, "quorum", (spot) => readNumber(spot, QUORUM));
  const evidence = read(entries, "approval", (spot) => readOneOf(spot, ["any", "passkey"]));
  const escalate = read(entries, "escalate", parseEscalate);
  const late = escalate?.find(
    ({ afterMs }) => timeoutS !== undefined && afterMs >= timeoutS * 1_000,
  );
  const escalation = entries.get("escalate");
  if (late !== undefined && escalation !== undefined)
    throw invalid(
      escalation,
      `a step comes after ${late.afterMs / 1_000} s, and the question ends after ${timeoutS} s`,
    );
  return {
    ...(timeoutS === undefined ? {} : { timeoutMs: Math.round(timeoutS * 1_000) }),
    ...(approvers === undefined ? {} : { approvers }),
    ...(quorum === undefined ? {} : { quorum }),
    ...(evidence === undefined ? {} : { evidence }),
    ...(escalate === undefined ? {} : { escalate }),
  };
}

function read<T>(
  entries: Entries,
  key: (typeof KEYS)[number],
  reader: (spot: Spot) => T,
): T | undefined {
  const entry = entries.get(key);
  return entry === undefined ? undefined : reader(entry);
}

function readId(spot: Spot): string {
  const id = readText(spot, NAME_CHARS_MAX);
  if (!ID.test(id))
    throw invalid(spot, `the id ${quote(id)} is not made of letters, digits, ".", "_" and "-"`);
  return id;
}

function readSecret(spot: Spot): string {
  const name = readText(spot, NAME_CHARS_MAX);
  if (!SECRET.test(name))
    throw invalid(
      spot,
      `the secret name ${quote(name)} is not made of letters, digits, "_", "." and "-"`,
    );
  return name;
}

function summarize(
  spot: Spot,
  { ruleId, ruleName, effect, ask }: Ruling,
  entries: Entries,
): RuleSummary {
  const line = spot.locate(spot.path, "value")?.line;
  const reason = entries.get("reason")?.value;
  const quorum = entries.get("quorum");
  const quorumAt = quorum?.locate(quorum.path, "value");
  return {
    ruleId,
    effect,
    ...(ruleName === undefined ? {} : { ruleName }),
    ...(typeof reason === "string" ? { reason } : {}),
    ...(ask?.quorum === undefined ? {} : { quorum: ask.quorum }),
    ...(quorumAt === undefined ? {} : { quorumAt }),
    ...(line === undefined ? {} : { line }),
  };
}

/** A rule without a rate and offers says the same frozen thing every time. */
function sayer(ruling: Ruling, entries: Entries, offersFor: OfferMaker | undefined): Rule["say"] {
  const rate = read(entries, "rate_limit", parseRate);
  freeze(ruling);
  const limited = ruling.effect === "deny" ? undefined : rate;
  if (limited === undefined && offersFor === undefined) return () => ruling;
  return (action, { agent }) => ({
    ...ruling,
    ...(limited === undefined ? {} : { limits: [rateClaim(limited, ruling.ruleId, agent)] }),
    ...(offersFor === undefined ? {} : { ask: { ...ruling.ask, offers: offersFor(action) } }),
  });
}

function freeze(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  for (const part of Object.values(value)) freeze(part);
  Object.freeze(value);
}
