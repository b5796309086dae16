/**
 * Unescaping: reads one kind of escape out of a run of bytes, while every byte remembers which
 * bytes of the source it stands for. What is not an escape stays as it is. Table-driven, and makes
 * no objects per escape: escape-dense input costs little more than any other.
 */

/** Bytes, and the places in the source that each of them stands for. */
export interface Run {
  readonly bytes: Uint8Array;
  /** Where each byte's source starts and ends. */
  readonly starts: Int32Array;
  readonly ends: Int32Array;
}

/** Where a reader is, and what it read. */
export interface Reading {
  readonly bytes: Uint8Array;
  /** The first byte that is not there yet. */
  readonly to: number;
  /** Whether no byte comes any more. */
  readonly isOver: boolean;
  /** The bytes that an escape stands for. */
  readonly decoded: Uint8Array;
  count: number;
}

/** How one kind of escape is written. */
export interface Escapes {
  /** The bits ({@link LEAD_BITS}) of the bytes that an escape may start with. */
  readonly leads: number;
  /**
   * Reads the escape at `at`, where one of the leads stands: its length, {@link NONE} or {@link
   * MORE}.
   */
  read(reading: Reading, at: number): number;
}

const ALL_LEADS = "\\%+&\r\n";
/** A bit for each byte that some escape starts with; 0 for every other byte. */
export const LEAD_BITS: Uint8Array = new Uint8Array(256);
for (let at = 0; at < ALL_LEADS.length; at++) LEAD_BITS[ALL_LEADS.charCodeAt(at)] = 1 << at;

const bitsOf = (leads: string): number =>
  Array.from(leads, (char) => LEAD_BITS[char.charCodeAt(0)] ?? 0).reduce(
    (all, bit) => all | bit,
    0,
  );

/** The bytes start with no escape. */
const NONE = 0;
/** More bytes are needed to know. */
const MORE = -1;

const BACKSLASH = 0x5c;
const PLUS = 0x2b;
const BLANK = 0x20;
const LETTER_U = 0x75;
const LETTER_X = 0x78;
/** The longest escape: a pair of surrogates. */
export const ESCAPE_BYTES_MAX = 12;
/** What each letter after a backslash stands for; 0 for every other byte. */
const SIMPLE: Uint8Array = new Uint8Array(256);
for (const [letter, char] of Object.entries({
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
}))
  SIMPLE[letter.charCodeAt(0)] = char.charCodeAt(0);
const NO_DIGIT = 16;
/** The value of each hex digit; {@link NO_DIGIT} for every other byte. */
const HEX: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => {
  const digit = Number.parseInt(String.fromCharCode(byte), 16);
  return Number.isNaN(digit) ? NO_DIGIT : digit;
});

/** `\n`, `\/`, `\u00e9`, pairs of surrogates and the like (RFC 8259 §7), and `\x41`. */
export const jsonEscapes: Escapes = {
  leads: bitsOf("\\"),
  read(reading, at) {
    if (at + 2 > reading.to) return MORE;
    const kind = reading.bytes[at + 1] ?? 0;
    if (kind === LETTER_X) return hexEscape(reading, at + 2, { digits: 2, length: 4 });
    if (kind === LETTER_U) return unicodeEscape(reading, at);
    const simple = SIMPLE[kind] ?? 0;
    return simple === 0 ? NONE : decodedTo(reading, simple, 2);
  },
};

function unicodeEscape(reading: Reading, at: number): number {
  const unit = hexAt(reading, at + 2, 4);
  if (unit < 0) return unit === NO_NUMBER ? NONE : MORE;
  if (unit < 0xd800 || unit >= 0xdc00) return decodedTo(reading, unit, 6);
  const low = lowSurrogate(reading, at + 6);
  if (low === MORE) return MORE;
  return low === NONE
    ? decodedTo(reading, unit, 6)
    : decodedTo(reading, 0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00), 12);
}

/** The second half of a pair; `NONE` where the bytes are none. */
function lowSurrogate(reading: Reading, at: number): number {
  const { bytes, to } = reading;
  if (at < to && bytes[at] !== BACKSLASH) return NONE;
  if (at + 1 < to && bytes[at + 1] !== LETTER_U) return NONE;
  const unit = hexAt(reading, at + 2, 4);
  if (unit < 0) return unit === NO_NUMBER ? NONE : MORE;
  return unit >= 0xdc00 && unit < 0xe000 ? unit : NONE;
}

/**
 * `%41`, hex digits of either case (RFC 3986 §2.1), and `%u0041` as JavaScript's `escape` writes
 * it.
 */
export const percentEscapes: Escapes = {
  leads: bitsOf("%"),
  read(reading, at) {
    if (at + 1 < reading.to && reading.bytes[at + 1] === LETTER_U)
      return hexEscape(reading, at + 2, { digits: 4, length: 6 });
    const byte = hexAt(reading, at + 1, 2);
    if (byte < 0) return byte === NO_NUMBER ? NONE : MORE;
    reading.decoded[0] = byte;
    reading.count = 1;
    return 3;
  },
};

