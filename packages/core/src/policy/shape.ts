/**
 * Shapes: what a value of a file that people write may be, said once. A shape reads a value, and
 * has the JSON Schema of what it reads, made of the same words, bounds and keys. The schema refuses
 * nothing that the shape reads; what no schema can say, only the shape refuses.
 */
import { ConsentError, isConsentError } from "../errors.js";
import type { JsonObject } from "../json/value.js";
import { MISTAKES_MAX, asOneError } from "./mistakes.js";
import { invalid, readList, readMap, readNumber, readOneOf, readText } from "./spot.js";
import type { NumberBounds, Spot, Step } from "./spot.js";

/** What became of reading a value: the value, or everything that is wrong with it. */
export type Outcome<T> =
  | {
      /** As code uses it: checked, and compiled where there is something to compile. */
      readonly value: T;
      /** Absent: it was read without one. */
      readonly mistakes?: undefined;
    }
  | {
      /** Absent: nothing is made of what is wrong. */
      readonly value?: undefined;
      /** One error for each mistake, of the subject's code. */
      readonly mistakes: readonly ConsentError[];
    };

/** What a value may be, and what it needs to be read. */
export interface Shape<T, in C = unknown> {
  /** Reads a value, with what its subject hands to all of its readers. */
  readonly read: (spot: Spot, context: C) => Outcome<T>;
  /** The same as JSON Schema, draft 2020-12. */
  readonly schema: JsonObject;
}

/** What `read` returns, or the error that it throws, if that is about what is read. */
export function attempt<T>({ subject }: Spot, read: () => T): Outcome<T> {
  try {
    return { value: read() };
  } catch (error) {
    if (error instanceof ConsentError && isConsentError(error, subject.code))
      return { mistakes: [error] };
    throw error;
  }
}

/** The values of many outcomes, or the mistakes of all; looks no further once it has enough. */
export function allOf<T>(outcomes: Iterable<Outcome<T>>): Outcome<readonly T[]> {
  const values: T[] = [];
  const mistakes: ConsentError[] = [];
  for (const outcome of outcomes) {
    if (outcome.mistakes === undefined) values.push(outcome.value);
    else mistakes.push(...outcome.mistakes);
    if (mistakes.length >= MISTAKES_MAX) break;
  }
  return mistakes.length > 0 ? { mistakes } : { value: values };
}

/**
 * Reads a value that is all there is to read.
 *
 * @throws ConsentError of the subject's code that names every mistake, in the order of the text;
 *   its `position`, `path` and `suggestion` are those of the first.
 */
export function readWhole<T, C>({ read }: Shape<T, C>, spot: Spot, context: C): T {
  const { value, mistakes } = read(spot, context);
  if (mistakes !== undefined) throw asOneError(mistakes, spot.subject);
  return value;
}

/** The place of a member of this value, for a complaint about it. */
export function below(spot: Spot, step: Step): Spot {
  return { ...spot, path: [...spot.path, step] };
}

/** A shape of one of the readers that throw. */
export function shapeOf<T, C>(
  schema: JsonObject,
  read: (spot: Spot, context: C) => T,
): Shape<T, C> {
  return { schema, read: (spot, context) => attempt(spot, () => read(spot, context)) };
}

/**
 * A shape with more to it than its schema says.
 *
 * @param refine - Makes the value, or throws what {@link invalid} makes.
 */
export function refined<T, U, C>(
  { schema, read }: Shape<T, C>,
  refine: (value: T, spot: Spot, context: C) => U,
): Shape<U, C> {
  return {
    schema,
    read(spot, context) {
      const outcome = read(spot, context);
      if (outcome.mistakes !== undefined) return outcome;
      return attempt(spot, () => refine(outcome.value, spot, context));
    },
  };
}

/** A text of 1 to `charsMax` characters, none of them a control character. */
export function text(charsMax: number): Shape<string> {
  const schema = { type: "string", minLength: 1, maxLength: charsMax };
  return shapeOf(schema, (spot) => readText(spot, charsMax));
}

