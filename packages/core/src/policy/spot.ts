/**
 * Spots: a value of a policy (or of another file that people write) together with the place where
 * it stands, so that every complaint names path, line and column. Readers turn a spot into a typed
 * value or throw; nothing is coerced, nothing is ignored.
 */
import { ConsentError } from "../errors.js";
import type { ConsentErrorCode, TextPosition } from "../errors.js";
import { isJsonList, isJsonObject } from "../json/value.js";
import type { JsonValue } from "../json/value.js";
import { quote } from "@acp/exec-safety/text";
import { nearest } from "@acp/exec-safety/text";

/** One step down: an object's key or a list's index. */
export type Step = string | number;

/**
 * Finds the place of a value, or of its key, in the text that it was read from; `undefined` where
 * there is no text.
 */
export type Locate = (path: readonly Step[], part: "key" | "value") => TextPosition | undefined;

/** What is being read: its name in error texts, and the code of those errors. */
export interface Subject {
  /** Its name in error texts, e.g. `policy`. */
  readonly name: string;
  /** Code of the error that is thrown where it does not load. */
  readonly code: ConsentErrorCode;
}

/** The subject of policies. */
export const POLICY: Subject = { name: "policy", code: "policy_invalid" };

/** A value of a file that people write, and its place there, so that an error can name it. */
export interface Spot {
  /** What is being read. */
  readonly subject: Subject;
  /** The value as it was read. */
  readonly value: JsonValue;
  /** Keys and indexes that lead to it. */
  readonly path: readonly Step[];
  /** Finds its place in the text; returns `undefined` where there is no text. */
  readonly locate: Locate;
}

/** A policy's value that stands in no text. */
export function spotOf(value: JsonValue, path: readonly Step[]): Spot {
  return { subject: POLICY, value, path, locate: () => undefined };
}

/** Optional parts of the error that {@link invalid} makes. */
export interface Complaint {
  /** What the writer may have meant, as they would write it. */
  readonly suggestion?: string | undefined;
  /** Which place to name: the key's or the value's; the value's unless given. */
  readonly part?: "key" | "value";
  /** The error behind it. */
  readonly cause?: unknown;
}

const PLAIN_KEY = /^[A-Za-z_$][\w$-]*$/;
// Tabs and newlines are fine in a text that a person reads or a command that a glob describes; NUL
// and its like never are.
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;
const NUMERAL = /^\d+(?:\.\d+)?$/;

/**
 * Makes the error for a problem at a spot, with its path, line and column. `problem` completes
 * "Cannot load policy at …:".
 */
export function invalid(
  { subject, path, locate }: Spot,
  problem: string,
  { suggestion, part = "value", cause }: Complaint = {},
): ConsentError {
  const position = locate(path, part);
  const where = printPath(path);
  const hint = suggestion === undefined ? "" : `; did you mean ${suggestion}?`;
  return new ConsentError(
    subject.code,
    `Cannot load ${subject.name}${placeOf(where, position)}: ${problem}${hint}`,
    {
      path: where,
      ...(position === undefined ? {} : { position }),
      ...(suggestion === undefined ? {} : { suggestion }),
      ...(cause === undefined ? {} : { cause }),
    },
  );
}

function placeOf(where: string, position: TextPosition | undefined): string {
  if (position === undefined) return where === "" ? "" : ` at ${where}`;
  return ` at line ${position.line}, column ${position.column}${where === "" ? "" : ` (${where})`}`;
}

/** A path as error texts write it, e.g. `rules[2].match.tool`. */
export function printPath(path: readonly Step[]): string {
  return path.map(printStep).join("").replace(/^\./, "");
}

function printStep(step: Step): string {
  if (typeof step === "number") return `[${step}]`;
  return PLAIN_KEY.test(step) ? `.${step}` : `[${quote(step)}]`;
}

/**
 * The entries of a map, each as a spot.
 *
 * @param known - Its possible keys; any other key is refused. Without it every key is taken.
 * @throws ConsentError of the spot's subject where the value is not a map or a key is unknown.
 */
export function readMap(spot: Spot, known?: readonly string[]): ReadonlyMap<string, Spot> {
  const { value, path } = spot;
  if (!isJsonObject(value))
    throw invalid(spot, `expected a map of keys and values, got ${describe(value)}`);
  const entries = new Map<string, Spot>();
  for (const [key, entryValue] of Object.entries(value)) {
    const entry: Spot = { ...spot, value: entryValue, path: [...path, key] };
    if (known?.includes(key) === false)
      throw invalid(entry, `unknown key ${quote(key)}`, {
        suggestion: nearest(key, known),
        part: "key",
      });
    entries.set(key, entry);
  }
  return entries;
}

/**
 * The elements of a list, each as a spot.
 *
 * @throws ConsentError of the spot's subject where the value is not a list.
 */
export function readList(spot: Spot): readonly Spot[] {
  const { value, path } = spot;
  if (!isJsonList(value)) throw invalid(spot, `expected a list, got ${describe(value)}`);
  return value.map((element, index) => ({ ...spot, value: element, path: [...path, index] }));
}

/**
 * A text of at least one and at most `charsMax` UTF-16 units, without control characters other than
 * tab, line feed and carriage return.
 *
 * @throws ConsentError of the spot's subject where the value is anything else.
 */
export function readText(spot: Spot, charsMax: number): string {
  const { value } = spot;
  if (typeof value !== "string") throw invalid(spot, `expected a string, got ${describe(value)}`);
  if (value === "") throw invalid(spot, "the string is empty");
  if (value.length > charsMax)
    throw invalid(spot, `the string has more than ${charsMax} characters`);
  if (CONTROL.test(value)) throw invalid(spot, "the string has a control character");
  return value;
}

/**
 * One of a few words.
 *
 * @throws ConsentError of the spot's subject where the value is anything else, with the nearest
 *   word as its `suggestion`.
 */
export function readOneOf<const W extends string>(spot: Spot, words: readonly W[]): W {
  const { value } = spot;
  const found = words.find((word) => word === value);
  if (found !== undefined) return found;
  const suggestion = typeof value === "string" ? nearest(value, words) : undefined;
  throw invalid(
    spot,
    `expected ${words.join(", ").replace(/, ([^,]+)$/, " or $1")}, got ${describe(value)}`,
    { suggestion },
  );
}

/** Bounds of a number, both included. */
export interface NumberBounds {
  /** Least value. */
  readonly min: number;
  /** Greatest value. */
  readonly max: number;
  /** Whether fractions are refused; false unless given. */
  readonly whole?: boolean;
}

/**
 * A number between two bounds.
 *
 * @throws ConsentError of the spot's subject where the value is anything else.
 */
export function readNumber(spot: Spot, { min, max, whole = false }: NumberBounds): number {
  const { value } = spot;
  if (
    typeof value === "number" &&
    value >= min &&
    value <= max &&
    (!whole || Number.isInteger(value))
  )
    return value;
  const suggestion = typeof value === "string" && NUMERAL.test(value) ? value : undefined;
  throw invalid(
    spot,
    `expected a ${whole ? "whole " : ""}number from ${min} to ${max}, got ${describe(value)}`,
    { suggestion },
  );
}

/** What a value is, in a few words, for "expected …, got …". */
export function describe(value: JsonValue): string {
  if (value === null) return "nothing";
  if (typeof value === "string")
    return value === "" ? "an empty string" : `the string ${quote(value)}`;
  if (typeof value !== "object") return String(value);
  return isJsonList(value) ? "a list" : "a map";
}
