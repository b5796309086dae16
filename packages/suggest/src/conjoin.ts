/**
 * Conjoining: a suggested rule made part of the rule that asks now. INVARIANT: whatever a conjoined
 * match covers, the asking rule matches too; so in front of that rule the suggestion answers
 * questions and nothing else. It can lift no deny, whatever stands around it. Pure.
 */
import { isJsonObject } from "@acp/core";
import type { JsonObject, JsonValue } from "@acp/core";
import type { PathOrigins } from "@acp/core/policy";
import { askMatches, hasWildcard, normalizePath } from "@acp/core/unstable";

/** The asking rule's keys that narrow a rule; the others say how it asks. */
const KEPT = ["conditions", "rate_limit"] as const;

/** A rule's data, from its match and its effect. */
export interface RuleDraft {
  readonly match: JsonObject;
  readonly effect: "allow" | "deny";
}

/**
 * The rule as policy data: what the draft covers of what the asking rule asks about. `undefined`
 * where no single match can say that.
 *
 * @param asking - Data of the rule that asks; `undefined` where the default does.
 */
export function conjoin(
  draft: RuleDraft,
  asking: JsonObject | undefined,
  origins: PathOrigins,
): JsonObject | undefined {
  const { match, effect } = draft;
  if (asking === undefined) return { match, action: effect };
  const theirs = isJsonObject(asking["match"]) ? asking["match"] : {};
  const joined = joinArguments(match["args"], theirs["args"], origins);
  if (joined === undefined) return undefined;
  const { args } = joined;
  const own = Object.entries(match).filter(([key]) => key !== "args");
  // The draft names tool, server, host, method and port as they are, so whatever it allows has the
  // name and category that the calls had. A deny also reaches names in another case, which may be
  // of another category.
  const added =
    effect === "allow" && match["kind"] !== "shell"
      ? []
      : ["name", "category"].flatMap((key) => pick(theirs, key));
  const kept = KEPT.filter((key) => effect === "allow" || key !== "rate_limit").flatMap((key) =>
    pick(asking, key),
  );
  return {
    match: { ...Object.fromEntries([...own, ...added]), ...(args === undefined ? {} : { args }) },
    action: effect,
    ...Object.fromEntries(kept),
  };
}

function pick(map: JsonObject, key: string): readonly (readonly [string, JsonValue])[] {
  const value = Object.hasOwn(map, key) ? map[key] : undefined;
  return value === undefined ? [] : [[key, value]];
}

interface Joined {
  /** Left out where neither says anything about arguments. */
  readonly args?: JsonValue;
}

/** Both patterns over the arguments as one; `undefined` where one key would need two. */
function joinArguments(
  ours: JsonValue | undefined,
  theirs: JsonValue | undefined,
  origins: PathOrigins,
): Joined | undefined {
  const either = ours ?? theirs;
  if (ours === undefined || theirs === undefined)
    return either === undefined ? {} : { args: either };
  if (typeof ours === "string" && typeof theirs === "string")
    return isImplied(ours, theirs, origins) ? { args: ours } : undefined;
  // arguments of a tool, and a command
  if (!isJsonObject(ours) || !isJsonObject(theirs)) return undefined;
  const joined = new Map(Object.entries(ours));
  for (const [key, pattern] of Object.entries(theirs)) {
    const own = joined.get(key);
    if (own === undefined) joined.set(key, pattern);
    else if (!isImplied(own, pattern, origins)) return undefined;
  }
  return { args: Object.fromEntries(joined) };
}

/**
 * Whether whatever our pattern covers, theirs does, as a rule that asks reads it. When in doubt,
 * no.
 */
function isImplied(ours: JsonValue, theirs: JsonValue, origins: PathOrigins): boolean {
  if (theirs === "*" || JSON.stringify(ours) === JSON.stringify(theirs)) return true;
  const ourPath = pathOf(ours);
  const theirPath = pathOf(theirs);
  if (ourPath !== undefined)
    return theirPath !== undefined && liesBelow(ourPath, theirPath, origins);
  const value = textOf(ours);
  if (value === undefined || hasWildcard(value)) return false;
  if (theirPath !== undefined) return liesIn(value, theirPath, origins);
  const pattern = textOf(theirs);
  return pattern !== undefined && askMatches(pattern, value);
}

function textOf(pattern: JsonValue): string | undefined {
  if (typeof pattern === "string") return pattern;
  return typeof pattern === "number" || typeof pattern === "boolean"
    ? JSON.stringify(pattern)
    : undefined;
}

function pathOf(pattern: JsonValue): string | undefined {
  if (!isJsonObject(pattern) || Object.keys(pattern).length !== 1) return undefined;
  return typeof pattern["path"] === "string" ? pattern["path"] : undefined;
}

// The working directory of the gate is not known here: what starts there can be compared with what
// starts there, and with nothing else.
const isRelative = (path: string): boolean => !/^[/~]/.test(path);

/** Whether one value lies where a path pattern says. */
function liesIn(value: string, pattern: string, origins: PathOrigins): boolean {
  if (isRelative(value) !== isRelative(pattern) || (isRelative(value) && value.includes("..")))
    return false;
  return (
    normalizePath(value, origins) !== undefined && askMatches({ path: pattern }, value, origins)
  );
}

/** Whether a path pattern is about part of what is below another one's directory. */
function liesBelow(ours: string, theirs: string, origins: PathOrigins): boolean {
  const above = /^([^*?]*)\/\*\*$/.exec(theirs)?.[1];
  if (above === undefined || isRelative(ours) !== isRelative(theirs)) return false;
  const fixed = ours.slice(0, Math.max(0, ours.search(/[^/]*[*?]/)));
  const [outer, inner] = [
    normalizePath(above === "" ? "/" : above, origins),
    normalizePath(fixed === "" ? "." : fixed, origins),
  ];
  return (
    outer !== undefined &&
    inner !== undefined &&
    outer.every((segment, index) => inner[index] === segment)
  );
}
