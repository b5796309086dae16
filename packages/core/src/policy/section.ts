/**
 * Section: a map with known keys in a file that people write. Its table of fields says for each key
 * how it is written, what it holds, and what it means; the reader and the JSON Schema are made of
 * it.
 */
import type { ConsentError } from "../errors.js";
import type { JsonObject } from "../json/value.js";
import { nearest, quote } from "@acp/exec-safety/text";
import { MISTAKES_MAX } from "./mistakes.js";
import { attempt } from "./shape.js";
import type { Outcome, Shape } from "./shape.js";
import { invalid, readMap } from "./spot.js";
import type { Complaint, Spot } from "./spot.js";

/** One key of a section. */
export interface Field<T, R extends boolean, in C = unknown> {
  /** The key as the file writes it. */
  readonly key: string;
  /** What it means, for people. */
  readonly doc: string;
  /** Reads what stands under the key, and describes it in the schema. */
  readonly shape: Shape<T, C>;
  /** Whether it must be there. */
  readonly isRequired: R;
}

/** A key that must be there. */
export function required<T, C>(key: string, shape: Shape<T, C>, doc: string): Field<T, true, C> {
  return { key, doc, shape, isRequired: true };
}

/** A key that may be left out. */
export function optional<T, C>(key: string, shape: Shape<T, C>, doc: string): Field<T, false, C> {
  return { key, doc, shape, isRequired: false };
}

/** The keys of a section, under the names that code uses for them. */
export type Fields<C> = Readonly<Record<string, Field<unknown, boolean, C>>>;
type ValueOf<F> = F extends Field<infer T, boolean, never> ? T : never;
type KeysThat<F extends Fields<never>, R extends boolean> = {
  readonly [K in keyof F]: F[K]["isRequired"] extends R ? K : never;
}[keyof F];

/** What a section holds, under the names that code uses. A key that was left out is not there. */
export type SectionOf<F extends Fields<never>> = {
  readonly [K in KeysThat<F, true>]: ValueOf<F[K]>;
} & { readonly [K in KeysThat<F, false>]?: ValueOf<F[K]> };

/** What all the readers of a section's values need. */
export type ContextOf<F extends Fields<never>> = {
  readonly [K in keyof F]: F[K] extends Field<unknown, boolean, infer C>
    ? (context: C) => void
    : never;
}[keyof F] extends (context: infer C) => void
  ? C
  : never;

/** What a section says beside its table. */
export interface SectionWords {
  /** What is wrong where a required key is not there. */
  readonly missing?: (key: string) => string;
  /** What is wrong with a key that is not in the table, where more is known than that. */
  readonly stray?: (key: string) => (Complaint & { readonly problem: string }) | undefined;
}

/** What the keys of a section have to do with each other. */
export interface KeyRule {
  /** What is wrong with the section. */
  readonly check: (spot: Spot, entries: ReadonlyMap<string, Spot>) => readonly ConsentError[];
  /** The same as JSON Schema. */
  readonly schema: JsonObject;
}

interface Table<C> {
  readonly fields: Fields<C>;
  readonly rules: readonly KeyRule[];
  readonly words: SectionWords;
}

/** A map with these keys and no others. */
export function section<const F extends Fields<never>>(
  fields: F & Fields<ContextOf<F>>,
  rules: readonly KeyRule[] = [],
  words: SectionWords = {},
): Shape<SectionOf<F>, ContextOf<F>> {
  const table: Table<ContextOf<F>> = { fields, rules, words };
  const rows = Object.entries<Field<unknown, boolean, ContextOf<F>>>(fields);
  const known = rows.map(([, { key }]) => key);
  return {
    schema: schemaOf(table),
    read(spot, context) {
      const entries = attempt(spot, () => readMap(spot));
      if (entries.mistakes !== undefined) return entries;
      const wrong = strayKeys(entries.value, known, words);
      const hasStray = wrong.length > 0;
      const made: Record<string, unknown> = {};
      for (const [name, { key, shape }] of rows) {
        const entry = entries.value.get(key);
        if (entry === undefined) continue;
        const outcome: Outcome<unknown> = shape.read(entry, context);
        if (outcome.mistakes === undefined) made[name] = outcome.value;
        else wrong.push(...outcome.mistakes);
      }
      // A key that is written wrong is missing under its right name: that is one mistake, not two.
      if (!hasStray) wrong.push(...together(spot, entries.value, table));
      if (wrong.length > 0) return { mistakes: wrong };
      if (!isComplete<F>(made, fields))
        throw new RangeError("a required key was read and is not there");
      return { value: made };
    },
  };
}

/** Each value was read by the shape of its key; what is left to look at is whether all are there. */
function isComplete<F extends Fields<never>>(
  made: object,
  fields: Fields<never>,
): made is SectionOf<F> {
  return Object.entries(fields).every(([name, { isRequired }]) => !isRequired || name in made);
}

function schemaOf<C>({ fields, rules }: Table<C>): JsonObject {
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

function strayKeys(
  entries: ReadonlyMap<string, Spot>,
  known: readonly string[],
  { stray }: SectionWords,
): ConsentError[] {
  const wrong: ConsentError[] = [];
  for (const [key, each] of entries) {
    if (known.includes(key)) continue;
    const { problem, ...more } = stray?.(key) ?? {
      problem: `unknown key ${quote(key)}`,
      suggestion: nearest(key, known),
    };
    wrong.push(invalid(each, problem, { ...more, part: "key" }));
    if (wrong.length >= MISTAKES_MAX) break;
  }
  return wrong;
}

/** What is missing, and the first rule that is broken: one slip often breaks several. */
function together<C>(
  spot: Spot,
  entries: ReadonlyMap<string, Spot>,
  { fields, rules, words }: Table<C>,
): readonly ConsentError[] {
  const { missing = (key: string) => `"${key}" is missing` } = words;
  const problems = new Set<string>();
  for (const { key, isRequired } of Object.values(fields))
    if (isRequired && !entries.has(key)) problems.add(missing(key));
  const wrong = Array.from(problems, (problem) => invalid(spot, problem));
  for (const { check } of rules) {
    const broken = check(spot, entries);
    if (broken.length > 0) return [...wrong, ...broken];
  }
  return wrong;
}
