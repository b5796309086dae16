/**
 * Leaves: the values that several calls gave to each of their arguments, nested ones by their
 * dotted names, lists by their elements, as a rule reads them (policy/arguments.ts). Pure.
 */
import { isJsonList, isJsonObject } from "@acp/core";
import type { JsonObject, JsonValue } from "@acp/core";

/** A value that a pattern can be about. */
export type Scalar = string | number | boolean;

/** One argument over several calls. */
export interface Leaf {
  /** Its name, and those above it. */
  readonly path: readonly string[];
  /** Its values, each once, in the order in which they came. */
  readonly values: readonly Scalar[];
  /** Whether some call had none: then no rule that allows can name it. */
  readonly hasGaps: boolean;
}

/** Arguments that a suggestion looks at; a call with more is no small question. */
const LEAVES_MAX = 64;

/**
 * The leaves of several calls' arguments; `undefined` where there are more than anybody would read.
 */
export function leavesOf(calls: readonly JsonObject[]): readonly Leaf[] | undefined {
  const leaves: Leaf[] = [];
  gather(calls, [], leaves);
  return leaves.length > LEAVES_MAX ? undefined : leaves;
}

function gather(maps: readonly JsonObject[], path: readonly string[], leaves: Leaf[]): void {
  for (const key of new Set(maps.flatMap((map) => Object.keys(map)))) {
    if (leaves.length > LEAVES_MAX) return;
    const given = maps.map((map) => (Object.hasOwn(map, key) ? map[key] : undefined));
    const flat = given.flatMap(elementsOf);
    const nested = flat.filter(isJsonObject);
    const scalars = flat.filter(isScalar);
    const hasGaps =
      nested.length + scalars.length < flat.length || (nested.length > 0 && scalars.length > 0);
    if (scalars.length === 0 && nested.length > 0) gather(nested, [...path, key], leaves);
    if (scalars.length > 0 || nested.length === 0 || hasGaps)
      leaves.push({ path: [...path, key], values: [...new Set(scalars)], hasGaps });
  }
}

/**
 * The elements that a pattern is held against; a value that is there and holds nothing, and one
 * that is not there, is `undefined`.
 */
function elementsOf(value: JsonValue | undefined): readonly (JsonValue | undefined)[] {
  if (isJsonList(value)) return value.length === 0 ? [undefined] : value.flatMap(elementsOf);
  if (value === null || value === "" || (isJsonObject(value) && Object.keys(value).length === 0))
    return [undefined];
  return [value];
}

const isScalar = (value: JsonValue | undefined): value is Scalar =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean";

/**
 * What one call gave to an argument; `undefined` where it gave nothing, or a list stands in
 * between.
 */
export function valueAt(args: JsonObject, path: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = args;
  for (const key of path)
    value = isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return value;
}
