/**
 * Spots: a value of a policy together with the place where it stands, so that every complaint names path, line and column.
 * Readers turn a spot into a typed value or throw `policy_invalid`; nothing is coerced, nothing is ignored.
 */
import { ConsentError } from "../errors.js";
import type { TextPosition } from "../errors.js";
import { quote } from "../quote.js";
import { nearest } from "./suggest.js";

/** One step down: an object's key or a list's index. */
export type Step = string | number;

/** Finds the place of a value, or of its key, in the text that it was read from. */
export type Locate = (path: readonly Step[], part: "key" | "value") => TextPosition | undefined;

/** A value and its place. */
export interface Spot {
  readonly value: unknown;
  readonly path: readonly Step[];
  readonly locate: Locate;
}

/** What a complaint may add. */
interface Complaint {
  readonly suggestion?: string | undefined;
  readonly part?: "key" | "value";
  readonly cause?: unknown;
}

/** The error for what is wrong at a spot; `problem` completes "Cannot load policy at …:". */
export function invalid({ path, locate }: Spot, problem: string, { suggestion, part = "value", cause }: Complaint = {}): ConsentError {
  const position = locate(path, part);
  const where = printPath(path);
  const place = position === undefined ? where : `line ${position.line}, column ${position.column}${where === "" ? "" : ` (${where})`}`;
  const hint = suggestion === undefined ? "" : `; did you mean ${suggestion}?`;
  return new ConsentError("policy_invalid", `Cannot load policy${place === "" ? "" : ` at ${place}`}: ${problem}${hint}`, {
    path: where,
    ...(position === undefined ? {} : { position }),
    ...(suggestion === undefined ? {} : { suggestion }),
    ...(cause === undefined ? {} : { cause }),
  });
}

/** `rules[2].match.tool`. */
export function printPath(path: readonly Step[]): string {
  return path.map((step) => (typeof step === "number" ? `[${step}]` : /^\w+$/.test(step) ? `.${step}` : `[${quote(step)}]`)).join("").replace(/^\./, "");
}

/** A plain object's own keys, each as a spot. With `known`, any other key is refused. */
export function readObject(spot: Spot, known?: readonly string[]): ReadonlyMap<string, Spot> {
  const { value } = spot;
  if (!isPlainObject(value)) throw invalid(spot, `expected a map of keys and values, got ${describe(value)}`);
  const entries = new Map<string, Spot>();
  for (const key of Reflect.ownKeys(value)) {
    if (typeof key !== "string") throw invalid(spot, "a key is a symbol");
    const entry: Spot = { value: ownValue(spot, value, key), path: [...spot.path, key], locate: spot.locate };
    if (known !== undefined && !known.includes(key)) throw invalid(entry, `unknown key ${quote(key)}`, { suggestion: nearest(key, known), part: "key" });
    entries.set(key, entry);
  }
  return entries;
}

/** A list's elements, each as a spot. */
export function readList(spot: Spot): readonly Spot[] {
  const { value } = spot;
  if (!Array.isArray(value)) throw invalid(spot, `expected a list, got ${describe(value)}`, { suggestion: typeof value === "string" ? `[${value}]` : undefined });
  return Array.from(value, (element: unknown, index): Spot => ({ value: element, path: [...spot.path, index], locate: spot.locate }));
}

/** A text of at least one and at most `charsMax` characters, without control characters. */
export function readText(spot: Spot, charsMax: number): string {
  const { value } = spot;
  if (typeof value !== "string") throw invalid(spot, `expected a text, got ${describe(value)}`, { suggestion: isScalar(value) ? `"${String(value)}"` : undefined });
  if (value === "") throw invalid(spot, "the text is empty");
  if (value.length > charsMax) throw invalid(spot, `the text has more than ${charsMax} characters`);
  if (UNPRINTABLE.test(value)) throw invalid(spot, "the text has a control character or an unpaired surrogate");
  return value;
}

/** One of a few words. */
export function readOneOf<const W extends string>(spot: Spot, words: readonly W[]): W {
  const { value } = spot;
  const found = words.find((word) => word === value);
  if (found !== undefined) return found;
  const got = typeof value === "string" ? quote(value) : describe(value);
  throw invalid(spot, `expected ${words.join(", ").replace(/, ([^,]+)$/, " or $1")}, got ${got}`, { suggestion: typeof value === "string" ? nearest(value, words) : undefined });
}

/** A number between two bounds, both included. */
export function readNumber(spot: Spot, { min, max, whole = false }: { readonly min: number; readonly max: number; readonly whole?: boolean }): number {
  const { value } = spot;
  const wanted = `a ${whole ? "whole " : ""}number from ${min} to ${max}`;
  if (typeof value !== "number") throw invalid(spot, `expected ${wanted}, got ${describe(value)}`, { suggestion: isNumeral(value) ? value : undefined });
  if (!(value >= min && value <= max) || (whole && !Number.isInteger(value))) throw invalid(spot, `expected ${wanted}, got ${value}`);
  return value;
}

/** What a value is, in a few words, for "expected …, got …". */
export function describe(value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  if (typeof value === "string") return value === "" ? "an empty text" : `the text ${quote(value)}`;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return "a list";
  return isPlainObject(value) ? "a map" : `a value of another kind (${typeof value})`;
}

// Tabs and newlines are fine in a text that a person reads or a command that a glob describes; NUL and its like never are.
const UNPRINTABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]|\p{Surrogate}/u;

const isScalar = (value: unknown): boolean => typeof value === "number" || typeof value === "boolean";
const isNumeral = (value: unknown): value is string => typeof value === "string" && /^\d+(\.\d+)?$/.test(value);

function isPlainObject(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

function ownValue(spot: Spot, object: object, key: string): unknown {
  const property = Object.getOwnPropertyDescriptor(object, key);
  if (property === undefined || !("value" in property)) throw invalid(spot, `key ${quote(key)} is computed, not data`);
  return property.value;
}
