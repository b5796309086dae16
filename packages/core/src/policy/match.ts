/**
 * Match: the keys of a rule's `match`, compiled. Every key that is given must hold.
 * Format: spec/policy.md §3. Vectors: spec/vectors/rules.json.
 */
import { isHttpAction, isShellAction, isToolAction } from "../action/action.js";
import type { Action, ActionKind } from "../action/action.js";
import { CATEGORIES } from "../types/words.js";
import { isJsonObject } from "../json/value.js";
import type { JsonObject, JsonValue } from "../json/value.js";
import { NAME_CHARS_MAX } from "../limits.js";
import { quote } from "@acp/exec-safety/text";
import { anchorsOf } from "./anchors.js";
import type { Anchor } from "./anchors.js";
import { GLOB_SCHEMA, argumentMap, parseCommand } from "./arguments.js";
import type { Stance } from "./arguments.js";
import { leavesMachine } from "./egress.js";
import type { TextTest } from "./glob.js";
import { HOST_PATTERN_SCHEMA, hostPatternTrap, parseHostPattern } from "./host-pattern.js";
import { isServerStarted, namesRequests } from "../action/reserved.js";
import { oddityOf } from "./odd-characters.js";
import { parseGlob } from "./pattern.js";
import type { Classifier } from "./classify.js";
import type { Classification } from "./policy.js";
import { notEmpty } from "./key-rules.js";
import { optional, section } from "./section.js";
import type { KeyRule } from "./section.js";
import { attempt, below, number, refined, shapeOf, text, word } from "./shape.js";
import type { Shape } from "./shape.js";
import { invalid, printPath } from "./spot.js";
import type { Spot } from "./spot.js";

/** Tells whether an Action matches. */
export type ActionTest = (action: Action) => boolean;

/** A compiled `match`. */
export interface Match {
  readonly kinds: readonly ActionKind[];
  /** What can be said from the kind and the name alone, and therefore be remembered for a name. */
  readonly byName: ActionTest;
  /** The rest. */
  readonly byContent: ActionTest;
  /** What of the rest is the same for every call of a tool, whatever its arguments. */
  readonly byServer: ActionTest;
  /** Whether anything else of the rest counts. */
  readonly looksInside: boolean;
  /** What every action that it matches has; none where nothing can be said. */
  readonly anchors: readonly Anchor[];
}

/** What reading a name pattern needs. */
export interface NameContext {
  readonly stance: Stance;
  /** Takes what loads but deserves a look. */
  readonly warn: (warning: string) => void;
}

/** What reading a match needs. */
export interface MatchContext extends NameContext {
  readonly classify: Classifier;
}

const KINDS = ["tool", "http", "shell"] as const satisfies readonly ActionKind[];
const EVERYTHING = "*";
/** A name pattern that names nothing. */
const EVERY_NAME = /^[*?]*$/;
const PORT = { min: 1, max: 65_535, whole: true };
/** What opens another glob dialect: in a name it would silently never match. */
const OTHER_DIALECT = /[[\]{}()|\\^]|^!/;
const METHOD_PATTERN = /^[A-Z0-9*?_-]+$/;
/** The same before it is upper case, which makes ASCII of some other letters. */
const METHOD_SCHEMA_PATTERN = "^(?:[A-Za-z0-9*?_-]|[^\\u0000-\\u007f])+$";

/** Keys that only one kind of Action has; `args` is a map for tools and one glob for shell. */
const KEYS_OF: Readonly<Record<ActionKind, readonly string[]>> = {
  tool: ["tool", "server"],
  http: ["host", "method", "port"],
  shell: [],
};
const ARGS_TYPE: Readonly<Record<ActionKind, "object" | "string" | undefined>> = {
  tool: "object",
  http: undefined,
  shell: "string",
};

const nameText = text(NAME_CHARS_MAX);
/** A glob over a name. */
export const name: Shape<TextTest, NameContext> = shapeOf(
  { ...nameText.schema, not: { pattern: OTHER_DIALECT.source } },
  parseName,
);

const method: Shape<TextTest> = shapeOf(
  { ...nameText.schema, pattern: METHOD_SCHEMA_PATTERN },
  parseMethod,
);

const host: Shape<TextTest, MatchContext> = shapeOf(HOST_PATTERN_SCHEMA, parseHost);

