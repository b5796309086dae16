/**
 * Unescaping byte streams: JSON escapes and percent escapes are read away, byte by byte, while every byte remembers which bytes of the source
 * it stands for. What is no escape stays as it is. Holds at most twelve bytes.
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

/** What the bytes from a lead byte on are: more is needed, no escape, or an escape of `length` bytes that stands for `bytes`. */
type Reading = "more" | "none" | { readonly length: number; readonly bytes: readonly number[] };

/** How one kind of escape is written. */
export interface Escapes {
  /** The byte that an escape starts with. */
  readonly lead: number;
  read(seen: readonly number[]): Reading;
}

const BACKSLASH = 0x5c;
const PERCENT = 0x25;
const LETTER_U = 0x75;
/** The letter after a backslash, and the character that both stand for. */
const SIMPLE: ReadonlyMap<number, number> = new Map(
  Object.entries({ '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" }).map(([letter, char]) => [
    letter.charCodeAt(0),
    char.charCodeAt(0),
  ]),
);

/** `\n`, `\/`, `\u00e9`, pairs of surrogates and the like (RFC 8259 §7). */
export const jsonEscapes: Escapes = {
  lead: BACKSLASH,
  read(seen) {
    const [, kind] = seen;
    if (kind === undefined) return "more";
    const simple = SIMPLE.get(kind);
    if (simple !== undefined) return { length: 2, bytes: [simple] };
    if (kind !== LETTER_U) return "none";
    const unit = hexAt(seen, 2, 4);
    if (typeof unit === "string") return unit;
    const low = unit >= 0xd800 && unit < 0xdc00 ? lowSurrogate(seen) : "none";
    if (low === "more") return "more";
    if (low === "none") return { length: 6, bytes: utf8Of(unit) };
    return { length: 12, bytes: utf8Of(0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00)) };
  },
};

/** `%41`, hex digits of either case (RFC 3986 §2.1). */
export const percentEscapes: Escapes = {
  lead: PERCENT,
  read(seen) {
    const byte = hexAt(seen, 1, 2);
    return typeof byte === "string" ? byte : { length: 3, bytes: [byte] };
  },
};

/** The second half of a pair, if the bytes after the first one are one. */
function lowSurrogate(seen: readonly number[]): number | "more" | "none" {
  for (const [offset, wanted] of [BACKSLASH, LETTER_U].entries()) {
    const byte = seen[6 + offset];
    if (byte === undefined) return "more";
    if (byte !== wanted) return "none";
  }
  const unit = hexAt(seen, 8, 4);
  if (typeof unit === "string") return unit;
  return unit >= 0xdc00 && unit < 0xe000 ? unit : "none";
}

/** The number that `digits` hex digits from `from` on write. */
function hexAt(seen: readonly number[], from: number, digits: number): number | "more" | "none" {
  let number = 0;
  for (let at = from; at < from + digits; at++) {
    const byte = seen[at];
    if (byte === undefined) return "more";
    const digit = Number.parseInt(String.fromCharCode(byte), 16);
    if (Number.isNaN(digit)) return "none";
    number = number * 16 + digit;
  }
  return number;
}

/** A code point as UTF-8; a lone surrogate as the three bytes that no text has. */
function utf8Of(code: number): readonly number[] {
  if (code < 0x80) return [code];
  if (code < 0x800) return [0xc0 | (code >> 6), tail(code)];
  if (code < 0x1_0000) return [0xe0 | (code >> 12), tail(code >> 6), tail(code)];
  return [0xf0 | (code >> 18), tail(code >> 12), tail(code >> 6), tail(code)];
}

const tail = (bits: number): number => 0x80 | (bits & 0x3f);

interface Held {
  readonly byte: number;
  readonly start: number;
  readonly end: number;
}

/** A stage that reads one kind of escape away and hands on what remains. */
export function createUnescaper({ lead, read }: Escapes, next: ByteTaker): Unescaper {
  let held: Held[] = [];
  /** Reads from the front until more is needed or nothing is left. */
  const settle = (isOver: boolean): void => {
    let front = held[0];
    while (front !== undefined) {
      const reading = front.byte === lead ? read(held.map(({ byte }) => byte)) : "none";
      if (reading === "more" && !isOver) return;
      const length = typeof reading === "string" ? 1 : reading.length;
      const bytes = typeof reading === "string" ? [front.byte] : reading.bytes;
      const end = held[length - 1]?.end ?? front.end;
      for (const byte of bytes) next(byte, front.start, end);
      held = held.slice(length);
      front = held[0];
    }
  };
  return {
    take(byte, start, end) {
      if (held.length === 0 && byte !== lead) {
        next(byte, start, end);
        return;
      }
      held.push({ byte, start, end });
      settle(false);
    },
    heldFrom: () => held[0]?.start ?? Number.POSITIVE_INFINITY,
    end: () => settle(true),
  };
}
