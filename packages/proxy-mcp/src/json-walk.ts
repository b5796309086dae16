/**
 * Where the parts of a JSON text stand, in bytes, without building its values. Meant for text that
 * JSON.parse accepts; on any other text it returns some answer or `undefined`, and never throws or
 * loops.
 */

import { fold } from "./fold.js";

/** `bytes.subarray(start, end)`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** One member of an object. */
export interface Member {
  readonly key: string;
  readonly value: Span;
}

/** Where a member stands: its key between the quotes, and its value. */
interface MemberAt {
  keyStart: number;
  keyEnd: number;
  start: number;
  end: number;
}

/** A replacement of a span; an empty span inserts. */
export interface Splice extends Span {
  readonly text: string;
}

const ASCII_END = 0x80;
/** Set in ASCII's small letters; all wanted keys are letters. */
const LOWER_CASE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const MARKS = [QUOTE, OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY];
/** After so many bytes without a mark the native search looks for the next one. */
const SPARSE_BYTES = 2_048;
const STRETCH_BYTES_MAX: number = 64 * 1024;
const NESTED_ARRAY = 1 / 4;
/** Past this length of a string the native search is faster than the loop. */
const LONG_STRING = 64;

/** The span of the one value in `bytes`, without the blanks around it. */
export function wholeValue(bytes: Buffer): Span {
  const start = skipBlanks(bytes, 0);
  return { start, end: valueEnd(bytes, start) };
}

/** Where the one value in `bytes` starts: to look for its end is to read all of it. */
export function valueFrom(bytes: Buffer): Span {
  return { start: skipBlanks(bytes, 0), end: bytes.length };
}

/** The members of the object at `span`, in order; `undefined` where there is no object. */
export function membersOf(bytes: Buffer, span: Span): readonly Member[] | undefined {
  const members: Member[] = [];
  const end = walkMembers(bytes, span.start, {
    visit: (at) =>
      void members.push({ key: keyText(bytes, at), value: { start: at.start, end: at.end } }),
  });
  return end === -1 ? undefined : members;
}

/** The elements of the array at `span`, in order; `undefined` where there is no array. */
export function elementsOf(bytes: Buffer, span: Span): readonly Span[] | undefined {
  if (bytes[span.start] !== OPEN_ARRAY) return undefined;
  const elements: Span[] = [];
  let at = skipBlanks(bytes, span.start + 1);
  if (bytes[at] === CLOSE_ARRAY) return elements;
  while (at < bytes.length) {
    const end = valueEnd(bytes, at);
    elements.push({ start: at, end });
    at = skipBlanks(bytes, end);
    if (bytes[at] !== COMMA) break;
    at = skipBlanks(bytes, at + 1);
  }
  return bytes[at] === CLOSE_ARRAY ? elements : undefined;
}

/**
 * The value at a path of keys, e.g. `["params", "_meta", "progressToken"]`; the last one where a
 * key stands twice, as JSON.parse has it.
 */
export function findValue(bytes: Buffer, path: readonly string[]): Span | undefined {
  let span: Span | undefined = path.length === 0 ? wholeValue(bytes) : valueFrom(bytes);
  for (const key of path) {
    if (span === undefined) return undefined;
    let found: Span | undefined;
    const end = walkMembers(bytes, span.start, {
      visit(at) {
        if (isKey(bytes, at, key)) found = { start: at.start, end: at.end };
      },
    });
    span = end === -1 ? undefined : found;
  }
  return span;
}

/** Values of an object by their paths of one or two keys. */
export type Picked = ReadonlyMap<string, Span>;

/**
 * Stands among the picked members where a key stands twice, or differs from a wanted one in case
 * only, or where there is more behind the object: some readers take another member than JSON.parse
 * does, or another value.
 */
export const ODD_MEMBER = "";

/**
 * The values of some members of the object at `span`, and of members of these, all found in one go;
 * `undefined` where there is no object.
 *
 * @param wanted - Keys, each with the keys that are wanted inside of it: `{ error: ["code"] }` gives
 *   `error` and `error.code`. Of a key that stands twice the last one counts, as JSON.parse has it.
 */