const args: Shape<ActionTest, MatchContext> = {
  schema: { anyOf: [GLOB_SCHEMA, argumentMap.schema] },
  read(spot, { stance }) {
    if (typeof spot.value === "string")
      return attempt(spot, () => {
        const matches = parseCommand(spot, stance);
        return (action) => isShellAction(action) && matches(action.args, action.name !== "");
      });
    const map = argumentMap.read(spot, stance);
    if (map.mistakes !== undefined) return map;
    return { value: (action) => isToolAction(action) && map.value(action.args) };
  },
};

/** Keys of two kinds of Action match nothing. */
const oneKind: KeyRule = {
  check: (spot) => {
    const { excluded } = kindsOf(spot);
    if (excluded === undefined) return [];
    const [key, only] = excluded;
    return [
      invalid(
        below(spot, key),
        `${printKey(key, only)} is for ${only} actions, which the rest of the match excludes`,
        { part: "key" },
      ),
    ];
  },
  schema: { anyOf: KINDS.map(schemaOfKind) },
};

/** The match of actions of one kind: no key of another one. */
function schemaOfKind(kind: ActionKind): JsonObject {
  const others = KINDS.filter((each) => each !== kind).flatMap((each) => KEYS_OF[each]);
  const type = ARGS_TYPE[kind];
  return {
    properties: {
      kind: { enum: [kind, EVERYTHING] },
      args: type === undefined ? false : { type },
      ...Object.fromEntries(others.map((key) => [key, false])),
    },
  };
}

// In this order their warnings are told.
const keys = section(
  {
    kind: optional(
      "kind",
      word([...KINDS, EVERYTHING]),
      "The kind of action, or * for every kind.",
    ),
    tool: optional("tool", name, "Tools whose name, as the server knows it, the glob matches."),
    name: optional("name", name, "Actions whose name the glob matches: tool, method or program."),
    category: optional("category", word(CATEGORIES), "Actions of this category, which is a guess."),
    server: optional("server", name, "Tools of servers whose name the glob matches."),
    port: optional("port", number(PORT), "Requests to this port."),
    method: optional("method", method, "Requests whose method the glob matches, in any case."),
    host: optional("host", host, "Requests to hosts that the pattern matches."),
    args: optional("args", args, "Arguments of a tool as a map, or a command's text as one glob."),
  },
  [notEmpty('the match is empty; write kind: "*" for everything'), oneKind],
);

/** The map `match` of a rule. */
export const match: Shape<Match, MatchContext> = refined(keys, (given, spot, context) => {
  const { kinds } = kindsOf(spot);
  const { grants } = context.stance;
  const contents = [...contentTests(given)];
  if (grants && given.category !== undefined) contents.push(staysOrIsNamed(spot, kinds, context));
  const names = [...nameTests(given, context)];
  // What a server starts is allowed by its name, and never by what covers everything.
  const { tool, name: either } = isJsonObject(spot.value) ? spot.value : {};
  if (grants && !namesRequests(tool) && !namesRequests(either))
    names.push((action) => !isServerStarted(action));
  const looksInside = contents.length > (given.server === undefined ? 0 : 1);
  const anchors = isJsonObject(spot.value) ? anchorsOf(spot.value, context.stance.origins) : [];
  return {
    kinds,
    byName: all(names),
    byContent: all(contents),
    byServer: serverTest(given),
    looksInside,
    anchors,
  };
});

type Given = typeof keys extends Shape<infer T, MatchContext> ? T : never;

function all(tests: readonly ActionTest[]): ActionTest {
  const [first, ...more] = tests;
  if (first === undefined) return () => true;
  return more.length === 0 ? first : (action) => tests.every((test) => test(action));
}

/** The kinds that a match is for, and the first key that leaves none. */
function kindsOf({ value }: Spot): {
  readonly kinds: readonly ActionKind[];
  readonly excluded?: readonly [key: string, only: ActionKind];
} {
  const given = isJsonObject(value) ? value : {};
  const named = KINDS.find((kind) => kind === given["kind"]);
  let kinds: readonly ActionKind[] = named === undefined ? KINDS : [named];
  for (const [key, entry] of Object.entries(given)) {
    const only = kindOfKey(key, entry);
    if (only === undefined) continue;
    kinds = kinds.filter((each) => each === only);
    if (kinds.length === 0) return { kinds, excluded: [key, only] };
  }
  return { kinds };
}

