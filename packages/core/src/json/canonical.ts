/// <reference lib="es2024.string" />
/**
 * Canonical JSON: the one text of a value (RFC 8785), and what a signer refuses.
 * Format: spec/canonical-json.md. Vectors: cyberphone/json-canonicalization.
 */
import { ConsentError } from "../errors.js";
import type { ConsentErrorCode } from "../errors.js";
import { JSON_BYTES_MAX, JSON_DEPTH_MAX } from "../limits.js";
import { copyJson } from "./copy.js";

/** Longer texts are left to the platform; shorter ones are mostly plain and quoted here. */
const SHORT = 40;
/** Up to here insertion beats the platform's sort. */
const FEW = 24;

/**
 * The RFC 8785 text of plain JSON data: no blanks, keys in UTF-16 order, numbers as ECMAScript
 * writes them. Sees what JSON.stringify sees (enumerable string keys), reads it once, and calls no
 * `toJSON` and no getter of an object.
 *
 * @throws ConsentError `json_not_data`, `json_lone_surrogate`, `json_too_deep` or `json_too_large`,
 *   with the path of the culprit.
 */
export function canonicalJson(value: unknown): string {
  try {
    const text = write(value, 0);
    if (text.length > JSON_BYTES_MAX) throw tooLarge();
    return text;
  } catch (error) {
    copyJson(value); // refuses the same, and says where
    throw error instanceof ConsentError ? error : refused("json_not_data", "reading it failed");
  }
}

function write(value: unknown, depth: number): string {
  switch (typeof value) {
    case "string":
      return writeText(value);
    case "number":
      if (!Number.isFinite(value)) throw refused("json_not_data", `${value} has no JSON form`);
      return String(value);
    case "boolean":
      return value ? "true" : "false";
    case "object":
      if (value === null) return "null";
      if (depth === JSON_DEPTH_MAX)
        throw refused("json_too_deep", `it is nested deeper than ${JSON_DEPTH_MAX}`);
      return Array.isArray(value) ? writeItems(value, depth + 1) : writeMembers(value, depth + 1);
    default:
      throw refused("json_not_data", `${typeof value} has no JSON form`);
  }
}

function writeItems(array: readonly unknown[], depth: number): string {
  let text = "[";
  for (let index = 0; index < array.length; index++) {
    text += (index > 0 ? "," : "") + write(array[index], depth);
    if (text.length > JSON_BYTES_MAX) throw tooLarge();
  }
  return `${text}]`;
}

function writeMembers(object: object, depth: number): string {
  const prototype: unknown = Object.getPrototypeOf(object);
  if (
    prototype !== Object.prototype &&
    prototype !== null &&
    Object.getPrototypeOf(prototype) !== null
  )
    throw refused("json_not_data", "it is an instance of a class");
  let text = "{";
  for (const key of sorted(Object.keys(object))) {
    // undefined, and so refused, behind a getter
    const value: unknown = Object.getOwnPropertyDescriptor(object, key)?.value;
    text += `${(text.length > 1 ? "," : "") + writeText(key)}:${write(value, depth)}`;
    if (text.length > JSON_BYTES_MAX) throw tooLarge();
  }
  return `${text}}`;
}

/** JSON.stringify escapes exactly as RFC 8785 wants, but escapes an unpaired surrogate too. */
function writeText(text: string): string {
  if (text.length <= SHORT && isPlain(text)) return `"${text}"`;
  if (!text.isWellFormed())
    throw refused("json_lone_surrogate", "a string has an unpaired surrogate");
  return JSON.stringify(text);
}

function isPlain(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x20 || unit === 0x22 || unit === 0x5c || unit >= 0xd800) return false;
  }
  return true;
}

/** In the order of UTF-16 units, which is that of `<` and of the default sort. */
function sorted(keys: string[]): string[] {
  if (keys.length > FEW) return keys.sort();
  for (let next = 1; next < keys.length; next++) {
    const key = keys[next] ?? "";
    let at = next;
    for (; at > 0; at--) {
      const before = keys[at - 1] ?? "";
      if (before <= key) break;
      keys[at] = before;
    }
    keys[at] = key;
  }
  return keys;
}

function tooLarge(): ConsentError {
  return refused("json_too_large", `it has more than ${JSON_BYTES_MAX} bytes`);
}

function refused(code: ConsentErrorCode, why: string): ConsentError {
  return new ConsentError(code, `Cannot use a value as JSON: ${why}`);
}
