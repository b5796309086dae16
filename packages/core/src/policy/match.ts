/**
 * Match: the keys of a rule's `match`, compiled. Every key that is given must hold.
 * Format: spec/policy.md §3. Vectors: spec/vectors/rules.json.
 */
import { isHttpAction, isShellAction, isToolAction } from "../action/action.js";
import type { Action, ActionKind } from "../action/action.js";
import { CATEGORIES } from "../types/words.js";
import { NAME_CHARS_MAX } from "../limits.js";
import { quote } from "@acp/exec-safety/text";
import { parseArguments, parseCommand } from "./arguments.js";
import type { Stance } from "./arguments.js";
import { leavesMachine } from "./egress.js";
import type { TextTest } from "./glob.js";
import { hostPatternTrap, parseHostPattern } from "./host-pattern.js";
import { oddityOf } from "./odd-characters.js";
import { parseGlob } from "./pattern.js";
import type { Classifier } from "./classify.js";
import type { Classification } from "./policy.js";
import { invalid, printPath, readMap, readNumber, readOneOf } from "./spot.js";
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
}

/** What reading a match needs. */
export interface MatchContext {
  readonly stance: Stance;
  readonly classify: Classifier;
  /** Takes what loads but deserves a look. */
  readonly warn: (warning: string) => void;
}

const KINDS = ["tool", "http", "shell"] as const satisfies readonly ActionKind[];
const EVERYTHING = "*";
/** A name pattern that names nothing. */
const EVERY_NAME = /^[*?]*$/;
const KEYS = [
  "kind",
  "tool",
  "category",
  "server",
  "name",
  "host",
  "method",
  "port",
  "args",
] as const;
const PORT_MAX = 65_535;
/** What opens another glob dialect: in a name it would silently never match. */
const OTHER_DIALECT = /[[\]{}()|\\^]|^!/;
const METHOD_PATTERN = /^[A-Z0-9*?_-]+$/;

/** Keys that only one kind of Action has. */
const KIND_OF: ReadonlyMap<string, ActionKind> = new Map([
  ["tool", "tool"],
  ["server", "tool"],
  ["host", "http"],
  ["method", "http"],
  ["port", "http"],
]);

type Entries = ReadonlyMap<string, Spot>;

/** Compiles the match at `spot`. */
export function parseMatch(spot: Spot, context: MatchContext): Match {
  const entries = readMap(spot, KEYS);
  if (entries.size === 0) throw invalid(spot, 'the match is empty; write kind: "*" for everything');
  const kinds = parseKinds(entries);
  const names = [...nameTests(entries, context)];
  const contents = [...contentTests(entries, context)];
  return { kinds, byName: all(names), byContent: all(contents) };
}

function all(tests: readonly ActionTest[]): ActionTest {
  const [first, ...more] = tests;
  if (first === undefined) return () => true;
  return more.length === 0 ? first : (action) => tests.every((test) => test(action));
}

function parseKinds(entries: Entries): readonly ActionKind[] {
  const kind = entries.get("kind");
  const named = kind === undefined ? EVERYTHING : readOneOf(kind, [...KINDS, EVERYTHING]);
  let kinds: readonly ActionKind[] = KINDS.filter((each) => named === EVERYTHING || named === each);
  for (const [key, entry] of entries) {
    const only =
      key === "args" ? (typeof entry.value === "string" ? "shell" : "tool") : KIND_OF.get(key);
    if (only === undefined) continue;
    kinds = kinds.filter((each) => each === only);
    if (kinds.length === 0) {
      throw invalid(
        entry,
        `${printKey(key, entry)} is for ${only} actions, which the rest of the match excludes`,
        { part: "key" },
      );
    }
  }
  return kinds;
}

function printKey(key: string, { value }: Spot): string {
  if (key !== "args") return `"${key}"`;
  return typeof value === "string" ? '"args" as one glob' : '"args" as a map';
}

