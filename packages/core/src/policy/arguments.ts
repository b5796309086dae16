/**
 * Arguments: what a rule says about a tool's arguments or a command's text. A rule that allows
 * needs proof: every value it names is there and matches. A rule that asks or denies needs one
 * hint. Format: spec/policy.md §4. Vectors: spec/vectors/rules.json.
 */
import { isJsonList, isJsonObject } from "../json/value.js";
import type { JsonObject, JsonValue } from "../json/value.js";
import { GLOB_CHARS_MAX } from "../limits.js";
import { hasWildcard } from "./glob.js";
import type { TextTest } from "./glob.js";
import { PATH_PATTERN_SCHEMA, parsePathPattern } from "./path.js";
import type { PathStance } from "./path.js";
import { parseGlob } from "./pattern.js";
import { FOLDS, isPlain, readingsOf } from "./readings.js";
import { allOf, attempt, readWhole, shapeOf, text as textShape } from "./shape.js";
import type { Outcome, Shape } from "./shape.js";
import { describe, invalid, readMap } from "./spot.js";
import type { Spot } from "./spot.js";
import { compileStance } from "./stance.js";

/**
 * How a rule reads what it looks at. Where it `grants`, what is missing, odd or unknown does not
 * match; for `ask` and `deny` it does.
 */
export interface Stance extends PathStance {
  /** Gets the test of each path pattern. */
  readonly onPath?: (test: TextTest) => void;
}

/** Tells whether a map of arguments matches; `undefined` is a map that is not there. */
export type MapTest = (map: JsonObject | undefined) => boolean;

/** Tells whether one value matches; `undefined` is a value that is not there. */
type ValueTest = (value: JsonValue | undefined) => boolean;

const EVERYWHERE = "/**";

/** What a glob over arguments or a command may be. */
export const GLOB_SCHEMA: JsonObject = textShape(GLOB_CHARS_MAX).schema;

/**
 * Reads the one glob over a command's text. A wildcard allows only plain words: `git *` is no yes
 * to `git status; reboot`.
 */
export function parseCommand(
  spot: Spot,
  stance: Stance,
): (command: string, isWords: boolean) => boolean {
  const matches = parseGlob(spot, GLOB_CHARS_MAX, stance);
  const needsPlain = stance.grants && typeof spot.value === "string" && hasWildcard(spot.value);
  return (command, isWords) => (isWords || !needsPlain) && matches(command);
}

/** A reference to {@link ARGUMENTS_SCHEMA}: patterns nest, so that every schema of them names it. */
const ARGUMENTS_REF: JsonObject = { $ref: "#/$defs/arguments" };

const pathPattern: Shape<TextTest, Stance> = shapeOf(PATH_PATTERN_SCHEMA, pathTest);

/** Whether a map is a path pattern and not a map of arguments. */
const isPath = (map: JsonObject): boolean =>
  typeof map["path"] === "string" && Object.keys(map).length === 1;

const PATH_ONLY = {
  type: "object",
  properties: { path: { type: "string" } },
  required: ["path"],
  maxProperties: 1,
};

/** What `#/$defs/arguments` is in the schema of a policy. */
export const ARGUMENTS_SCHEMA: JsonObject = {
  type: "object",
  minProperties: 1,
  additionalProperties: {
    anyOf: [
      GLOB_SCHEMA,
      { type: "number", minimum: -Number.MAX_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
      { type: "boolean" },
      { ...PATH_ONLY, properties: { path: PATH_PATTERN_SCHEMA } },
      { ...ARGUMENTS_REF, not: PATH_ONLY },
    ],
  },
};

/** A map of argument patterns. */
export const argumentMap: Shape<MapTest, Stance> = {
  schema: ARGUMENTS_REF,
  read(spot, stance) {
    const entries = attempt(spot, () => {
      const found = readMap(spot);
      if (found.size === 0)
        throw invalid(spot, "the map is empty; leave the key out for any arguments");
      return found;
    });
    if (entries.mistakes !== undefined) return entries;
    const outcome = allOf(keyTests(entries.value, stance));
    if (outcome.mistakes !== undefined) return outcome;
    const [first, ...more] = outcome.value;
    if (first !== undefined && more.length === 0) return { value: first };
    return { value: (map) => outcome.value.every((test) => test(map)) };
  },
};

function* keyTests(
  entries: ReadonlyMap<string, Spot>,
  stance: Stance,
): Generator<Outcome<MapTest>> {
  for (const [key, entry] of entries) {
    const test = readValue(entry, stance);
    yield test.mistakes === undefined ? { value: keyTest(key, test.value, stance) } : test;
  }
}

/** Reads a map of argument patterns. */
export function parseArguments(spot: Spot, stance: Stance): MapTest {
  return readWhole(argumentMap, spot, stance);
}

function readValue(spot: Spot, stance: Stance): Outcome<ValueTest> {
  const { value } = spot;
  if (!isJsonObject(value)) return attempt(spot, () => leafTest(parseLeaf(spot, stance), stance));
  if (isPath(value)) {
    const test = pathPattern.read(
      { ...spot, value: value["path"] ?? null, path: [...spot.path, "path"] },
      stance,
    );
    return test.mistakes === undefined ? { value: leafTest(test.value, stance) } : test;
  }
  const inner = argumentMap.read(spot, stance);
  return inner.mistakes === undefined ? { value: nested(inner.value, stance) } : inner;
}

function parseLeaf(spot: Spot, stance: Stance): TextTest {
  const { value } = spot;
  if (typeof value === "number" || typeof value === "boolean")
    return compileStance(jsonText(spot, value), stance);
  if (typeof value === "string") return parseGlob(spot, GLOB_CHARS_MAX, stance);
  throw invalid(spot, `expected a glob, a map or { path: … }, got ${describe(value)}`);
}

function nested(matches: MapTest, { grants }: Stance): ValueTest {
  return grants ? (value) => provesMap(value, matches) : (value) => hintsMap(value, matches);
}

function jsonText(spot: Spot, value: number | boolean): string {
  const exact =
    typeof value === "boolean" ||
    (Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value)));
  if (!exact)
    throw invalid(spot, `the number ${value} is not exact; write it as a string, in quotes`);
  return JSON.stringify(value);
}

