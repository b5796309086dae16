/**
 * Offers of a rule: what a yes to its question may also cover. Argument patterns are read as a rule
 * that allows reads them: what is not proven is not covered. Format: spec/policy.md §2.1.
 */
import type { Action, ActionKind } from "../action/action.js";
import { isToolAction } from "../action/action.js";
import type { ArgumentsScope, OfferTerms } from "../types/scope.js";
import { hostScope, siteScope, toolScope } from "../approval/offers.js";
import { isJsonObject } from "../json/value.js";
import type { JsonObject, JsonValue } from "../json/value.js";
import { GRANT_TTL_MS_MAX, NAME_CHARS_MAX, OFFERS_MAX } from "../limits.js";
import { quote } from "@acp/exec-safety/text";
import { parseArguments } from "./arguments.js";
import type { MapTest } from "./arguments.js";
import type { PathOrigins } from "./path.js";
import { readingsOf } from "./readings.js";
import { invalid, readList, readMap, readNumber, readOneOf, readText, spotOf } from "./spot.js";
import type { Spot } from "./spot.js";

/** What a yes to this action may also cover. */
export type OfferMaker = (action: Action) => readonly OfferTerms[];

const KEYS = ["covers", "args", "same", "ttl", "uses"] as const;
const COVERS = ["call", "arguments", "tool", "host", "site"] as const;
type Covers = (typeof COVERS)[number];

/** The kinds of Action that each offer is for. */
const KINDS: Readonly<Record<Covers, readonly ActionKind[]>> = {
  call: ["tool", "http", "shell"],
  arguments: ["tool"],
  tool: ["tool"],
  host: ["http"],
  site: ["http"],
};
const TTL_S = { min: 1, max: GRANT_TTL_MS_MAX / 1_000 };
const USES = { min: 1, max: 1_000_000, whole: true };

// The gate knows which action is at hand: nothing here makes a digest.
const CALL = { kind: "call" } as const;

type Entries = ReadonlyMap<string, Spot>;
/** The scope for an action, or `undefined` where there is none. */
type ScopeMaker = (action: Action) => OfferTerms["scope"] | undefined;

/** Reads the list `offers` of a rule for these kinds of Action. */
export function parseOffers(
  spot: Spot,
  kinds: readonly ActionKind[],
  origins: PathOrigins,
): OfferMaker {
  const list = readList(spot);
  if (list.length > OFFERS_MAX) throw invalid(spot, `there are more than ${OFFERS_MAX} offers`);
  const makers = list.map((each) => parseOffer(each, kinds, origins));
  return (action) => makers.flatMap((make) => make(action) ?? []);
}

function parseOffer(
  spot: Spot,
  kinds: readonly ActionKind[],
  origins: PathOrigins,
): (action: Action) => OfferTerms | undefined {
  const entries = readMap(spot, KEYS);
  const [what, ttl] = [entries.get("covers"), entries.get("ttl")];
  if (what === undefined || ttl === undefined)
    throw invalid(spot, `an offer has "covers" and "ttl"`);
  const covers = readOneOf(what, COVERS);
  if (!KINDS[covers].some((kind) => kinds.includes(kind)))
    throw invalid(
      what,
      `${quote(covers)} is for ${KINDS[covers].join(" and ")} actions, which the rule's match excludes`,
    );
  const scopeOf = scopeMaker(spot, covers, { entries, origins });
  const ttlMs = Math.round(readNumber(ttl, TTL_S) * 1_000);
  const uses = entries.get("uses");
  const bounds = { ttlMs, ...(uses === undefined ? {} : { uses: readNumber(uses, USES) }) };
  return (action) => {
    const scope = scopeOf(action);
    return scope === undefined ? undefined : { id: covers, scope, ...bounds };
  };
}

function scopeMaker(
  spot: Spot,
  covers: Covers,
  given: { readonly entries: Entries; readonly origins: PathOrigins },
): ScopeMaker {
  if (covers === "arguments") return argumentsMaker(spot, given);
  for (const key of ["args", "same"]) {
    const entry = given.entries.get(key);
    if (entry !== undefined)
      throw invalid(entry, `"${key}" is for an offer that covers arguments`, { part: "key" });
  }
  return { call: () => CALL, tool: toolScope, host: hostScope, site: siteScope }[covers];
}

/**
 * Patterns as they stand in the rule, and for `same` the call's own values. A call that they do not
 * cover gets no such offer.
 */
