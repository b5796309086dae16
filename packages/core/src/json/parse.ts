/// <reference lib="es2024.string" />
/**
 * Strict JSON: text with exactly one reading (RFC 8259), or a refusal with code, line and column.
 * Beyond the grammar it refuses what readers disagree about: duplicate keys, unpaired surrogates,
 * digits beyond ±(2^53−1). Format: spec/canonical-json.md §2. Vectors: JSONTestSuite.
 */
import { ConsentError } from "../errors.js";
import type { ConsentErrorCode } from "../errors.js";
import { JSON_BYTES_MAX, JSON_DEPTH_MAX } from "../limits.js";
import { quote } from "@acp/exec-safety/text";
import { decodeUtf8, positionAt, utf8Length } from "./text.js";
import type { JsonObject, JsonValue } from "./value.js";

/** Options of {@link parseJson}. */
export interface ParseJsonOptions {
  /** UTF-8 bytes of the text, at most; 10 MiB unless given. */
  readonly bytesMax?: number;
  /**
   * `"safe"`, the default: integers beyond ±(2^53−1) are refused. `"canonical"`: they are read if
   * RFC 8785 writes the double with exactly these digits, so that anything {@link canonicalJson}
   * wrote can be read back.
   */
  readonly integers?: "safe" | "canonical";
}

/** Options of {@link scanJson}. */
export interface ScanJsonOptions extends ParseJsonOptions {
  /** Paths of the object members to locate, e.g. `"params.arguments"`. */
  readonly spans: readonly string[];
}

/** Where a value stands in the text: `text.slice(start, end)`, in UTF-16 units. */
export interface JsonSpan {
  /** Index of its first UTF-16 unit. */
  readonly start: number;
  /** Index after its last UTF-16 unit. */
  readonly end: number;
}

/** What {@link scanJson} found. */
export interface ScannedJson {
  /** The text as it was read; its UTF-8 bytes are the given bytes. */
  readonly text: string;
  /** What the text holds. */
  readonly value: JsonValue;
  /** Where the members are, by the path asked for; those that are not in the text are left out. */
  readonly spans: Readonly<Partial<Record<string, JsonSpan>>>;
}

/** A tree of the members to locate. */
interface Wanted {
  path?: string;
  readonly members: Map<string, Wanted>;
}

