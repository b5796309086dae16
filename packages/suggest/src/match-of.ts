/**
 * Matches: the `match` of a suggested rule, from the shape of the calls that it is about and what
 * their arguments have in common, and what the rule covers, in words. Pure.
 */
import { isShellAction, isToolAction, quoteText } from "@acp/core";
import type { Action, JsonObject, JsonValue } from "@acp/core";
import type { PathOrigins } from "@acp/core/policy";
import { hasWildcard } from "@acp/core/unstable";
import { leavesOf } from "./leaves.js";
import type { Leaf } from "./leaves.js";
import { narrow } from "./narrow.js";
import type { CallShape } from "./shape.js";
import { traitOf } from "./traits.js";
import type { Trait } from "./traits.js";

/** What a rule covers of one argument. */
export interface RuleCover {
  /**
   * The argument's name, with dots where it is nested; `…` stands for all arguments that the rule
   * does not name.
   */
  readonly argument: string;
  /** Which values the rule covers, in words. */
  readonly what: string;
  /**
   * How many different values occurred in at most 2,000 calls; absent where there were none to see.
   */
  readonly seen?: number;
}

/** A match, with what it means. */
export interface MatchDraft {
  readonly match: JsonObject;
  readonly covers: readonly RuleCover[];
  /** Arguments whose pattern depends on the working directory of whoever judges. */
  readonly relative: readonly (readonly string[])[];
}

/** Why there is no match, and the argument that stands in the way. */
export interface NoMatch {
  readonly problem: string;
  readonly at?: readonly string[];
}

/** What matches are made from. */
export interface DraftContext {
  readonly shape: CallShape;
  readonly isReading: boolean;
  readonly origins: PathOrigins;
}

/** The arguments of tool calls; of whatever else, none. */
export const argumentsOf = (action: Action): JsonObject =>
  isToolAction(action) ? action.args : {};

/**
 * The narrowest match that covers the actions, which are all of the one shape, for a rule that
 * allows them.
 */
export function allowDraft(
  actions: readonly Action[],
  { shape, isReading, origins }: DraftContext,
): MatchDraft | NoMatch {
  if (!isNamable(shape)) return { problem: "its name would be read as a pattern" };
  if (shape.kind !== "tool")
    return { match: shapeMatch(shape), covers: shapeCovers(shape), relative: [] };
  const leaves = leavesOf(actions.map(argumentsOf));
  if (leaves === undefined) return { problem: "it has too many arguments" };
  const args = new Map<string, JsonValue>();
  const covers: RuleCover[] = [];
  const relative: (readonly string[])[] = [];
  for (const leaf of leaves) {
    const name = nameOf(leaf);
    const found =
      name === undefined
        ? { problem: "its name has a dot" }
        : narrow(leaf, traitOf(leaf, isReading), { origins, grants: true });
    if ("problem" in found || name === undefined)
      return {
        problem: `argument ${leaf.path.join(".")}: ${"problem" in found ? found.problem : ""}`,
        at: leaf.path,
      };
    if (found.pattern !== undefined) args.set(name, found.pattern);
    if (found.isRelative === true) relative.push(leaf.path);
    covers.push({ argument: name, what: found.covers, seen: leaf.values.length });
  }
  const rest = { argument: "…", what: "every other argument, whatever its value" };
  return {
    match: { ...shapeMatch(shape), ...(args.size === 0 ? {} : { args: Object.fromEntries(args) }) },
    covers: [...covers, rest],
    relative,
  };
}

/**
 * A match for a rule that denies the actions.
 *
 * @param isWhole - Whether nothing of the shape was ever approved: then the rule may be about all
 *   of it.
 */
