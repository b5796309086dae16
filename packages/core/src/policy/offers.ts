/**
 * Offers of a rule: what a yes to its question may also cover. Argument patterns are read as a rule
 * that allows reads them: what is not proven is not covered. Format: spec/policy.md §2.1.
 */
import type { Action, ActionKind } from "../action/action.js";
import { isToolAction } from "../action/action.js";
import type { ArgumentsScope, OfferTerms } from "../types/scope.js";
import type { ConsentError } from "../errors.js";
import { hostScope, siteScope, toolScope } from "../approval/offers.js";
import { isJsonObject } from "../json/value.js";
import type { JsonObject, JsonValue } from "../json/value.js";
import { GRANT_TTL_MS_MAX, NAME_CHARS_MAX, OFFERS_MAX } from "../limits.js";
import { quote } from "@acp/exec-safety/text";
import { argumentMap, parseArguments } from "./arguments.js";
import type { MapTest } from "./arguments.js";
import type { PathOrigins } from "./path.js";
import { idleWhere, neededWhere } from "./key-rules.js";
import { readingsOf } from "./readings.js";
import { optional, required, section } from "./section.js";
import { attempt, below, list, number, refined, textLike, word } from "./shape.js";
import type { Shape } from "./shape.js";
import { invalid, readMap, spotOf } from "./spot.js";
import type { Spot } from "./spot.js";

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
const ARGUMENTS: Covers = "arguments";

// The gate knows which action is at hand: nothing here makes a digest.
const CALL = { kind: "call" } as const;

/** The scope for an action, or `undefined` where there is none. */
type ScopeMaker = (action: Action) => OfferTerms["scope"] | undefined;

/** One offer of a rule. */
export interface Offer {
  readonly covers: Covers;
  /** The offer for an action, or `undefined` where there is none. */
  readonly make: (action: Action) => OfferTerms | undefined;
}

/** The patterns of an offer: as a grant keeps them, and compiled. */
interface Patterns {
  readonly args: JsonObject;
  readonly matches: MapTest;
}

const NO_PATTERNS: Patterns = { args: {}, matches: () => true };

const patterns: Shape<Patterns, PathOrigins> = {
  schema: argumentMap.schema,
  read(spot, origins) {
    const args = attempt(spot, () => absolute(spot, origins));
    if (args.mistakes !== undefined) return args;
    const absoluteSpot = { ...spot, value: args.value };
    const stance = { grants: true, read: readingsOf, origins };
    const matches = argumentMap.read(absoluteSpot, stance);
    if (matches.mistakes !== undefined) return matches;
    return { value: { args: args.value, matches: matches.value } };
  },
};

const sameKey = textLike(/^[^.]+$/, {
  charsMax: NAME_CHARS_MAX,
  problem: (key) => `${quote(key)} has a dot; "same" names arguments at the top`,
});

const offer: Shape<Offer, PathOrigins> = refined(
  section(
    {
      covers: required("covers", word(COVERS), "What the offer covers."),
      ttlS: required("ttl", number(TTL_S), "For how many seconds."),
      uses: optional("uses", number(USES), "How often. Default: as often as wanted in that time."),
      patterns: optional("args", patterns, "Arguments that are covered; for covers: arguments."),
      same: optional(
        "same",
        list(sameKey, { min: 1, problem: "the list is empty" }),
        "Arguments that keep the value of this call; for covers: arguments.",
      ),
    },
    [
      idleWhere({
        key: "covers",
        values: COVERS.filter((each) => each !== ARGUMENTS),
        keys: ["args", "same"],
        problem: (key) => `"${key}" is for an offer that covers arguments`,
      }),
      neededWhere(
        { key: "covers", value: ARGUMENTS },
        ["args", "same"],
        'an offer that covers arguments has "args", "same" or both; to cover every call write covers: tool',
      ),
    ],
    { missing: () => 'an offer has "covers" and "ttl"' },
  ),
  ({ covers, ttlS, uses, patterns: given = NO_PATTERNS, same = [] }, spot, origins) => {
    const at = same.findIndex((key) => Object.hasOwn(given.args, key) || key === "__proto__");
    if (at >= 0)
      throw invalid(
        below(below(spot, "same"), at),
        `${quote(same[at] ?? "")} is in "args" already, or cannot be an argument`,
      );
    const makers: Readonly<Record<Covers, ScopeMaker>> = {
      call: () => CALL,
      tool: toolScope,
      host: hostScope,
      site: siteScope,
      arguments: argumentsMaker(given, same, origins),
    };
    const scopeOf = makers[covers];
    const bounds = { ttlMs: Math.round(ttlS * 1_000), ...(uses === undefined ? {} : { uses }) };
    return {
      covers,
      make(action) {
        const scope = scopeOf(action);
        return scope === undefined ? undefined : { id: covers, scope, ...bounds };
      },
    };
  },
);

/** The list `offers` of a rule. */
export const offers: Shape<readonly Offer[], PathOrigins> = list(offer, {
  max: OFFERS_MAX,
  problem: `there are more than ${OFFERS_MAX} offers`,
});

/** What is wrong with offers at this spot that are for none of a rule's kinds of Action. */
export function idleOffers(
  spot: Spot,
  given: readonly Offer[],
  kinds: readonly ActionKind[],
): readonly ConsentError[] {
  return given.flatMap(({ covers }, at) =>
    KINDS[covers].some((kind) => kinds.includes(kind))
      ? []
      : [
          invalid(
            below(below(spot, at), "covers"),
            `${quote(covers)} is for ${KINDS[covers].join(" and ")} actions, which the rule's match excludes`,
          ),
        ],
  );
}

/**
 * Patterns as they stand in the rule, and for `same` the call's own values. A call that they do not
 * cover gets no such offer.
 */
function argumentsMaker(
  { args, matches }: Patterns,
  keys: readonly string[],
  origins: PathOrigins,
): ScopeMaker {
  return (action) => {
    if (!isToolAction(action) || !matches(action.args)) return undefined;
    const scopeOf = (whole: JsonObject): ArgumentsScope => ({
      kind: "arguments",
      server: action.meta.server,
      name: action.name,
      args: whole,
    });
    if (keys.length === 0) return scopeOf(args);
    const own = keys.flatMap((key): readonly (readonly [string, JsonValue])[] => {
      const pattern = exactPattern(action.args, key);
      return pattern === undefined ? [] : [[key, pattern]];
    });
    const scope = scopeOf({ ...args, ...Object.fromEntries(own) });
    // A value may be too long for a pattern, or hold what none can.
    return own.length === keys.length && provesArguments(scope, action, origins)
      ? scope
      : undefined;
  };
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
  const found: [string, JsonValue][] = [];
  for (const [key, entry] of readMap(spot)) {
    const inner = isJsonObject(entry.value) ? readMap(entry) : undefined;
    const path = inner?.size === 1 ? inner.get("path") : undefined;
    if (path !== undefined && typeof path.value === "string")
      found.push([key, { path: absolutePath(path, path.value, origins) }]);
    else found.push([key, inner === undefined ? entry.value : absolute(entry, origins)]);
  }
  return Object.fromEntries(found);
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
