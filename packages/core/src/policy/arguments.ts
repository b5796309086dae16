/**
 * Arguments: what a rule says about a tool's arguments or a command's text.
 * A rule that allows needs proof: every value it names is there and matches. A rule that asks or denies needs one hint.
 * Format: spec/policy.md §4. Vectors: spec/vectors/rules.json.
 */
import type { JsonObject, JsonValue } from "../json/value.js";
import { GLOB_CHARS_MAX } from "../limits.js";
import { compileGlob, hasWildcard } from "./glob.js";
import type { Fold, TextTest } from "./glob.js";
import { normalizePath, parsePathPattern } from "./path.js";
import type { PathOrigins } from "./path.js";
import { describe, invalid, readObject, readText } from "./spot.js";
import type { Spot } from "./spot.js";

/** How a rule reads what it looks at. */
export interface Stance {
  /** True for `allow`: what is missing, odd or unknown does not match. For `ask` and `deny` it does. */
  readonly grants: boolean;
  /** Given for `ask` and `deny`, which case and composition of a text cannot dodge. */
  readonly fold?: Fold;
  readonly origins: PathOrigins;
}

/** Tells whether a value of the arguments matches; `undefined` is a value that is not there. */
export type ValueTest = (value: JsonValue | undefined) => boolean;

type MapTest = (object: JsonObject | undefined) => boolean;

const DEPTH_MAX = 64;
const EVERYWHERE = "/**";

/** Reads the one glob over a command's text. A wildcard allows only plain words: `git *` is not a yes to `git status; reboot`. */
export function parseCommand(spot: Spot, { grants, fold }: Stance): (command: string, plain: boolean) => boolean {
  const pattern = readText(spot, GLOB_CHARS_MAX);
  const matches = compileGlob(pattern, fold);
  const needsPlain = grants && hasWildcard(pattern);
  return (command, plain) => (plain || !needsPlain) && matches(command);
}

/** Reads a map of argument patterns. */
export function parseArguments(spot: Spot, stance: Stance, depth = 0): ValueTest {
  if (depth > DEPTH_MAX) throw invalid(spot, `the map is nested deeper than ${DEPTH_MAX}`);
  const entries = readObject(spot);
  if (entries.size === 0) throw invalid(spot, "the map is empty; leave the key out for any arguments");
  const tests = Array.from(entries, ([key, entry]) => keyTest(key, parseValue(entry, stance, depth + 1), stance));
  const matches: MapTest = (object) => tests.every((test) => test(object));
  return stance.grants ? (value) => provesMap(value, matches) : (value) => hintsMap(value, matches);
}

function parseValue(spot: Spot, stance: Stance, depth: number): ValueTest {
  const { value } = spot;
  if (typeof value === "number" || typeof value === "boolean") return leafTest(compileGlob(jsonText(spot, value), stance.fold), stance);
  if (typeof value === "string") return leafTest(compileGlob(readText(spot, GLOB_CHARS_MAX), stance.fold), stance);
  if (Array.isArray(value) || value === null || typeof value !== "object") throw invalid(spot, `expected a glob, a map or { path: … }, got ${describe(value)}`);
  const entries = readObject(spot);
  const path = entries.get("path");
  if (path === undefined || typeof path.value !== "string" || entries.size > 1) return parseArguments(spot, stance, depth);
  return leafTest(pathTest(path, stance), stance);
}

function jsonText(spot: Spot, value: number | boolean): string {
  const exact = typeof value === "boolean" || (Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value)));
  if (!exact) throw invalid(spot, `the number ${value} is not exact; write it as a text, in quotes`);
  return JSON.stringify(value);
}

function pathTest(spot: Spot, { grants, fold, origins }: Stance): TextTest {
  const matches = parsePathPattern(spot, origins, fold);
  const everywhere = spot.value === EVERYWHERE;
  return (text) => {
    if (text === "") return everywhere; // nothing names no place
    const segments = normalizePath(text, origins);
    return segments === undefined ? !grants : matches(segments);
  };
}

function leafTest(matches: TextTest, { grants }: Stance): ValueTest {
  return grants ? (value) => proves(value, matches) : (value) => hints(value, matches);
}

/** For an allow: a text, or a list of nothing but matching texts. */
function proves(value: JsonValue | undefined, matches: TextTest): boolean {
  if (typeof value === "string") return value !== "" && matches(value);
  if (isList(value)) return value.length > 0 && value.every((element) => proves(element, matches));
  return (typeof value === "number" || typeof value === "boolean") && matches(JSON.stringify(value));
}

/** For ask and deny: one matching text anywhere inside, keys of maps included. What is missing, null or empty is the empty text. */
function hints(value: JsonValue | undefined, matches: TextTest): boolean {
  if (typeof value === "string") return matches(value);
  if (value === undefined || value === null) return matches("");
  if (isList(value)) return value.length === 0 ? matches("") : value.some((element) => hints(element, matches));
  if (typeof value !== "object") return matches(JSON.stringify(value));
  const keys = Object.keys(value);
  return keys.length === 0 ? matches("") : keys.some((key) => matches(key) || hints(value[key], matches));
}

function provesMap(value: JsonValue | undefined, matches: MapTest): boolean {
  if (isList(value)) return value.length > 0 && value.every((element) => provesMap(element, matches));
  return isObject(value) && matches(value);
}

function hintsMap(value: JsonValue | undefined, matches: MapTest): boolean {
  if (isList(value) && value.length > 0) return value.some((element) => hintsMap(element, matches));
  return matches(isObject(value) ? value : undefined);
}

/** A key with dots names both: the key as it is written, and the way through nested maps. */
function keyTest(key: string, test: ValueTest, { grants }: Stance): MapTest {
  if (!key.includes(".")) return (object) => test(ownValue(object, key));
  const steps = key.split(".");
  return (object) => {
    const found = [ownValue(object, key), throughSteps(object, steps)].filter((value) => value !== undefined);
    if (found.length === 0) return test(undefined);
    return grants ? found.every(test) : found.some(test);
  };
}

function throughSteps(object: JsonObject | undefined, steps: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = object;
  for (const step of steps) value = isObject(value) ? ownValue(value, step) : undefined;
  return value;
}

function ownValue(object: JsonObject | undefined, key: string): JsonValue | undefined {
  return object !== undefined && Object.hasOwn(object, key) ? object[key] : undefined;
}

function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !isList(value);
}