function* nameTests(entries: Entries, context: MatchContext): Generator<ActionTest> {
  const { stance, classify } = context;
  const tool = entries.get("tool");
  if (tool !== undefined) yield nameTest(parseName(tool, context), stance);
  const name = entries.get("name");
  if (name !== undefined) yield nameTest(parseName(name, context), stance);
  const category = entries.get("category");
  if (category !== undefined) {
    const wanted = readOneOf(category, CATEGORIES);
    const isWanted = ({ category: found }: Classification): boolean => found === wanted;
    yield stance.grants
      ? (action) => classify(action).every(isWanted)
      : (action) => classify(action).some(isWanted);
  }
}

/**
 * A shell text that is more than plain words has no name: no allow knows it, every ask and deny
 * must reckon with it.
 */
function nameTest(matches: TextTest, { grants }: Stance): ActionTest {
  return ({ name }) => (name === "" ? !grants : matches(name));
}

/** Compiles the name pattern at `spot`. */
export function parseName(
  spot: Spot,
  { stance, warn }: Pick<MatchContext, "stance" | "warn">,
): TextTest {
  const { value } = spot;
  const odd = typeof value === "string" ? oddityOf(value) : undefined;
  if (odd !== undefined && typeof value === "string")
    warn(`${printPath(spot.path)}: the pattern ${quote(value)} ${odd}`);
  if (typeof value === "string" && OTHER_DIALECT.test(value))
    throw invalid(
      spot,
      `${quote(value)} is no name pattern; it knows "*" and "?" only, and "?" stands for any character`,
    );
  return parseGlob(spot, NAME_CHARS_MAX, stance);
}

/** In the order of their cost: all of them must hold. */
function* contentTests(entries: Entries, context: MatchContext): Generator<ActionTest> {
  const { stance, warn } = context;
  const server = entries.get("server");
  if (server !== undefined) {
    const matches = parseName(server, context);
    yield (action) => isToolAction(action) && matches(action.meta.server);
  }
  const port = entries.get("port");
  if (port !== undefined) {
    const wanted = readNumber(port, { min: 1, max: PORT_MAX, whole: true });
    yield (action) => isHttpAction(action) && action.meta.port === wanted;
  }
  const method = entries.get("method");
  if (method !== undefined) {
    const matches = parseMethod(method);
    yield (action) => isHttpAction(action) && matches(action.meta.method);
  }
  const host = entries.get("host");
  if (host !== undefined) {
    const matches = parseHostPattern(host, stance);
    const trap =
      stance.grants && typeof host.value === "string" ? hostPatternTrap(host.value) : undefined;
    if (trap !== undefined) warn(`${printPath(host.path)}: ${trap}`);
    yield (action) => isHttpAction(action) && matches(action.meta.host);
  }
  const args = entries.get("args");
  if (args !== undefined) yield argsTest(args, stance);
  if (stance.grants && entries.has("category")) yield staysOrIsNamed(entries, warn);
}

/**
 * A category is a guess: an allow by it covers what leaves this machine only where the rule names
 * the host or the tool as well.
 */
function staysOrIsNamed(entries: Entries, warn: (warning: string) => void): ActionTest {
  const [tool, host, category] = [
    entries.get("tool"),
    entries.get("host"),
    entries.get("category"),
  ];
  const namesTool = typeof tool?.value === "string" && !EVERY_NAME.test(tool.value);
  if (host !== undefined || namesTool) return () => true;
  if (category !== undefined && parseKinds(entries).every((kind) => kind === "http"))
    warn(
      `${printPath(category.path)} never matches: a category alone allows no request; name its host`,
    );
  return (action) => !leavesMachine(action);
}

function parseMethod(spot: Spot): TextTest {
  const { value } = spot;
  const upper: Spot = typeof value === "string" ? { ...spot, value: value.toUpperCase() } : spot;
  if (typeof upper.value === "string" && upper.value !== "" && !METHOD_PATTERN.test(upper.value))
    throw invalid(spot, `${quote(upper.value)} is no method; write one rule for each`);
  return parseGlob(upper, NAME_CHARS_MAX);
}

function argsTest(spot: Spot, stance: Stance): ActionTest {
  if (typeof spot.value === "string") {
    const matches = parseCommand(spot, stance);
    return (action) => isShellAction(action) && matches(action.args, action.name !== "");
  }
  const matches = parseArguments(spot, stance);
  return (action) => isToolAction(action) && matches(action.args);
}
