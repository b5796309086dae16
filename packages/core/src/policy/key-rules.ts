/** Key rules: what the keys of a section have to do with each other, as a check and as a schema. */
import type { ConsentError } from "../errors.js";
import type { JsonObject } from "../json/value.js";
import type { KeyRule } from "./section.js";
import { invalid } from "./spot.js";
import type { Spot } from "./spot.js";

/** A schema of maps that have one of the keys or more. */
const hasAny = (keys: readonly string[]): JsonObject => ({
  anyOf: keys.map((key) => ({ required: [key] })),
});

/** Exactly one of two keys is there. */
export function exactlyOne(one: string, other: string): KeyRule {
  return {
    check: (spot, entries) =>
      entries.has(one) === entries.has(other)
        ? [invalid(spot, `it needs either "${one}" or "${other}"`)]
        : [],
    schema: { oneOf: [{ required: [one] }, { required: [other] }] },
  };
}

/** At least one of the keys is there. */
export function atLeastOne(keys: readonly string[], problem: string): KeyRule {
  return {
    check: (spot, entries) =>
      keys.some((key) => entries.has(key)) ? [] : [invalid(spot, problem)],
    schema: hasAny(keys),
  };
}

/** The map is not empty. */
export function notEmpty(problem: string): KeyRule {
  return {
    check: (spot, { size }) => (size > 0 ? [] : [invalid(spot, problem)]),
    schema: { minProperties: 1 },
  };
}

/** Two keys are not there together. */
export function notBoth(one: string, other: string, problem: string): KeyRule {
  return {
    check: (_spot, entries) => (entries.has(other) ? strays(entries, [one], () => problem) : []),
    schema: { not: { required: [one, other] } },
  };
}

/** Keys that are there only beside another. */
export function onlyBeside(
  other: string,
  keys: readonly string[],
  problem: (key: string) => string = (key) => `"${key}" works only with "${other}"`,
): KeyRule {
  return {
    check: (_spot, entries) => (entries.has(other) ? [] : strays(entries, keys, problem)),
    schema: { dependentRequired: Object.fromEntries(keys.map((key) => [key, [other]])) },
  };
}

/** A value, or one of several, that leaves other keys nothing to say. */
export interface Idle {
  /** Where one of the values stands, as the file writes it. */
  readonly key: string;
  /** Words that each mean it: texts, compared as they are. */
  readonly values: readonly string[];
  /** The keys that have nothing to say. */
  readonly keys: readonly string[];
  /** What is wrong where one of the keys is there all the same. */
  readonly problem: (key: string) => string;
}

/** No other keys where a key has one of these values. */
export function idleWhere({ key, values, keys, problem }: Idle): KeyRule {
  return {
    check: (_spot, entries) => {
      const value = entries.get(key)?.value;
      return values.some((each) => each === value) ? strays(entries, keys, problem) : [];
    },
    schema: {
      not: { required: [key], properties: { [key]: { enum: [...values] } }, ...hasAny(keys) },
    },
  };
}

/** At least one of some keys where another has a value. */
export function neededWhere(
  { key, value }: { readonly key: string; readonly value: string },
  keys: readonly string[],
  problem: string,
): KeyRule {
  const { check } = atLeastOne(keys, problem);
  return {
    check: (spot, entries) => (entries.get(key)?.value === value ? check(spot, entries) : []),
    schema: {
      anyOf: [
        { not: { required: [key], properties: { [key]: { const: value } } } },
        ...keys.map((each) => ({ required: [each] })),
      ],
    },
  };
}

/** A mistake for each of the keys that is there. */
function strays(
  entries: ReadonlyMap<string, Spot>,
  keys: readonly string[],
  problem: (key: string) => string,
): readonly ConsentError[] {
  return keys.flatMap((key) => {
    const entry = entries.get(key);
    return entry === undefined ? [] : [invalid(entry, problem(key), { part: "key" })];
  });
}