/** As forms write a value: {@link percentEscapes}, and a blank as `+`. */
export const formEscapes: Escapes = {
  leads: bitsOf("%+"),
  read: (reading, at) =>
    reading.bytes[at] === PLUS ? decodedTo(reading, BLANK, 1) : percentEscapes.read(reading, at),
};

/** Line breaks stand for nothing: a value was wrapped. */
export const lineBreaks: Escapes = {
  leads: bitsOf("\r\n"),
  read(reading) {
    reading.count = 0;
    return 1;
  },
};

const SEMICOLON = 0x3b;
const HASH = 0x23;
const CODE_POINT_MAX = 0x10_ffff;
/** Named references of HTML that stand for ASCII; those of letters there are none. */
const NAMED: readonly string[] = (
  'Tab:\t NewLine:\n excl:! quot:" QUOT:" num:# dollar:$ percnt:% amp:& AMP:& apos:\' lpar:( rpar:) ast:* midast:* plus:+ comma:, period:. sol:/ ' +
  "colon:: semi:; lt:< LT:< equals:= gt:> GT:> quest:? commat:@ lsqb:[ lbrack:[ bsol:\\ rsqb:] rbrack:] Hat:^ lowbar:_ UnderBar:_ grave:` lcub:{ " +
  "lbrace:{ verbar:| vert:| rcub:} rbrace:}"
).split(" ");
const LETTERS = 128;
/**
 * A tree of the names: from each state by each ASCII byte to the next one, 0 where no name goes on;
 * and what a name stands for that ends.
 */
const NAMES = treeOf(NAMED);

function treeOf(rows: readonly string[]): {
  readonly next: Uint16Array;
  readonly code: Uint8Array;
} {
  const states = 1 + rows.reduce((sum, row) => sum + row.indexOf(":"), 0);
  const next = new Uint16Array(states * LETTERS);
  const code = new Uint8Array(states);
  let size = 1;
  for (const row of rows) {
    const length = row.indexOf(":");
    let state = 0;
    for (let at = 0; at < length; at++) {
      const slot = state * LETTERS + row.charCodeAt(at);
      const known = next[slot] ?? 0;
      state = known === 0 ? size++ : known;
      next[slot] = state;
    }
    code[state] = row.charCodeAt(length + 1);
  }
  return { next, code };
}

/**
 * `&amp;`, `&#65;`, `&#x41;` and the like; a number also where its semicolon is missing (HTML
 * §13.5).
 */
export const htmlEscapes: Escapes = {
  leads: bitsOf("&"),
  read(reading, at) {
    const { bytes, to } = reading;
    if (at + 1 < to && bytes[at + 1] === HASH) return numericReference(reading, at);
    let state = 0;
    for (let each = at + 1; each < to; each++) {
      const byte = bytes[each] ?? 0;
      if (byte === SEMICOLON) {
        const code = NAMES.code[state] ?? 0;
        return code === 0 ? NONE : decodedTo(reading, code, each + 1 - at);
      }
      state = byte < LETTERS ? (NAMES.next[state * LETTERS + byte] ?? 0) : 0;
      if (state === 0) return NONE;
    }
    return MORE;
  },
};

function numericReference(reading: Reading, at: number): number {
  const { bytes, to } = reading;
  if (at + 2 >= to) return MORE;
  const isHex = ((bytes[at + 2] ?? 0) | 0x20) === LETTER_X;
  const from = at + (isHex ? 3 : 2);
  const base = isHex ? 16 : 10;
  const limit = at + ESCAPE_BYTES_MAX;
  let code = 0;
  for (let each = from; each < limit; each++) {
    const isMissing = each >= to;
    if (isMissing && !reading.isOver) return MORE;
    const digit = isMissing ? NO_DIGIT : (HEX[bytes[each] ?? 0] ?? NO_DIGIT);
    if (digit < base) {
      code = code * base + digit;
      continue;
    }
    if (each === from || code > CODE_POINT_MAX) return NONE;
    return decodedTo(
      reading,
      code,
      (!isMissing && bytes[each] === SEMICOLON ? each + 1 : each) - at,
    );
  }
  return NONE;
}

/** A character written as so many hex digits at `at`, at the end of an escape of `length` bytes. */
function hexEscape(
  reading: Reading,
  at: number,
  { digits, length }: { readonly digits: number; readonly length: number },
): number {
  const code = hexAt(reading, at, digits);
  if (code < 0) return code === NO_NUMBER ? NONE : MORE;
  return decodedTo(reading, code, length);
}

const NO_NUMBER = -1;
const NO_NUMBER_YET = -2;

/**
 * The number that so many hex digits write; {@link NO_NUMBER} where one is none, {@link
 * NO_NUMBER_YET} where the last ones are not there.
 */