function argumentsMaker(
  spot: Spot,
  { entries, origins }: { readonly entries: Entries; readonly origins: PathOrigins },
): ScopeMaker {
  const [args, same] = [entries.get("args"), entries.get("same")];
  if (args === undefined && same === undefined)
    throw invalid(
      spot,
      `an offer that covers arguments has "args", "same" or both; to cover every call write covers: tool`,
    );
  const patterns = args === undefined ? {} : absolute(args, origins);
  const matches =
    args === undefined
      ? () => true
      : parseArguments({ ...args, value: patterns }, { grants: true, read: readingsOf, origins });
  const keys = same === undefined ? [] : readList(same).map((each) => readKey(each, patterns));
  if (same !== undefined && keys.length === 0) throw invalid(same, "the list is empty");
  return (action) => {
    if (!isToolAction(action) || !matches(action.args)) return undefined;
    const scopeOf = (whole: JsonObject): ArgumentsScope => ({
      kind: "arguments",
      server: action.meta.server,
      name: action.name,
      args: whole,
    });
    if (keys.length === 0) return scopeOf(patterns);
    const own = keys.flatMap((key): readonly (readonly [string, JsonValue])[] => {
      const pattern = exactPattern(action.args, key);
      return pattern === undefined ? [] : [[key, pattern]];
    });
    const scope = scopeOf({ ...patterns, ...Object.fromEntries(own) });
    // A value may be too long for a pattern, or hold what none can.
    return own.length === keys.length && provesArguments(scope, action, origins)
      ? scope
      : undefined;
  };
}

function readKey(spot: Spot, patterns: JsonObject): string {
  const key = readText(spot, NAME_CHARS_MAX);
  if (key.includes("."))
    throw invalid(spot, `${quote(key)} has a dot; "same" names arguments at the top`);
  if (Object.hasOwn(patterns, key) || key === "__proto__")
    throw invalid(spot, `${quote(key)} stands in "args" already, or can be no argument`);
  return key;
}

/**
 * A value as the pattern that only it matches; `undefined` where no pattern says that: a wildcard
 * in a text cannot be taken for itself.
 */
function exactPattern(args: JsonObject, key: string): JsonValue | undefined {
  const value = Object.hasOwn(args, key) ? args[key] : undefined;
  if (typeof value === "number" || typeof value === "boolean") return value;
  return typeof value === "string" && value !== "" && !/[*?]/.test(value) ? value : undefined;
}

/**
 * The patterns with every path from the root: a grant must mean the same places wherever it is
 * looked at.
 */
function absolute(spot: Spot, origins: PathOrigins): JsonObject {
  const patterns: [string, JsonValue][] = [];
  for (const [key, entry] of readMap(spot)) {
    const inner = isJsonObject(entry.value) ? readMap(entry) : undefined;
    const path = inner?.size === 1 ? inner.get("path") : undefined;
    if (path !== undefined && typeof path.value === "string")
      patterns.push([key, { path: absolutePath(path, path.value, origins) }]);
    else patterns.push([key, inner === undefined ? entry.value : absolute(entry, origins)]);
  }
  return Object.fromEntries(patterns);
}

function absolutePath(spot: Spot, pattern: string, { home, cwd }: PathOrigins): string {
  const isHome = pattern === "~" || pattern.startsWith("~/");
  const start = isHome ? home : pattern.startsWith("/") ? "" : cwd;
  if (start === undefined) return pattern; // does not load, and its reader says why
  if (/[*?[\]{}()|\\!]|\/\.\.?(?:\/|$)/.test(start))
    throw invalid(
      spot,
      `the path pattern ${quote(pattern)} starts at ${quote(start)}, which no pattern can name`,
    );
  return start === ""
    ? pattern
    : `${start.replace(/\/+$/, "")}/${isHome ? pattern.slice(2) : pattern}`;
}

/** Whether the arguments of a call are proven by a scope's patterns. */
export function provesArguments(
  scope: ArgumentsScope,
  action: Action,
  origins: PathOrigins,
): boolean {
  if (!isToolAction(action) || action.name !== scope.name || action.meta.server !== scope.server)
    return false;
  let matches: MapTest;
  try {
    matches = parseArguments(spotOf(scope.args, ["args"]), {
      grants: true,
      read: readingsOf,
      origins,
    });
  } catch {
    return false; // what is no pattern covers nothing
  }
  return matches(action.args);
}
