/**
 * Shapes: what a value of the configuration may be, said once. A shape reads a value, and has the
 * JSON Schema of what it reads, made of the same words, bounds and keys. The schema refuses nothing
 * that the shape reads; what no schema can say, only the shape refuses.
 */
import { ConsentError, isConsentError, type JsonObject } from "@acp/core";
import {
  invalid,
  type NumberBounds,
  readList,
  readMap,
  readNumber,
  readOneOf,
  readText,
  type Spot,
  type Step,
} from "@acp/core/yaml";
import type { PathOrigins } from "./paths.js";

/** What became of reading a value: the value, or everything that is wrong with it. */
export type Outcome<T> =
  | { readonly value: T; readonly mistakes?: undefined }
  | { readonly value?: undefined; readonly mistakes: readonly ConsentError[] };

/** What a value may be. */
export interface Shape<T> {
  /**
   * Reads a value. Every mistake in it is a `config_invalid` with the place where it stands.
   *
   * @param origins - Where `~` and relative paths start.
   */
  read(spot: Spot, origins: PathOrigins): Outcome<T>;
  /** The same as JSON Schema, draft 2020-12. */
  readonly schema: JsonObject;
}

/** What a reader returns, or the `config_invalid` that it throws. */
export function attempt<T>(read: () => T): Outcome<T> {
  try {
    return { value: read() };
  } catch (error) {
    if (error instanceof ConsentError && isConsentError(error, "config_invalid"))
      return { mistakes: [error] };
    throw error;
  }
}

/** All values, or the mistakes of all. */
export function allOf<T>(outcomes: readonly Outcome<T>[]): Outcome<readonly T[]> {
  const mistakes = outcomes.flatMap((each) => each.mistakes ?? []);
  if (mistakes.length > 0) return { mistakes };
  return { value: outcomes.flatMap((each) => (each.mistakes === undefined ? [each.value] : [])) };
}

/** The place of a member of this value, for a complaint about it. */
export function below(spot: Spot, step: Step): Spot {
  return { ...spot, path: [...spot.path, step] };
}

/** A shape of one of the readers that throw. */
export function shapeOf<T>(
  schema: JsonObject,
  read: (spot: Spot, origins: PathOrigins) => T,
): Shape<T> {
  return { schema, read: (spot, origins) => attempt(() => read(spot, origins)) };
}

/**
 * A shape with more to it than its schema says.
 *
 * @param refine - Makes the value, or throws what {@link invalid} makes.
 */
export function refined<T, U>(
  { schema, read }: Shape<T>,
  refine: (value: T, spot: Spot, origins: PathOrigins) => U,
): Shape<U> {
  return {
    schema,
    read(spot, origins) {
      const outcome = read(spot, origins);
      if (outcome.mistakes !== undefined) return outcome;
      return attempt(() => refine(outcome.value, spot, origins));
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
  { charsMax, problem }: { readonly charsMax: number; readonly problem: string },
): Shape<string> {
  const plain = text(charsMax);
  const schema = { ...plain.schema, pattern: pattern.source };
  return refined({ ...plain, schema }, (value, spot) => {
    if (!pattern.test(value)) throw invalid(spot, problem);
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
  readonly min?: number;
  readonly max?: number;
  /** What is wrong with a list that has fewer or more. */
  readonly problem: string;
}

/** A list of values of one shape. */
export function list<T>(
  { schema, read }: Shape<T>,
  { min = 0, max = Infinity, problem }: ListBounds = { problem: "" },
): Shape<readonly T[]> {
  return {
    schema: {
      type: "array",
      items: schema,
      ...(min > 0 && { minItems: min }),
      ...(max < Infinity && { maxItems: max }),
    },
    read(spot, origins) {
      const elements = attempt(() => {
        const found = readList(spot);
        if (found.length < min || found.length > max) throw invalid(spot, problem);
        return found;
      });
      if (elements.mistakes !== undefined) return elements;
      return allOf(elements.value.map((each) => read(each, origins)));
    },
  };
}

/** A map from names to values of one shape. */
export function map<T>(
  { schema, read }: Shape<T>,
  names?: { readonly pattern: RegExp; readonly problem: string },
): Shape<Readonly<Record<string, T>>> {
  const readEntry = (name: string, spot: Spot, origins: PathOrigins): Outcome<T> =>
    names?.pattern.test(name) === false
      ? { mistakes: [invalid(spot, names.problem, { part: "key" })] }
      : read(spot, origins);
  return {
    schema: {
      type: "object",
      ...(names !== undefined && { propertyNames: { pattern: names.pattern.source } }),
      additionalProperties: schema,
    },
    read(spot, origins) {
      const entries = attempt(() => readMap(spot));
      if (entries.mistakes !== undefined) return entries;
      const outcome = allOf(
        [...entries.value].map(([name, each]) => readEntry(name, each, origins)),
      );
      if (outcome.mistakes !== undefined) return outcome;
      const keys = [...entries.value.keys()];
      return {
        value: Object.fromEntries(outcome.value.map((value, at) => [keys[at] ?? "", value])),
      };
    },
  };
}
