/**
 * Unescaping byte streams: JSON escapes and percent escapes are read away, byte by byte, while every byte remembers which bytes of the source
 * it stands for. What is no escape stays as it is. Holds at most twelve bytes, and makes no objects on the way.
 */

/** Takes a byte that the source's bytes from `start` up to `end` stand for. */
export type ByteTaker = (byte: number, start: number, end: number) => void;

/** One stage. */
export interface Unescaper {
  readonly take: ByteTaker;
  /** Where the escape that is not complete yet starts in the source; `Infinity` where there is none. */
  heldFrom(): number;
  /** The source is over: what is held is no escape. */
  end(): void;
}

/** The bytes that an escape stands for. */
interface Decoded {
  readonly bytes: Uint8Array;
  count: number;
}

/** How one kind of escape is written. */
export interface Escapes {
  /** The byte that an escape starts with. */
  readonly lead: number;
  /** Reads the first `count` of the bytes seen: how long the escape is that they start with, {@link NONE} or {@link MORE}. */
  read(seen: Uint8Array, count: number, decoded: Decoded): number;
}

/** The bytes start with no escape. */
const NONE = 0;
/** More bytes are needed to know. */
const MORE = -1;

const BACKSLASH = 0x5c;
const PERCENT = 0x25;
const LETTER_U = 0x75;
const ESCAPE_BYTES_MAX = 12;
/** What each letter after a backslash stands for; 0 for every other byte. */
const SIMPLE: Uint8Array = new Uint8Array(256);
for (const [letter, char] of Object.entries({ '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" }))
  SIMPLE[letter.charCodeAt(0)] = char.charCodeAt(0);
/** The value of each hex digit; NaN for every other byte. */
const HEX: Float64Array = Float64Array.from({ length: 256 }, (_, byte) => Number.parseInt(String.fromCharCode(byte), 16));

/** `\n`, `\/`, `\u00e9`, pairs of surrogates and the like (RFC 8259 §7). */
export const jsonEscapes: Escapes = {
  lead: BACKSLASH,
  read(seen, count, decoded) {
    if (count < 2) return MORE;
    const kind = seen[1] ?? 0;
    if (kind !== LETTER_U) {
      const simple = SIMPLE[kind] ?? 0;
      return simple === 0 ? NONE : decodedTo(decoded, simple, 2);
    }
    const unit = hexAt(seen, 2, Math.min(count, 6));
    if (Number.isNaN(unit)) return NONE;
    if (count < 6) return MORE;
    if (unit < 0xd800 || unit >= 0xdc00) return decodedTo(decoded, unit, 6);
    const low = lowSurrogate(seen, count);
    if (low === MORE) return MORE;
    return low === NONE ? decodedTo(decoded, unit, 6) : decodedTo(decoded, 0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00), 12);
  },
};

/** `%41`, hex digits of either case (RFC 3986 §2.1). */
export const percentEscapes: Escapes = {
  lead: PERCENT,
  read(seen, count, decoded) {
    const byte = hexAt(seen, 1, count);
    if (Number.isNaN(byte)) return NONE;
    if (count < 3) return MORE;
    decoded.bytes[0] = byte;
    decoded.count = 1;
    return 3;
  },
};

/** The second half of a pair; `NONE` where the bytes after the first one are none. */
function lowSurrogate(seen: Uint8Array, count: number): number {
  if (count > 6 && seen[6] !== BACKSLASH) return NONE;
  if (count > 7 && seen[7] !== LETTER_U) return NONE;
  const unit = hexAt(seen, 8, count);
  if (Number.isNaN(unit)) return NONE;
  if (count < ESCAPE_BYTES_MAX) return MORE;
  return unit >= 0xdc00 && unit < 0xe000 ? unit : NONE;
}

/** The number that the hex digits from `from` up to `to` write; NaN where one is none. */
function hexAt(seen: Uint8Array, from: number, to: number): number {
  let number = 0;
  for (let at = from; at < to; at++) number = number * 16 + (HEX[seen[at] ?? 0] ?? Number.NaN);
  return number;
}

/** A code point as UTF-8, a lone surrogate as the three bytes that no text has; returns the escape's length. */
function decodedTo(decoded: Decoded, code: number, length: number): number {
  const { bytes } = decoded;
  if (code < 0x80) {
    bytes[0] = code;
    decoded.count = 1;
    return length;
  }
  decoded.count = code < 0x800 ? 2 : code < 0x1_0000 ? 3 : 4;
  bytes[0] = (LEADS[decoded.count] ?? 0) | (code >> (6 * (decoded.count - 1)));
  for (let at = 1; at < decoded.count; at++) bytes[at] = 0x80 | ((code >> (6 * (decoded.count - 1 - at))) & 0x3f);
  return length;
}

/** What the first byte of a sequence starts with, by its length. */
const LEADS: readonly number[] = [0, 0, 0xc0, 0xe0, 0xf0];

/** A stage that reads one kind of escape away and hands on what remains. */
export function createUnescaper({ lead, read }: Escapes, next: ByteTaker): Unescaper {
  const held = new Uint8Array(ESCAPE_BYTES_MAX);
  const starts = new Float64Array(ESCAPE_BYTES_MAX);
  const ends = new Float64Array(ESCAPE_BYTES_MAX);
  const decoded: Decoded = { bytes: new Uint8Array(4), count: 0 };
  let count = 0;

  const drop = (length: number): void => {
    if (length < count) for (const list of [held, starts, ends]) list.copyWithin(0, length, count);
    count -= length;
  };
  /** Reads from the front until more is needed or nothing is left. */
  const settle = (isOver: boolean): void => {
    while (count > 0) {
      const length = held[0] === lead ? read(held, count, decoded) : NONE;
      if (length === MORE && !isOver) return;
      const start = starts[0] ?? 0;
      const isEscape = length > 0;
      const end = ends[isEscape ? length - 1 : 0] ?? 0;
      if (isEscape) for (let at = 0; at < decoded.count; at++) next(decoded.bytes[at] ?? 0, start, end);
      else next(held[0] ?? 0, start, end);
      drop(isEscape ? length : 1);
    }
  };
  return {
    take(byte, start, end) {
      if (count === 0 && byte !== lead) {
        next(byte, start, end);
        return;
      }
      held[count] = byte;
      starts[count] = start;
      ends[count] = end;
      count++;
      settle(false);
    },
    heldFrom: () => (count === 0 ? Number.POSITIVE_INFINITY : (starts[0] ?? 0)),
    end: () => settle(true),
  };
}