/** A text that a pattern describes; `problem` says what it looks like. */
export function textLike(
  pattern: RegExp,
  {
    charsMax,
    problem,
  }: { readonly charsMax: number; readonly problem: string | ((text: string) => string) },
): Shape<string> {
  const plain = text(charsMax);
  const schema = { ...plain.schema, pattern: pattern.source };
  return refined({ ...plain, schema }, (value, spot) => {
    if (!pattern.test(value))
      throw invalid(spot, typeof problem === "string" ? problem : problem(value));
    return value;
  });
}

/** A number between two bounds, both included. */
export function number(bounds: NumberBounds): Shape<number> {
  const { min, max, whole = false } = bounds;
  const schema = { type: whole ? "integer" : "number", minimum: min, maximum: max };
  return shapeOf(schema, (spot) => readNumber(spot, bounds));
}

/** One of a few words. */
export function word<const W extends string>(words: readonly W[]): Shape<W> {
  return shapeOf({ enum: [...words] }, (spot) => readOneOf(spot, words));
}

/** `true` or `false`. */
export const flag: Shape<boolean> = shapeOf({ type: "boolean" }, (spot) => {
  if (typeof spot.value !== "boolean") throw invalid(spot, "expected true or false");
  return spot.value;
});

/** How many elements a list has. */
export interface ListBounds {
  /** Least number of elements. Absent: 0. */
  readonly min?: number;
  /** Greatest number of elements. Absent: no bound. */
  readonly max?: number;
  /** What is wrong with a list that has fewer or more. */
  readonly problem: string;
  /** What is wrong with an empty list. Absent: `problem`. */
  readonly empty?: string;
}

/** A list of values of one shape. */
export function list<T, C>(
  { schema, read }: Shape<T, C>,
  { min = 0, max = Infinity, problem, empty = problem }: ListBounds = { problem: "" },
): Shape<readonly T[], C> {
  return {
    schema: {
      type: "array",
      items: schema,
      ...(min > 0 && { minItems: min }),
      ...(max < Infinity && { maxItems: max }),
    },
    read(spot, context) {
      const elements = attempt(spot, () => {
        const found = readList(spot);
        if (found.length < min || found.length > max)
          throw invalid(spot, found.length === 0 ? empty : problem);
        return found;
      });
      if (elements.mistakes !== undefined) return elements;
      return allOf(outcomesOf(elements.value, (each) => read(each, context)));
    },
  };
}

function* outcomesOf<E, T>(
  elements: Iterable<E>,
  read: (each: E) => Outcome<T>,
): Generator<Outcome<T>> {
  for (const each of elements) yield read(each);
}

/** A map from names to values of one shape. */
export function map<T, C>(
  { schema, read }: Shape<T, C>,
  names?: { readonly pattern: RegExp; readonly problem: string },
): Shape<Readonly<Record<string, T>>, C> {
  const readEntry = (name: string, spot: Spot, context: C): Outcome<readonly [string, T]> => {
    if (names?.pattern.test(name) === false)
      return { mistakes: [invalid(spot, names.problem, { part: "key" })] };
    const outcome = read(spot, context);
    return outcome.mistakes === undefined ? { value: [name, outcome.value] } : outcome;
  };
  return {
    schema: {
      type: "object",
      ...(names !== undefined && { propertyNames: { pattern: names.pattern.source } }),
      additionalProperties: schema,
    },
    read(spot, context) {
      const entries = attempt(spot, () => readMap(spot));
      if (entries.mistakes !== undefined) return entries;
      const outcome = allOf(
        outcomesOf(entries.value, ([name, each]) => readEntry(name, each, context)),
      );
      return outcome.mistakes === undefined
        ? { value: Object.fromEntries(outcome.value) }
        : outcome;
    },
  };
}