interface Cursor {
  readonly text: string;
  readonly spans: Record<string, JsonSpan>;
  readonly canonicalIntegers: boolean;
  at: number;
  depth: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const SURROGATE = /[\ud800-\udfff]/u;
/** How far a string's end is looked for unit by unit. */
const NEAR = 64;
/** Digits that are always within ±(2^53−1). */
const SAFE_DIGITS = 15;

/**
 * Reads one JSON text. The result is plain mutable data of its own; a `__proto__` key is an
 * ordinary own property.
 *
 * @throws ConsentError `json_invalid`, `json_lone_surrogate`, `json_duplicate_key`,
 *   `json_unsafe_integer`, `json_too_deep` or `json_too_large`.
 */
export function parseJson(input: string | Uint8Array, options: ParseJsonOptions = {}): JsonValue {
  return parse(input, options, undefined).value;
}

/**
 * Reads one JSON text and says where some members are in it, so that they can be replaced and every
 * other byte kept.
 *
 * @throws ConsentError as {@link parseJson}.
 */
export function scanJson(input: string | Uint8Array, options: ScanJsonOptions): ScannedJson {
  const root: Wanted = { members: new Map() };
  for (const path of options.spans) {
    let node = root;
    for (const key of path.split(".")) {
      const next = node.members.get(key) ?? { members: new Map<string, Wanted>() };
      node.members.set(key, next);
      node = next;
    }
    node.path = path;
  }
  return parse(input, options, root);
}

function parse(
  input: string | Uint8Array,
  { bytesMax = JSON_BYTES_MAX, integers = "safe" }: ParseJsonOptions,
  wanted: Wanted | undefined,
): ScannedJson {
  if ((typeof input === "string" ? utf8Length(input, bytesMax) : input.byteLength) > bytesMax) {
    throw new ConsentError(
      "json_too_large",
      `Cannot read JSON: it has more than ${bytesMax} bytes`,
    );
  }
  const text = typeof input === "string" ? input : decodeUtf8(input);
  if (!text.isWellFormed())
    throw refused(
      { text, at: text.search(SURROGATE) },
      "json_lone_surrogate",
      "a string has an unpaired surrogate",
    );
  const cursor: Cursor = {
    text,
    spans: {},
    canonicalIntegers: integers === "canonical",
    at: 0,
    depth: 0,
  };
  skipBlanks(cursor);
  const value = readValue(cursor, wanted);
  skipBlanks(cursor);
  if (cursor.at < text.length)
    throw refused(cursor, "json_invalid", "there is more after the value");
  return { text, value, spans: cursor.spans };
}

function readValue(cursor: Cursor, wanted: Wanted | undefined): JsonValue {
  const unit = cursor.text.charCodeAt(cursor.at);
  if (unit === QUOTE) return readString(cursor);
  if (unit === OPEN_OBJECT) return readObject(cursor, wanted);
  if (unit === OPEN_ARRAY) return readArray(cursor);
  if (unit === MINUS || (unit >= ZERO && unit <= NINE)) return readNumber(cursor);
  if (readWord(cursor, "true")) return true;
  if (readWord(cursor, "false")) return false;
  if (readWord(cursor, "null")) return null;
  throw refused(
    cursor,
    "json_invalid",
    cursor.at < cursor.text.length ? "no value starts here" : "it ends too early",
  );
}

function readObject(cursor: Cursor, wanted: Wanted | undefined): JsonObject {
  const { text } = cursor;
  const object: Record<string, JsonValue> = {};
  enter(cursor);
  if (text.charCodeAt(cursor.at) === CLOSE_OBJECT) return leave(cursor, object);
  for (;;) {
    const keyAt = cursor.at;
    if (text.charCodeAt(keyAt) !== QUOTE)
      throw refused(cursor, "json_invalid", "a key in double quotes is missing");
    const key = readString(cursor);
    if (Object.hasOwn(object, key))
      throw refused(
        { ...cursor, at: keyAt },
        "json_duplicate_key",
        `the key ${quote(key)} appears twice`,
      );
    skipBlanks(cursor);
    if (text.charCodeAt(cursor.at) !== COLON)
      throw refused(cursor, "json_invalid", 'a ":" is missing');
    cursor.at++;
    skipBlanks(cursor);
    const start = cursor.at;
    const member = wanted?.members.get(key);
    const value = readValue(cursor, member);
    if (member?.path !== undefined) cursor.spans[member.path] = { start, end: cursor.at };
    if (key === "__proto__")
      Object.defineProperty(object, key, {
        value,
        enumerable: true,
        configurable: true,
        writable: true,
      });
    else object[key] = value;
    if (!nextItem(cursor, CLOSE_OBJECT)) return leave(cursor, object);
  }
}

function readArray(cursor: Cursor): JsonValue[] {
  const array: JsonValue[] = [];
  enter(cursor);
  if (cursor.text.charCodeAt(cursor.at) === CLOSE_ARRAY) return leave(cursor, array);
  for (;;) {
    array.push(readValue(cursor, undefined));
    if (!nextItem(cursor, CLOSE_ARRAY)) return leave(cursor, array);
  }
}

function enter(cursor: Cursor): void {
  if (++cursor.depth > JSON_DEPTH_MAX)
    throw refused(cursor, "json_too_deep", `it is nested deeper than ${JSON_DEPTH_MAX}`);
  cursor.at++;
  skipBlanks(cursor);
}

function leave<T>(cursor: Cursor, value: T): T {
  cursor.depth--;
  cursor.at++;
  return value;
}

/** After an item: true past a comma, false at the closing bracket. */
function nextItem(cursor: Cursor, close: number): boolean {
  skipBlanks(cursor);
  const unit = cursor.text.charCodeAt(cursor.at);
  if (unit === close) return false;
  if (unit !== COMMA)
    throw refused(
      cursor,
      "json_invalid",
      cursor.at < cursor.text.length
        ? 'a "," or a closing bracket is missing'
        : "it ends too early",
    );
  cursor.at++;
  skipBlanks(cursor);
  return true;
}

function readString(cursor: Cursor): string {
  const { text } = cursor;
  const start = cursor.at + 1;
  const near = start + NEAR;
  for (let at = start; at < near; at++) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) {
      cursor.at = at + 1;
      return text.slice(start, at);
    }
    if (unit === BACKSLASH || !(unit >= 0x20)) break;
  }
  return readLongString(cursor, start);
}

