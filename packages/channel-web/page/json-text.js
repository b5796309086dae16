/**
 * JsonText: arguments as text to read and to edit, and back. What could hide stands as a `\uXXXX`
 * escape, which JSON reads as the same character.
 */
import { escapeText } from "./escape.js";

/** @typedef {import("./types.js").Json} Json */
/** @typedef {import("./types.js").JsonObject} JsonObject */

/** What an answer can carry. */
const CHARS_MAX = 1024 * 1024;

/**
 * Indented JSON, safe to show.
 *
 * @param {Json} value
 */
export const layOut = (value) =>
  JSON.stringify(value, undefined, 2)
    .split("\n")
    .map((line) => escapeText(line))
    .join("\n");

/**
 * The same in more lines: a string goes on in the next line after each line break in it. For
 * reading and comparing only.
 *
 * @param {Json} value
 * @returns {readonly string[]}
 */
export const linesOf = (value) =>
  layOut(value)
    .split("\n")
    .flatMap((line) => {
      const indent = /^ */.exec(line)?.[0] ?? "";
      const rows = line.split(/(?<=(?<!\\)(?:\\\\)*\\n)(?!"?,?$)/);
      return rows.map((row, at) => (at === 0 ? row : `${indent}  ${row}`));
    });

/** @type {(value: unknown, path: string) => string | undefined} */
function misfitOf(value, path) {
  if (typeof value === "number") {
    const isExact =
      Number.isFinite(value) &&
      (!Number.isInteger(value) || Number.isSafeInteger(value) || Math.abs(value) >= 1e21);
    return isExact
      ? undefined
      : `${path}: a number that not every program reads alike; write it as a text`;
  }
  if (typeof value === "string")
    return /[\ud800-\udfff]/u.test(value) ? `${path}: half a character` : undefined;
  if (value === null || typeof value !== "object") return undefined;
  for (const [key, each] of Object.entries(value)) {
    const misfit = misfitOf(each, path === "" ? key : `${path}.${key}`);
    if (misfit !== undefined) return misfit;
  }
  return undefined;
}

/**
 * @param {unknown} value
 * @returns {value is JsonObject}
 */
function isObject(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

/** Where a text stops being JSON, in words. @type {(text: string, error: unknown) => string} */
function placeOf(text, error) {
  const message = error instanceof Error ? error.message : "";
  const at = /position (\d+)/.exec(message)?.[1];
  if (at === undefined) return "This is not JSON.";
  const before = text.slice(0, Number(at)).split("\n");
  return `This is not JSON: look at line ${before.length}, character ${(before.at(-1) ?? "").length + 1}.`;
}

/**
 * The arguments that a text means, or why it means none.
 *
 * @param {string} text
 * @returns {{ readonly value: JsonObject, readonly problem?: undefined } | { readonly value?:
 *   undefined, readonly problem: string }}
 */
export function readArguments(text) {
  if (text.length > CHARS_MAX) return { problem: "This is more than an answer can carry." };
  /** @type {unknown} */
  let value;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { problem: placeOf(text, error) };
  }
  if (!isObject(value)) return { problem: "The arguments are one JSON object: { … }." };
  const misfit = misfitOf(value, "");
  return misfit === undefined ? { value } : { problem: `${escapeText(misfit)}.` };
}

/** @type {(value: Json) => string} */
const sorted = (value) =>
  JSON.stringify(value, (_key, each) =>
    isObject(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );

/**
 * Whether two mean the same, in whatever order their keys stand.
 *
 * @param {Json} one
 * @param {Json} other
 */
export const isSame = (one, other) => sorted(one) === sorted(other);
