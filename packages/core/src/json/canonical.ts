/**
 * Canonical JSON: the one text of a value (RFC 8785), and what it refuses. Format: spec/canonical-json.md.
 */
import { copyJson } from "./copy.js";
import type { JsonValue } from "./value.js";

/**
 * The RFC 8785 text of a value: no blanks, keys in UTF-16 order, numbers as ECMAScript writes them.
 *
 * @throws ConsentError `json_not_data`, `json_lone_surrogate`, `json_too_deep` or `json_too_large`.
 */
export function canonicalJson(value: unknown): string {
  return write(copyJson(value));
}

function write(value: JsonValue): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (isArray(value)) return `[${value.map(write).join(",")}]`;
  const members = Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${write(value[key] ?? null)}`);
  return `{${members.join(",")}}`;
}

function isArray(value: object): value is readonly JsonValue[] {
  return Array.isArray(value);
}