/**
 * A string that is long or holds escapes: its end is found here, its content read by the platform.
 */
function readLongString(cursor: Cursor, start: number): string {
  const { text } = cursor;
  let end = text.indexOf('"', start);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  if (end === -1)
    throw refused({ text, at: text.length }, "json_invalid", "it ends inside a string");
  cursor.at = end + 1;
  let read: unknown;
  try {
    read = JSON.parse(text.slice(start - 1, end + 1));
  } catch {
    read = undefined;
  }
  if (typeof read !== "string")
    throw refused(
      { text, at: start - 1 },
      "json_invalid",
      "a string has a control character or a malformed escape",
    );
  if (!read.isWellFormed())
    throw refused(
      { text, at: start - 1 },
      "json_lone_surrogate",
      "a string has an unpaired surrogate",
    );
  return read;
}

/** Whether an odd number of backslashes stands before `at`. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text.charCodeAt(first - 1) === BACKSLASH) first--;
  return (at - first) % 2 === 1;
}

function readNumber(cursor: Cursor): number {
  const { text } = cursor;
  const start = cursor.at;
  if (text.charCodeAt(cursor.at) === MINUS) cursor.at++;
  const first = cursor.at;
  readDigits(cursor);
  if (cursor.at - first > 1 && text.charCodeAt(first) === ZERO)
    throw refused({ ...cursor, at: first }, "json_invalid", "a number has a leading zero");
  const wholeEnd = cursor.at;
  if (text.charCodeAt(cursor.at) === DOT) {
    cursor.at++;
    readDigits(cursor);
  }
  if ((text.charCodeAt(cursor.at) | 0x20) === 0x65) {
    cursor.at++;
    const sign = text.charCodeAt(cursor.at);
    if (sign === MINUS || sign === 0x2b) cursor.at++;
    readDigits(cursor);
  }
  const literal = text.slice(start, cursor.at);
  const number = Number(literal);
  if (wholeEnd === cursor.at && wholeEnd - first > SAFE_DIGITS && !Number.isSafeInteger(number)) {
    const readable = cursor.canonicalIntegers && String(number) === literal;
    if (!readable)
      throw refused(
        { ...cursor, at: start },
        "json_unsafe_integer",
        "an integer is beyond ±(2^53−1)",
      );
  }
  if (!Number.isFinite(number))
    throw refused({ ...cursor, at: start }, "json_invalid", "a number is too large for a double");
  return number;
}

function readDigits(cursor: Cursor): void {
  const start = cursor.at;
  for (;;) {
    const unit = cursor.text.charCodeAt(cursor.at);
    if (!(unit >= ZERO && unit <= NINE)) break;
    cursor.at++;
  }
  if (cursor.at === start) throw refused(cursor, "json_invalid", "a digit is missing");
}

function readWord(cursor: Cursor, word: string): boolean {
  if (!cursor.text.startsWith(word, cursor.at)) return false;
  cursor.at += word.length;
  return true;
}

function skipBlanks(cursor: Cursor): void {
  const { text } = cursor;
  let { at } = cursor;
  for (;;) {
    const unit = text.charCodeAt(at);
    if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) break;
    at++;
  }
  cursor.at = at;
}

function refused(
  { text, at }: Pick<Cursor, "text" | "at">,
  code: ConsentErrorCode,
  why: string,
): ConsentError {
  const position = positionAt(text, at);
  return new ConsentError(
    code,
    `Cannot read JSON at line ${position.line}, column ${position.column}: ${why}`,
    { position },
  );
}
