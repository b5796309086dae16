/**
 * Diff: what an edit changes, one line a change, by the place in the arguments. Linear in their
 * size.
 */
import {
  type JsonObject,
  type JsonValue,
  canonicalJson,
  escapeText,
  isJsonList,
  isJsonObject,
  quoteText,
} from "@acp/core";

/** One line of a diff. */
export interface DiffLine {
  readonly sign: "-" | "+";
  /** Place and value, as JSON; escaped. */
  readonly text: string;
}

const PLAIN_KEY = /^[A-Za-z_$][\w$-]*$/;

function placeOf(path: string, key: string | number): string {
  if (typeof key === "number") return `${path}[${key}]`;
  if (!PLAIN_KEY.test(key)) return `${path}[${quoteText(key)}]`;
  return path === "" ? key : `${path}.${key}`;
}

const lineOf = (sign: DiffLine["sign"], path: string, value: JsonValue): DiffLine => ({
  sign,
  text: `${path}: ${escapeText(JSON.stringify(value))}`,
});

function diffValues(
  path: string,
  before: JsonValue | undefined,
  after: JsonValue | undefined,
): readonly DiffLine[] {
  if (before !== undefined && after !== undefined) {
    if (isJsonObject(before) && isJsonObject(after)) return diffMembers(path, before, after);
    if (isJsonList(before) && isJsonList(after)) return diffItems(path, before, after);
    if (canonicalJson(before) === canonicalJson(after)) return [];
  }
  return [
    ...(before === undefined ? [] : [lineOf("-", path, before)]),
    ...(after === undefined ? [] : [lineOf("+", path, after)]),
  ];
}

function diffMembers(path: string, before: JsonObject, after: JsonObject): readonly DiffLine[] {
  const own = (object: JsonObject, key: string): JsonValue | undefined =>
    Object.hasOwn(object, key) ? object[key] : undefined;
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return keys.flatMap((key) => diffValues(placeOf(path, key), own(before, key), own(after, key)));
}

function diffItems(
  path: string,
  before: readonly JsonValue[],
  after: readonly JsonValue[],
): readonly DiffLine[] {
  const length = Math.max(before.length, after.length);
  return Array.from({ length }, (_, index) =>
    diffValues(placeOf(path, index), before[index], after[index]),
  ).flat();
}

/** The changes from `before` to `after`; none where they mean the same JSON. */
export function diffArguments(before: JsonObject, after: JsonObject): readonly DiffLine[] {
  return diffMembers("", before, after);
}
