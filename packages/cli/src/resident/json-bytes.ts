/**
 * JSON bytes: how long the JSON text of a value is, without making it: a log makes it once more, and
 * a text of a megabyte takes milliseconds.
 */
import type { JsonValue } from "@acp/core";

/** What a JSON text writes in another way. */
const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/;

function bytesOfText(text: string): number {
  return ESCAPED.test(text) ? Buffer.byteLength(JSON.stringify(text)) : Buffer.byteLength(text) + 2;
}

/** UTF-8 bytes of `JSON.stringify(value)`. */
export function jsonBytes(value: JsonValue): number {
  if (typeof value === "string") return bytesOfText(value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value).length;
  let bytes = 1;
  if (isList(value)) for (const item of value) bytes += jsonBytes(item) + 1;
  else
    for (const key of Object.keys(value))
      bytes += bytesOfText(key) + jsonBytes(value[key] ?? null) + 2;
  return Math.max(2, bytes);
}

const isList = (value: object): value is readonly JsonValue[] => Array.isArray(value);
