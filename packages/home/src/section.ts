/**
 * Section: a map of the configuration with known keys. Its table of fields says for each key how it
 * is written, what it holds, and what it means; the reader and the JSON Schema are made of it.
 */
import { type ConsentError, type JsonObject, nearest, quoteText } from "@acp/core";
import { invalid, readMap, type Spot } from "@acp/core/yaml";
import type { PathOrigins } from "./paths.js";
import { attempt, type Outcome, type Shape } from "./shape.js";

/** One key of a section. */
export interface Field<T, R extends boolean> {
  /** The key as the file writes it. */
  readonly key: string;
  /** What it means, for people. */
  readonly doc: string;
  readonly shape: Shape<T>;
  readonly isRequired: R;
}

/** A key that must be there. */
export function required<T>(key: string, shape: Shape<T>, doc: string): Field<T, true> {
  return { key, doc, shape, isRequired: true };
}

/** A key that may be left out. */
export function optional<T>(key: string, shape: Shape<T>, doc: string): Field<T, false> {
  return { key, doc, shape, isRequired: false };
}

/** The keys of a section, under the names that code uses for them. */
type Fields = Readonly<Record<string, Field<unknown, boolean>>>;
type ValueOf<F> = F extends Field<infer T, boolean> ? T : never;
type KeysThat<F extends Fields, R extends boolean> = {
  readonly [K in keyof F]: F[K]["isRequired"] extends R ? K : never;
}[keyof F];

/** What a section holds, under the names that code uses. A key that was left out is not there. */
export type SectionOf<F extends Fields> = {
  readonly [K in KeysThat<F, true>]: ValueOf<F[K]>;
} & { readonly [K in KeysThat<F, false>]?: ValueOf<F[K]> };

/** What the keys of a section have to do with each other. */
export interface KeyRule {
  /** What is wrong with the section, if anything. */
  check(spot: Spot, entries: ReadonlyMap<string, Spot>): ConsentError | undefined;
  readonly schema: JsonObject;
}

/** Exactly one of two keys is there. */
export function exactlyOne(one: string, other: string): KeyRule {
  return {
    check: (spot, entries) =>
      entries.has(one) === entries.has(other)
        ? invalid(spot, `it needs either "${one}" or "${other}"`)
        : undefined,
    schema: { oneOf: [{ required: [one] }, { required: [other] }] },
  };
}

/** Two keys are not there together. */
export function notBoth(one: string, other: string, problem: string): KeyRule {
  return {
    check: (_spot, entries) => {
      const found = entries.get(one);
      return found !== undefined && entries.has(other)
        ? invalid(found, problem, { part: "key" })
        : undefined;
    },
    schema: { not: { required: [one, other] } },
  };
}

/** Keys that are there only beside another. */
export function onlyBeside(
  other: string,
  keys: readonly string[],
  problem: (key: string) => string = (key) => `"${key}" goes with "${other}" only`,
): KeyRule {
  return {
    check: (spot, entries) => {
      const alone = entries.has(other) ? undefined : keys.find((key) => entries.has(key));
      return alone === undefined
        ? undefined
        : invalid(entries.get(alone) ?? spot, problem(alone), { part: "key" });
    },
    schema: { dependentRequired: Object.fromEntries(keys.map((key) => [key, [other]])) },
  };
}

/** A value that leaves other keys nothing to say. */
export interface Idle {
  readonly key: string;
  readonly value: string;
  readonly keys: readonly string[];
  /** What is wrong where one of the keys is there all the same. */
  readonly problem: (key: string) => string;
}

/** No other keys where a key has this value. */
export function idleWhere({ key, value, keys, problem }: Idle): KeyRule {
  return {
    check: (spot, entries) => {
      const idle =
        entries.get(key)?.value === value ? keys.find((each) => entries.has(each)) : undefined;
      return idle === undefined
        ? undefined
        : invalid(entries.get(idle) ?? spot, problem(idle), { part: "key" });
    },
    schema: {
      not: {
        required: [key],
        properties: { [key]: { const: value } },
        anyOf: keys.map((each) => ({ required: [each] })),
      },
    },
  };
}

/** A map with these keys and no others. */
export function section<const F extends Fields>(
  fields: F,
  rules: readonly KeyRule[] = [],
): Shape<SectionOf<F>> {
  const table = Object.entries(fields);
  const known = table.map(([, { key }]) => key);
  return {
    schema: schemaOf(fields, rules),
    read(spot, origins) {
      const entries = attempt(() => readMap(spot));
      if (entries.mistakes !== undefined) return entries;
      const unknown = unknownKeys(entries.value, known);
      const values = table.map(([name, field]) => ({
        name,
        outcome: readField(field, entries.value, origins),
      }));
      const wrong = [...unknown, ...values.flatMap(({ outcome }) => outcome?.mistakes ?? [])];
      // A key that is written wrong is missing under its right name: that is one mistake, not two.
      if (unknown.length === 0) wrong.push(...together(spot, entries.value, { fields, rules }));
      if (wrong.length > 0) return { mistakes: wrong };
      const found = values.flatMap(({ name, outcome }): [string, unknown][] =>
        outcome === undefined || outcome.mistakes !== undefined ? [] : [[name, outcome.value]],
      );
      const made: object = Object.fromEntries<unknown>(found);
      if (!isComplete(made, fields))
        throw new RangeError("a required key was read and is not there");
      return { value: made };
    },
  };
}

/** Each value was read by the shape of its key; what is left to look at is whether all are there. */
function isComplete<F extends Fields>(made: object, fields: F): made is SectionOf<F> {
  return Object.entries(fields).every(([name, { isRequired }]) => !isRequired || name in made);
}

function schemaOf(fields: Fields, rules: readonly KeyRule[]): JsonObject {
  const table = Object.values(fields);
  const needed = table.filter(({ isRequired }) => isRequired).map(({ key }) => key);
  return {
    type: "object",
    properties: Object.fromEntries(
      table.map(({ key, doc, shape }) => [key, { description: doc, ...shape.schema }]),
    ),
    ...(needed.length > 0 && { required: needed }),
    additionalProperties: false,
    ...(rules.length > 0 && { allOf: rules.map(({ schema }) => schema) }),
  };
}

function unknownKeys(
  entries: ReadonlyMap<string, Spot>,
  known: readonly string[],
): readonly ConsentError[] {
  return [...entries]
    .filter(([key]) => !known.includes(key))
    .map(([key, each]) =>
      invalid(each, `unknown key ${quoteText(key)}`, {
        suggestion: nearest(key, known),
        part: "key",
      }),
    );
}

function readField(
  { key, shape }: Field<unknown, boolean>,
  entries: ReadonlyMap<string, Spot>,
  origins: PathOrigins,
): Outcome<unknown> | undefined {
  const spot = entries.get(key);
  return spot === undefined ? undefined : shape.read(spot, origins);
}

/** What is missing, and the first rule that is broken: one slip often breaks several. */
function together(
  spot: Spot,
  entries: ReadonlyMap<string, Spot>,
  { fields, rules }: { readonly fields: Fields; readonly rules: readonly KeyRule[] },
): readonly ConsentError[] {
  const missing = Object.values(fields)
    .filter(({ key, isRequired }) => isRequired && !entries.has(key))
    .map(({ key }) => invalid(spot, `"${key}" is missing`));
  for (const { check } of rules) {
    const broken = check(spot, entries);
    if (broken !== undefined) return [...missing, broken];
  }
  return missing;
}