export function pickMembers(
  bytes: Buffer,
  span: Span,
  wanted: Readonly<Record<string, readonly string[]>>,
): Picked | undefined {
  const found = new Map<string, Span>();
  const keys = Object.keys(wanted);
  const keyAt = (at: MemberAt, of: readonly string[]): string | undefined =>
    of.find((key) => isKey(bytes, at, key));
  const note = (at: MemberAt, path: string | undefined, of: readonly string[]): void => {
    if (path === undefined ? isLike(bytes, at, of) : seen.has(path))
      found.set(ODD_MEMBER, { start: at.start, end: at.end });
    else if (path !== undefined) seen.add(path);
  };
  const seen = new Set<string>();
  const end = walkMembers(bytes, span.start, {
    into(at) {
      const outer = keyAt(at, keys);
      const inner = outer === undefined ? [] : (wanted[outer] ?? []);
      if (inner.length === 0) return undefined;
      for (const key of inner) found.delete(`${outer}.${key}`);
      const own = new Map<string, Span>();
      const past = walkMembers(bytes, at.start, {
        visit(of) {
          const key = keyAt(of, inner);
          const path = key === undefined ? undefined : `${outer}.${key}`;
          note(of, path, inner);
          if (path !== undefined) own.set(path, { start: of.start, end: of.end });
        },
      });
      if (past === -1) return undefined;
      for (const [path, value] of own) found.set(path, value);
      return past;
    },
    visit(at) {
      const key = keyAt(at, keys);
      note(at, key, keys);
      if (key !== undefined) found.set(key, { start: at.start, end: at.end });
    },
  });
  if (end === -1) return undefined;
  // What stands behind the value is a message of its own to readers of streams.
  if (skipBlanks(bytes, end) < span.end) found.set(ODD_MEMBER, { start: end, end: span.end });
  return found;
}

/** How many members all objects of a valid text have together, repeated keys counted each time. */
export function countMembers(bytes: Buffer): number {
  let count = 0;
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] === QUOTE) at = stringEnd(bytes, at) - 1;
    else if (bytes[at] === COLON) count++;
  }
  return count;
}

/**
 * Whether a valid text has more than so many members and items together. Reads no further than that.
 * It may count some more than there are, of objects and arrays: an array in an array costs little, so
 * four of them count for one.
 */
export function hasMoreValues(bytes: Buffer, max: number): boolean {
  let count = 0;
  for (let at = 0; at < bytes.length && count <= max; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = stringEnd(bytes, at) - 1;
    else if (byte === COMMA || byte === OPEN_OBJECT) count++;
    else if (byte === OPEN_ARRAY) count += NESTED_ARRAY;
  }
  return count > max;
}

/** Visits every string, keys too, and every number of a text, in order; a string has its quotes. */
export function walkScalars(bytes: Buffer, visit: (start: number, end: number) => void): void {
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    const isString = byte === QUOTE;
    if (!isString && byte !== MINUS && (byte < DIGIT_0 || byte > DIGIT_9)) continue;
    const end = isString ? stringEnd(bytes, at) : scalarEnd(bytes, at);
    visit(at, end);
    at = end - 1;
  }
}

/** The bytes with some spans replaced; `splices` in ascending order, not overlapping. */
export function splice(bytes: Buffer, splices: readonly Splice[]): Buffer {
  const parts: Buffer[] = [];
  let from = 0;
  for (const { start, end, text } of splices) {
    parts.push(bytes.subarray(from, start), Buffer.from(text));
    from = end;
  }
  parts.push(bytes.subarray(from));
  return Buffer.concat(parts);
}

/** A value to put in the place of another. */
export interface Replacement {
  readonly path: readonly string[];
  readonly value: unknown;
}

/** The bytes with the values at some paths replaced; a path that is not there is left out. */
export function replaceValues(bytes: Buffer, replacements: readonly Replacement[]): Buffer {
  const splices = replacements.flatMap(({ path, value }): readonly Splice[] => {
    const span = findValue(bytes, path);
    return span === undefined ? [] : [{ ...span, text: JSON.stringify(value) }];
  });
  return splice(
    bytes,
    [...splices].sort((one, other) => one.start - other.start),
  );
}

/** The text of a span. */
export function textOf(bytes: Buffer, span: Span): string {
  return bytes.toString("utf8", span.start, span.end);
}

/** How a member is gone through. */
interface MemberVisit {
  visit(at: MemberAt): void;
  /** Goes through the value that starts at `at.start` itself, and gives its end, or nothing. */
  into?(at: MemberAt): number | undefined;
}

/**
 * Visits the members of the object that starts at `start`; gives its end, or -1 where there is no
 * object.
 */
function walkMembers(bytes: Buffer, start: number, { visit, into }: MemberVisit): number {
  if (bytes[start] !== OPEN_OBJECT) return -1;
  // One record for all visits, because this runs for every message.
  const member: MemberAt = { keyStart: 0, keyEnd: 0, start: 0, end: 0 };
  let at = skipBlanks(bytes, start + 1);
  while (bytes[at] === QUOTE) {
    const keyEnd = stringEnd(bytes, at);
    const colon = skipBlanks(bytes, keyEnd);
    if (bytes[colon] !== COLON) return -1;
    member.keyStart = at + 1;
    member.keyEnd = keyEnd - 1;
    member.start = skipBlanks(bytes, colon + 1);
    member.end = into?.(member) ?? valueEnd(bytes, member.start);
    visit(member);
    at = skipBlanks(bytes, member.end);
    if (bytes[at] !== COMMA) break;
    at = skipBlanks(bytes, at + 1);
  }
  return bytes[at] === CLOSE_OBJECT ? at + 1 : -1;
}

