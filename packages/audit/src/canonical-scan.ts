/**
 * Canonical scan: walks over JSON in bytes and proves that they are its one spelling (RFC 8785),
 * without making values of it. Every function takes a position and returns the one after what it
 * wants there, or -1 where the bytes do not prove it. That is no judgement: what is out of the
 * ordinary (beyond ASCII, `\u00xx`, exponents, deep nesting) is left to a real parser.
 */

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const LETTER_F = 0x66;
const LETTER_N = 0x6e;
const LETTER_T = 0x74;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

const DEPTH_MAX = 16;
/** Up to here every integer has one double and one spelling. */
const DIGITS_MAX = 15;

/** Bytes to be compared with: four at a time, then the rest. */
export interface Words {
  readonly length: number;
  readonly fours: Int32Array;
  readonly rest: Uint8Array;
}

/** The bytes of a text in ASCII, to be compared with. */
export function asciiWords(text: string): Words {
  const bytes = Buffer.from(text, "latin1");
  const count = Math.floor(bytes.length / 4);
  const fours = Int32Array.from({ length: count }, (_, index) => bytes.readInt32LE(4 * index));
  return { length: bytes.length, fours, rest: bytes.subarray(4 * count) };
}

/** Which bytes are of a class: 1 at their index. */
export function byteClass(isIn: (char: string) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) =>
    byte < 0x80 && isIn(String.fromCharCode(byte)) ? 1 : 0,
  );
}

/** Stands for itself in a text. */
const PLAIN = byteClass((char) => char >= " " && char !== '"' && char !== "\\");
/** Follows a backslash in a canonical text. */
const ESCAPED = byteClass((char) => '"\\bfnrt'.includes(char));
const DIGIT = byteClass((char) => char >= "0" && char <= "9");
const NULL = asciiWords("null");
const TRUE = asciiWords("true");
const FALSE = asciiWords("false");

/**
 * The bytes being scanned, as they can be read four at a time: the lines of a block are scanned one
 * after the other.
 */
let view: DataView = new DataView(new ArrayBuffer(0));
let viewed: Buffer | undefined;

/** These very bytes. */
export function scanWords(bytes: Buffer, at: number, { length, fours, rest }: Words): number {
  const end = at + length;
  if (at < 0 || end > bytes.length) return -1;
  if (viewed !== bytes) {
    view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    viewed = bytes;
  }
  for (let index = 0; index < fours.length; index++)
    if (view.getInt32(at + 4 * index, true) !== fours[index]) return -1;
  const from = end - rest.length;
  for (let index = 0; index < rest.length; index++)
    if (bytes[from + index] !== rest[index]) return -1;
  return end;
}

/** A text in its quotes. */
export function scanText(bytes: Buffer, at: number): number {
  if (at < 0 || bytes[at] !== QUOTE) return -1;
  for (let next = at + 1; ; next += 2) {
    while (PLAIN[bytes[next] ?? 0] === 1) next++;
    if (bytes[next] === QUOTE) return next + 1;
    if (bytes[next] !== BACKSLASH || ESCAPED[bytes[next + 1] ?? 0] !== 1) return -1;
  }
}

/** A number as ECMAScript writes it, without exponent. */
export function scanNumber(bytes: Buffer, at: number): number {
  if (at < 0) return -1;
  const first = bytes[at] === MINUS ? at + 1 : at;
  let next = first;
  while (DIGIT[bytes[next] ?? 0] === 1) next++;
  const digits = next - first;
  if (digits === 0 || digits > DIGITS_MAX) return -1;
  if (bytes[first] === ZERO && (digits > 1 || first > at)) return -1;
  if (bytes[next] !== DOT) return next;
  next++;
  while (DIGIT[bytes[next] ?? 0] === 1) next++;
  const text = bytes.toString("latin1", at, next);
  return String(Number(text)) === text ? next : -1;
}

/** Called at the value of a member: returns the position after it, or -1. */
export type ScanMember = (bytes: Buffer, key: number, at: number) => number;

/** An object whose keys are sorted and free of escapes. `member` reads the values. */
export function scanObject(bytes: Buffer, at: number, member: ScanMember): number {
  if (at < 0 || bytes[at] !== OPEN_OBJECT) return -1;
  if (bytes[at + 1] === CLOSE_OBJECT) return at + 2;
  let lastKey = -1;
  for (let key = at + 1; ; ) {
    const keyEnd = scanKey(bytes, key);
    if (keyEnd < 0 || bytes[keyEnd] !== COLON || (lastKey >= 0 && !isBefore(bytes, lastKey, key)))
      return -1;
    const end = member(bytes, key, keyEnd + 1);
    if (end < 0) return -1;
    if (bytes[end] === CLOSE_OBJECT) return end + 1;
    if (bytes[end] !== COMMA) return -1;
    lastKey = key;
    key = end + 1;
  }
}

/** Any value, nested `depth` levels deep. */
export function scanValue(bytes: Buffer, at: number, depth: number): number {
  if (at < 0 || depth > DEPTH_MAX) return -1;
  switch (bytes[at]) {
    case QUOTE:
      return scanText(bytes, at);
    case OPEN_OBJECT:
      return scanObject(bytes, at, (_, __, value) => scanValue(bytes, value, depth + 1));
    case OPEN_LIST:
      return scanList(bytes, at, depth + 1);
    case LETTER_N:
      return scanWords(bytes, at, NULL);
    case LETTER_T:
      return scanWords(bytes, at, TRUE);
    case LETTER_F:
      return scanWords(bytes, at, FALSE);
    default:
      return scanNumber(bytes, at);
  }
}

function scanList(bytes: Buffer, at: number, depth: number): number {
  if (bytes[at + 1] === CLOSE_LIST) return at + 2;
  for (let item = at + 1; ; ) {
    const end = scanValue(bytes, item, depth);
    if (end < 0) return -1;
    if (bytes[end] === CLOSE_LIST) return end + 1;
    if (bytes[end] !== COMMA) return -1;
    item = end + 1;
  }
}

/** A text without escapes, in its quotes. */
function scanKey(bytes: Buffer, at: number): number {
  if (bytes[at] !== QUOTE) return -1;
  let next = at + 1;
  while (PLAIN[bytes[next] ?? 0] === 1) next++;
  return bytes[next] === QUOTE ? next + 1 : -1;
}

/**
 * Whether one scanned key sorts before another: neither is the other one, and the closing quote
 * counts as an end.
 */
function isBefore(bytes: Buffer, key: number, next: number): boolean {
  for (let index = 1; ; index++) {
    const left = bytes[key + index] ?? 0;
    const right = bytes[next + index] ?? 0;
    if (left === right && left !== QUOTE) continue;
    if (left === QUOTE) return right !== QUOTE;
    return right !== QUOTE && left < right;
  }
}
