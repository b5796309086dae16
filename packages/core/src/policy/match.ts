/**
 * Match: the keys of a rule's `match`, compiled. Every key that is given must hold.
 * Format: spec/policy.md §3. Vectors: spec/vectors/rules.json.
 */
import { isHttpAction, isShellAction, isToolAction } from "../action.js";
import type { Action, ActionKind } from "../action.js";
import type { Category } from "../layers.js";
import { NAME_CHARS_MAX } from "../limits.js";
import { parseArguments, parseCommand } from "./arguments.js";
import type { Stance } from "./arguments.js";
import { compileGlob } from "./glob.js";
import type { TextTest } from "./glob.js";
import { parseHostPattern } from "./host-pattern.js";
import type { Classification } from "./policy.js";
import { invalid, readNumber, readObject, readOneOf, readText } from "./spot.js";
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
  readonly classify: (action: Action) => Classification;
}

const KINDS = ["tool", "http", "shell"] as const satisfies readonly ActionKind[];
const EVERYTHING = "*";
/** Every category. */
export const CATEGORIES: readonly Category[] = ["read", "write", "communication", "financial", "system", "public", "physical"];
const KEYS = ["kind", "tool", "category", "server", "name", "host", "method", "port", "args"] as const;
const PORT_MAX = 65_535;
/** Characters that open another glob dialect: in a name they would silently never match. */
const OTHER_DIALECT = /[[\]{}()|\\^$]|^!/;

type Key = (typeof KEYS)[number];
type Entries = ReadonlyMap<string, Spot>;

/** Keys that only one kind of Action has. */
const KIND_OF: Partial<Record<Key, ActionKind>> = { tool: "tool", server: "tool", host: "http", method: "http", port: "http" };

/** Compiles the match at `spot`. */
export function parseMatch(spot: Spot, context: MatchContext): Match {
  const entries = readObject(spot, KEYS);
  if (entries.size === 0) throw invalid(spot, 'the match is empty; write kind: "*" for everything');
  const kinds = parseKinds(spot, entries);
  const names = [...nameTests(entries, context)];
  const contents = [...contentTests(entries, context.stance)];
  return { kinds, byName: all(names), byContent: all(contents) };
}

function all(tests: readonly ActionTest[]): ActionTest {
  const [first, ...more] = tests;
  if (first === undefined) return () => true;
  return more.length === 0 ? first : (action) => tests.every((test) => test(action));
}

function parseKinds(spot: Spot, entries: Entries): readonly ActionKind[] {
  const kind = entries.get("kind");
  const named = kind === undefined ? EVERYTHING : readOneOf(kind, [...KINDS, EVERYTHING]);
  let kinds: readonly ActionKind[] = KINDS.filter((each) => named === EVERYTHING || named === each);
  for (const [key, entry] of entries) {
    const only = kindOf(key, entry);
    if (only === undefined) continue;
    kinds = kinds.filter((each) => each === only);
    if (kinds.length === 0) throw invalid(entry, `"${key}" is for ${only} actions, which the rest of the match excludes`, { part: "key" });
  }
  if (entries.size === 1 && entries.has("args") && kinds.length > 1) throw invalid(spot, `"args" alone says nothing about what it belongs to`);
  return kinds;
}

function kindOf(key: string, entry: Spot): ActionKind | undefined {
  if (key === "args") return typeof entry.value === "string" ? "shell" : "tool";
  return KIND_OF[key as Key]; // readObject let only known keys through
}

function* nameTests(entries: Entries, { stance, classify }: MatchContext): Generator<ActionTest> {
  const tool = entries.get("tool");
  if (tool !== undefined) yield nameTest(parseName(tool, stance), stance);
  const name = entries.get("name");
  if (name !== undefined) yield nameTest(parseName(name, stance), stance);
  const category = entries.get("category");
  if (category !== undefined) {
    const wanted = readOneOf(category, CATEGORIES);
    yield (action) => classify(action).category === wanted;
  }
}

/** A shell text that is more than plain words has no name: no allow knows it, every ask and deny must reckon with it. */
function nameTest(matches: TextTest, { grants }: Stance): ActionTest {
  return ({ name }) => (name === "" ? !grants : matches(name));
}

function parseName(spot: Spot, { fold }: Stance): TextTest {
  const pattern = readText(spot, NAME_CHARS_MAX);
  if (OTHER_DIALECT.test(pattern)) throw invalid(spot, `${JSON.stringify(pattern)}: a name pattern knows "*" and "?" only`);
  return compileGlob(pattern, fold);
}

function* contentTests(entries: Entries, stance: Stance): Generator<ActionTest> {
  const server = entries.get("server");
  if (server !== undefined) {
    const matches = parseName(server, stance);
    yield (action) => isToolAction(action) && matches(action.meta.server);
  }
  const port = entries.get("port");
  if (port !== undefined) {
    const wanted = readNumber(port, { min: 1, max: PORT_MAX, whole: true });
    yield (action) => isHttpAction(action) && action.meta.port === wanted;
  }
  const method = entries.get("method");
  if (method !== undefined) {
    const matches = compileGlob(readText(method, NAME_CHARS_MAX).toUpperCase());
    yield (action) => isHttpAction(action) && matches(action.meta.method);
  }
  const host = entries.get("host");
  if (host !== undefined) {
    const matches = parseHostPattern(host);
    yield (action) => isHttpAction(action) && matches(action.meta.host);
  }
  const args = entries.get("args");
  if (args !== undefined) yield argsTest(args, stance);
}

function argsTest(spot: Spot, stance: Stance): ActionTest {
  if (typeof spot.value === "string") {
    const matches = parseCommand(spot, stance);
    return (action) => isShellAction(action) && matches(action.args, action.name !== "");
  }
  const matches = parseArguments(spot, stance);
  return (action) => isToolAction(action) && matches(action.args);
}