function hexAt({ bytes, to }: Reading, from: number, digits: number): number {
  let number = 0;
  for (let at = from; at < from + digits; at++) {
    if (at >= to) return NO_NUMBER_YET;
    const digit = HEX[bytes[at] ?? 0] ?? NO_DIGIT;
    if (digit === NO_DIGIT) return NO_NUMBER;
    number = number * 16 + digit;
  }
  return number;
}

/**
 * A code point as UTF-8, a lone surrogate as the three bytes that no text has; returns the escape's
 * length.
 */
function decodedTo(reading: Reading, code: number, length: number): number {
  const { decoded } = reading;
  if (code < 0x80) {
    decoded[0] = code;
    reading.count = 1;
    return length;
  }
  const count = code < 0x800 ? 2 : code < 0x1_0000 ? 3 : 4;
  decoded[0] = (LEADS[count] ?? 0) | (code >> (6 * (count - 1)));
  for (let at = 1; at < count; at++) decoded[at] = 0x80 | ((code >> (6 * (count - 1 - at))) & 0x3f);
  reading.count = count;
  return length;
}

/** What the first byte of a sequence starts with, by its length. */
const LEADS: readonly number[] = [0, 0, 0xc0, 0xe0, 0xf0];

/** What to read, and where to write it. */
export interface Unescape {
  readonly source: Run;
  /** The bytes to read: from the first, up to the second. */
  readonly from: number;
  readonly to: number;
  /** Whether the source ends there: what may have begun as an escape is none. */
  readonly isOver: boolean;
  readonly target: Run;
  /** Where the target goes on; it has room for as many bytes as are read. */
  readonly at: number;
}

/** What was read. */
export interface Unescaped {
  /** The target's end. */
  readonly to: number;
  /** How many of the source's last bytes may be the beginning of an escape. */
  readonly pending: number;
  /** The bits ({@link LEAD_BITS}) of the bytes that were written. */
  readonly leads: number;
}

/**
 * The first place at which there is an escape, or may be one; the source's end where there is none.
 * What is before it stays as it is.
 */
export function firstEscape(
  escapes: Escapes,
  bytes: Uint8Array,
  { from, to }: { readonly from: number; readonly to: number },
): number {
  const wanted = escapes.leads;
  const reading: Reading = { bytes, to, isOver: false, decoded: new Uint8Array(4), count: 0 };
  for (let each = from; each < to; each++) {
    if (((LEAD_BITS[bytes[each] ?? 0] ?? 0) & wanted) !== 0 && escapes.read(reading, each) !== NONE)
      return each;
  }
  return to;
}

/** Reads one kind of escape away. */
export function unescape(
  escapes: Escapes,
  { source, from, to, isOver, target, at }: Unescape,
): Unescaped {
  const { bytes, starts, ends } = source;
  const { bytes: toBytes, starts: toStarts, ends: toEnds } = target;
  const decoded = new Uint8Array(4);
  const reading: Reading = { bytes, to, isOver, decoded, count: 0 };
  const wanted = escapes.leads;
  let leads = 0;
  let out = at;
  /** The first byte that is not written yet. */
  let rest = from;
  let each = from;
  while (each < to) {
    const bit = LEAD_BITS[bytes[each] ?? 0] ?? 0;
    const length = (bit & wanted) === 0 ? NONE : escapes.read(reading, each);
    if (length === NONE || (length === MORE && isOver)) {
      leads |= bit;
      each++;
      continue;
    }
    if (rest < each) out = copy(source, target, { from: rest, to: each, at: out });
    rest = each;
    if (length === MORE) break;
    const start = starts[each] ?? 0;
    const end = ends[each + length - 1] ?? 0;
    for (let index = 0; index < reading.count; index++) {
      const read = decoded[index] ?? 0;
      toBytes[out] = read;
      toStarts[out] = start;
      toEnds[out++] = end;
      leads |= LEAD_BITS[read] ?? 0;
    }
    each += length;
    rest = each;
  }
  if (rest < each) out = copy(source, target, { from: rest, to: each, at: out });
  return { to: out, pending: to - each, leads };
}

/** From so many bytes on they are copied as one. */
const COPY_BYTES = 24;

/** A part of a run, and where it goes. */
interface Copied {
  readonly from: number;
  readonly to: number;
  readonly at: number;
}

function copy(source: Run, target: Run, { from, to, at }: Copied): number {
  const end = at + to - from;
  if (to - from >= COPY_BYTES) {
    target.bytes.set(source.bytes.subarray(from, to), at);
    target.starts.set(source.starts.subarray(from, to), at);
    target.ends.set(source.ends.subarray(from, to), at);
    return end;
  }
  const shift = from - at;
  const { bytes, starts, ends } = source;
  const { bytes: toBytes, starts: toStarts, ends: toEnds } = target;
  for (let each = at; each < end; each++) {
    toBytes[each] = bytes[each + shift] ?? 0;
    toStarts[each] = starts[each + shift] ?? 0;
    toEnds[each] = ends[each + shift] ?? 0;
  }
  return end;
}