function pathTest(spot: Spot, stance: Stance): TextTest {
  const matches = parsePathPattern(spot, stance);
  stance.onPath?.(matches);
  const everywhere = spot.value === EVERYWHERE;
  return (text) => (text === "" ? everywhere : matches(text)); // nothing names no place
}

function leafTest(matches: TextTest, { grants }: Stance): ValueTest {
  return grants ? (value) => proves(value, matches) : (value) => hints(value, matches);
}

/** For an allow: a text, or a list of nothing but matching texts. */
function proves(value: JsonValue | undefined, matches: TextTest): boolean {
  if (typeof value === "string") return value !== "" && matches(value);
  if (isJsonList(value))
    return value.length > 0 && value.every((element) => proves(element, matches));
  return (
    (typeof value === "number" || typeof value === "boolean") && matches(JSON.stringify(value))
  );
}

/**
 * For ask and deny: one matching text anywhere inside, keys of maps included. What is missing, null
 * or empty is the empty text.
 */
function hints(value: JsonValue | undefined, matches: TextTest): boolean {
  if (typeof value === "string") return matches(value);
  if (value === undefined || value === null) return matches("");
  if (isJsonList(value))
    return value.length === 0 ? matches("") : value.some((element) => hints(element, matches));
  if (typeof value !== "object") return matches(JSON.stringify(value));
  const keys = Object.keys(value);
  return keys.length === 0
    ? matches("")
    : keys.some((key) => matches(key) || hints(value[key], matches));
}

function provesMap(value: JsonValue | undefined, matches: MapTest): boolean {
  if (isJsonList(value))
    return value.length > 0 && value.every((element) => provesMap(element, matches));
  return isJsonObject(value) && matches(value);
}

function hintsMap(value: JsonValue | undefined, matches: MapTest): boolean {
  if (isJsonList(value) && value.length > 0)
    return value.some((element) => hintsMap(element, matches));
  return matches(isJsonObject(value) ? value : undefined);
}

/**
 * A key with dots names both: the argument of that very name, and the one that the dots lead to.
 */
function keyTest(key: string, test: ValueTest, stance: Stance): MapTest {
  const [head, ...rest] = key.split(".");
  if (head === undefined || rest.length === 0) return atKey(key, test, stance);
  const follow: MapTest = stepTest([head, ...rest], test, stance);
  const literally = atKey(key, test, stance);
  if (!stance.grants) return (map) => follow(map) || literally(map);
  return (map) => {
    if (ownValue(map, key) === undefined) return follow(map);
    return literally(map) && (ownValue(map, head) === undefined || follow(map));
  };
}

/** `a.b.c` as `{ a: { b: { c: … } } }` would be read. */
function stepTest(
  [head = "", ...rest]: readonly string[],
  test: ValueTest,
  stance: Stance,
): MapTest {
  return atKey(
    head,
    rest.length === 0 ? test : nested(stepTest(rest, test, stance), stance),
    stance,
  );
}

/**
 * The argument `key`, and every other one whose name a server may read as `key`: all of them for an
 * allow, one for an ask or deny.
 */
function atKey(key: string, test: ValueTest, { grants }: Stance): MapTest {
  const isTwin = twinTest(key);
  return (map) => {
    if (map === undefined) return test(undefined);
    let isThere = false;
    for (const name in map) {
      if ((name !== key && !isTwin(name)) || !Object.hasOwn(map, name)) continue;
      if (name === key) isThere = true;
      if (test(map[name]) !== grants) return !grants;
    }
    return isThere ? grants : test(undefined);
  };
}

/** Whether another text has a reading in common with this one. */
function twinTest(text: string): TextTest {
  const own = readingsOf(text);
  return (other) => {
    if (own.isPlain && other.length !== text.length && isPlain(other)) return false;
    const theirs = readingsOf(other);
    return FOLDS.some((_, index) => theirs.of(index) === own.of(index));
  };
}

function ownValue(object: JsonObject | undefined, key: string): JsonValue | undefined {
  return object !== undefined && Object.hasOwn(object, key) ? object[key] : undefined;
}