export function denyDraft(
  actions: readonly Action[],
  context: DraftContext,
  isWhole: boolean,
): MatchDraft | NoMatch {
  const { shape } = context;
  if (!isNamable(shape)) return { problem: "its name would be read as a pattern" };
  if (shape.kind === "shell") return denyCommands(actions, shape.program);
  if (isWhole || shape.kind === "http")
    return { match: shapeMatch(shape), covers: shapeCovers(shape), relative: [] };
  const telling = (leavesOf(actions.map(argumentsOf)) ?? []).flatMap((leaf) =>
    tellingPart(leaf, context),
  );
  // What is written somewhere tells less than where: a text is in it only where nothing else is.
  const places = telling.filter(({ trait }) => trait !== "free");
  const parts = places.length > 0 ? places : telling;
  if (parts.length === 0)
    return { problem: "nothing distinguishes what was denied from what was approved" };
  return {
    match: {
      ...shapeMatch(shape),
      args: Object.fromEntries(parts.map(({ name, pattern }) => [name, pattern])),
    },
    covers: parts.map(({ name, leaf, what }) => ({
      argument: name,
      what,
      seen: leaf.values.length,
    })),
    relative: parts.flatMap(({ leaf, isRelative }) => (isRelative ? [leaf.path] : [])),
  };
}

interface TellingPart {
  readonly name: string;
  readonly leaf: Leaf;
  readonly trait: Trait;
  readonly pattern: JsonValue;
  readonly what: string;
  readonly isRelative: boolean;
}

/**
 * What an argument says about calls that were denied; nothing where it could have said anything.
 */
function tellingPart(leaf: Leaf, { isReading, origins }: DraftContext): readonly TellingPart[] {
  const [name, trait] = [nameOf(leaf), traitOf(leaf, isReading)];
  const found = name === undefined ? undefined : narrow(leaf, trait, { origins, grants: false });
  if (
    name === undefined ||
    found === undefined ||
    "problem" in found ||
    found.pattern === undefined ||
    found.width === "any"
  )
    return [];
  return [
    {
      name,
      leaf,
      trait,
      pattern: found.pattern,
      what: found.covers,
      isRelative: found.isRelative === true,
    },
  ];
}

function denyCommands(actions: readonly Action[], program: string): MatchDraft | NoMatch {
  const commands = [
    ...new Set(actions.flatMap((action) => (isShellAction(action) ? [action.args] : []))),
  ];
  const [only, ...more] = commands;
  const start = `${program} `;
  if (only !== undefined && more.length === 0 && !hasWildcard(only))
    return {
      match: { kind: "shell", args: only },
      covers: [{ argument: "command", what: "this very command", seen: 1 }],
      relative: [],
    };
  if (program === "" || !commands.every((command) => command.startsWith(start)))
    return { problem: "its commands have no beginning in common" };
  const what = `every command that begins with ${quoteText(start)}`;
  return {
    match: { kind: "shell", args: `${start}*` },
    covers: [{ argument: "command", what, seen: commands.length }],
    relative: [],
  };
}

/**
 * The dotted name of an argument, as a rule writes it; `undefined` where it could be read as
 * another one.
 */
function nameOf({ path }: Leaf): string | undefined {
  return path.some((key) => key === "" || key === "__proto__" || key.includes("."))
    ? undefined
    : path.join(".");
}

/**
 * Whether the names of a shape can stand in a rule for themselves; what else a pattern refuses, its
 * parser says.
 */
function isNamable(shape: CallShape): boolean {
  if (shape.kind === "tool") return !hasWildcard(shape.server) && !hasWildcard(shape.tool);
  return shape.kind === "shell" || !hasWildcard(shape.method);
}

function shapeMatch(shape: CallShape): JsonObject {
  switch (shape.kind) {
    case "tool":
      return { server: shape.server, tool: shape.tool };
    case "http":
      return { kind: "http", host: shape.host, port: shape.port, method: shape.method };
    case "shell":
      return { kind: "shell" };
    default:
      return shape satisfies never;
  }
}

function shapeCovers(shape: CallShape): readonly RuleCover[] {
  if (shape.kind !== "http") return [{ argument: "…", what: "every argument, whatever its value" }];
  if (shape.method === "CONNECT")
    return [{ argument: "tunnel", what: "everything that is sent through it, to any path" }];
  return [
    {
      argument: "url",
      what: "every path and query at this host and port, with every header and body",
    },
  ];
}