function kindOfKey(key: string, value: JsonValue): ActionKind | undefined {
  if (key !== "args") return KINDS.find((kind) => KEYS_OF[kind].includes(key));
  return KINDS.find((kind) => ARGS_TYPE[kind] === typeof value && !Array.isArray(value));
}

function printKey(key: string, only: ActionKind): string {
  if (key !== "args") return `"${key}"`;
  return only === "shell" ? '"args" as one glob' : '"args" as a map';
}

function* nameTests(given: Given, { stance, classify }: MatchContext): Generator<ActionTest> {
  if (given.tool !== undefined) yield nameTest(given.tool, stance);
  if (given.name !== undefined) yield nameTest(given.name, stance);
  const { category: wanted } = given;
  if (wanted === undefined) return;
  const isWanted = ({ category: found }: Classification): boolean => found === wanted;
  yield stance.grants
    ? (action) => classify(action).every(isWanted)
    : (action) => classify(action).some(isWanted);
}

/**
 * A shell text that is more than plain words has no name: no allow knows it, every ask and deny
 * must reckon with it.
 */
function nameTest(matches: TextTest, { grants }: Stance): ActionTest {
  return (action) => (action.name === "" ? !grants : matches(action.name));
}

/** Compiles the name pattern at `spot`. */
export function parseName(spot: Spot, { stance, warn }: NameContext): TextTest {
  const { value } = spot;
  const odd = typeof value === "string" ? oddityOf(value) : undefined;
  if (odd !== undefined && typeof value === "string")
    warn(`${printPath(spot.path)}: the pattern ${quote(value)} ${odd}`);
  if (typeof value === "string" && OTHER_DIALECT.test(value))
    throw invalid(
      spot,
      `${quote(value)} is not a name pattern; it may have "*" and "?" only, and "?" stands for any character`,
    );
  return parseGlob(spot, NAME_CHARS_MAX, stance);
}

function serverTest({ server }: Given): ActionTest {
  return server === undefined
    ? () => true
    : (action) => isToolAction(action) && server(action.meta.server);
}

/** In the order of their cost: all of them must hold. */
function* contentTests(given: Given): Generator<ActionTest> {
  const { server, port, method: verb, host: place, args: parameters } = given;
  if (server !== undefined) yield serverTest(given);
  if (port !== undefined) yield (action) => isHttpAction(action) && action.meta.port === port;
  if (verb !== undefined) yield (action) => isHttpAction(action) && verb(action.meta.method);
  if (place !== undefined) yield (action) => isHttpAction(action) && place(action.meta.host);
  if (parameters !== undefined) yield parameters;
}

/**
 * A category is a guess: an allow by it covers what leaves this machine only where the rule names
 * the host or the tool as well.
 */
function staysOrIsNamed(
  spot: Spot,
  kinds: readonly ActionKind[],
  { warn }: MatchContext,
): ActionTest {
  const { tool, host: place } = isJsonObject(spot.value) ? spot.value : {};
  const namesTool = typeof tool === "string" && !EVERY_NAME.test(tool);
  if (place !== undefined || namesTool) return () => true;
  if (kinds.every((kind) => kind === "http"))
    warn(
      `${printPath(below(spot, "category").path)} never matches: a category alone allows no request; name its host`,
    );
  return (action) => !leavesMachine(action);
}

function parseHost(spot: Spot, { stance, warn }: MatchContext): TextTest {
  const matches = parseHostPattern(spot, stance);
  const trap =
    stance.grants && typeof spot.value === "string" ? hostPatternTrap(spot.value) : undefined;
  if (trap !== undefined) warn(`${printPath(spot.path)}: ${trap}`);
  return matches;
}

function parseMethod(spot: Spot): TextTest {
  const { value } = spot;
  const upper: Spot = typeof value === "string" ? { ...spot, value: value.toUpperCase() } : spot;
  if (typeof upper.value === "string" && upper.value !== "" && !METHOD_PATTERN.test(upper.value))
    throw invalid(spot, `${quote(upper.value)} is not a method; write one rule for each`);
  return parseGlob(upper, NAME_CHARS_MAX);
}