/** Whether a member's key is `key`, an ASCII text; escapes are looked into. */
function isKey(bytes: Buffer, member: MemberAt, key: string): boolean {
  const { keyStart, keyEnd } = member;
  if (keyEnd - keyStart === key.length) {
    let at = 0;
    while (at < key.length && bytes[keyStart + at] === key.charCodeAt(at)) at++;
    return at === key.length;
  }
  return (
    keyEnd - keyStart > key.length &&
    bytes.subarray(keyStart, keyEnd).includes(BACKSLASH) &&
    keyText(bytes, member) === key
  );
}

/** Whether a member's key is one of `keys` to a reader that ignores case. */
function isLike(bytes: Buffer, member: MemberAt, keys: readonly string[]): boolean {
  const { keyStart, keyEnd } = member;
  for (let at = keyStart; at < keyEnd; at++) {
    const byte = bytes[at] ?? 0;
    if (byte !== BACKSLASH && byte < ASCII_END) continue;
    const text = fold(keyText(bytes, member));
    return keys.some((key) => fold(key) === text);
  }
  return keys.some((key) => isLikeAscii(bytes, member, key));
}

function isLikeAscii(bytes: Buffer, { keyStart, keyEnd }: MemberAt, key: string): boolean {
  if (keyEnd - keyStart !== key.length) return false;
  for (let at = 0; at < key.length; at++)
    if (((bytes[keyStart + at] ?? 0) | LOWER_CASE) !== (key.charCodeAt(at) | LOWER_CASE))
      return false;
  return true;
}

function keyText(bytes: Buffer, { keyStart, keyEnd }: MemberAt): string {
  const raw = bytes.toString("utf8", keyStart, keyEnd);
  if (!raw.includes("\\")) return raw;
  try {
    return String(JSON.parse(`"${raw}"`));
  } catch {
    return raw;
  }
}

function skipBlanks(bytes: Buffer, from: number): number {
  let at = from;
  for (; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) break;
  }
  return at;
}

/** Just past the value that starts at `start`. */
function valueEnd(bytes: Buffer, start: number): number {
  const first = bytes[start];
  if (first === QUOTE) return stringEnd(bytes, start);
  if (first !== OPEN_OBJECT && first !== OPEN_ARRAY) return scalarEnd(bytes, start);
  let depth = 0;
  for (let at = start; at < bytes.length; ) {
    const near = Math.min(bytes.length, at + SPARSE_BYTES);
    let isSparse = true;
    for (; at < near; at++) {
      const byte = bytes[at];
      if (byte === QUOTE) at = stringEnd(bytes, at) - 1;
      else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) depth++;
      else if (byte !== CLOSE_OBJECT && byte !== CLOSE_ARRAY) continue;
      else if (--depth === 0) return at + 1;
      isSparse = false;
    }
    if (isSparse) at = nextMark(bytes, at);
  }
  return bytes.length;
}

/**
 * Where the next quote, bracket or brace stands; the end where there is none. The native search is
 * faster where there is none for long, and slower where they are many: so it looks no further at a
 * time than it has come without one.
 */
function nextMark(bytes: Buffer, start: number): number {
  for (let from = start, length = SPARSE_BYTES; from < bytes.length; from += length) {
    length = Math.min(STRETCH_BYTES_MAX, Math.max(length, from - start));
    let stretch = bytes.subarray(from, from + length);
    const whole = stretch.length;
    for (const mark of MARKS) {
      const at = stretch.indexOf(mark);
      if (at !== -1) stretch = stretch.subarray(0, at);
    }
    if (stretch.length < whole) return from + stretch.length;
  }
  return bytes.length;
}

function scalarEnd(bytes: Buffer, start: number): number {
  let at = start;
  for (; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte <= 0x20 || byte === COMMA || byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) break;
  }
  return at;
}

/** Just past the closing quote of the string whose opening quote is at `open`. */
function stringEnd(bytes: Buffer, open: number): number {
  for (let at = open + 1; ; ) {
    // Near quotes are found by hand, also those that are escaped one after another.
    for (const near = Math.min(bytes.length, at + LONG_STRING); at < near; at++) {
      const byte = bytes[at];
      if (byte === QUOTE) return at + 1;
      if (byte === BACKSLASH) at++;
    }
    const quote = bytes.indexOf(QUOTE, at);
    if (quote === -1) return bytes.length;
    let escapes = quote;
    while (escapes > at && bytes[escapes - 1] === BACKSLASH) escapes--;
    if ((quote - escapes) % 2 === 0) return quote + 1;
    at = quote + 1;
  }
}
