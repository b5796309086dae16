/**
 * HidingCharacters: what may not stand in anything that a person is shown, as a list of code points
 * of its own, so that it can judge core's escaping and every channel's output. Source: the Unicode
 * character database, by range; only "unassigned" is asked of the platform.
 */

/**
 * First and last code point of each range, and what it is. The line feed is left out: it separates
 * rows.
 */
const RANGES: readonly (readonly [first: number, last: number, what: string])[] = [
  [0x00, 0x09, "control"],
  [0x0b, 0x1f, "control"],
  [0x7f, 0x9f, "control"],
  [0xa0, 0xa0, "unusual space"],
  [0xad, 0xad, "soft hyphen"],
  [0x034f, 0x034f, "zero width"],
  [0x0600, 0x0605, "format"],
  [0x061c, 0x061c, "bidi"],
  [0x06dd, 0x06dd, "format"],
  [0x070f, 0x070f, "format"],
  [0x0890, 0x0891, "format"],
  [0x08e2, 0x08e2, "format"],
  [0x115f, 0x1160, "blank letter"],
  [0x1680, 0x1680, "unusual space"],
  [0x17b4, 0x17b5, "zero width"],
  [0x180b, 0x180f, "variation selector"],
  [0x2000, 0x200a, "unusual space"],
  [0x200b, 0x200d, "zero width"],
  [0x200e, 0x200f, "bidi"],
  [0x2028, 0x2029, "line separator"],
  [0x202a, 0x202e, "bidi"],
  [0x202f, 0x202f, "unusual space"],
  [0x205f, 0x205f, "unusual space"],
  [0x2060, 0x2065, "zero width"],
  [0x2066, 0x2069, "bidi"],
  [0x206a, 0x206f, "format"],
  [0x2800, 0x2800, "blank letter"],
  [0x3000, 0x3000, "unusual space"],
  [0x3164, 0x3164, "blank letter"],
  [0xd800, 0xdfff, "unpaired surrogate"],
  [0xe000, 0xf8ff, "private use"],
  [0xfe00, 0xfe0f, "variation selector"],
  [0xfeff, 0xfeff, "zero width"],
  [0xffa0, 0xffa0, "blank letter"],
  [0xfff0, 0xfffb, "format"],
  [0x110bd, 0x110bd, "format"],
  [0x110cd, 0x110cd, "format"],
  [0x13430, 0x1343f, "format"],
  [0x13441, 0x13442, "blank letter"],
  [0x16fe4, 0x16fe4, "blank letter"],
  [0x1bca0, 0x1bca3, "format"],
  [0x1d159, 0x1d159, "blank letter"],
  [0x1d173, 0x1d17a, "format"],
  [0xe0000, 0xe007f, "tag"],
  [0xe0080, 0xe0fff, "variation selector"],
  [0xf0000, 0x10ffff, "private use"],
];
const UNASSIGNED = /\p{Cn}/u;

/** A character that must not be shown as it is. */
export interface HidingCharacter {
  /** The character's code point, e.g. `U+202E`. */
  readonly codePoint: string;
  /** Index in the text, in UTF-16 units. */
  readonly at: number;
  /** What kind it is, e.g. `bidi`. */
  readonly what: string;
}

/**
 * Every control, bidi, zero-width, blank, tag, variation-selector, private-use or unassigned
 * character of a text; a line feed does not count.
 */
export function hidingCharactersIn(text: string): readonly HidingCharacter[] {
  const found: HidingCharacter[] = [];
  let at = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    const what =
      RANGES.find(([first, last]) => code >= first && code <= last)?.[2] ??
      (UNASSIGNED.test(character) ? "unassigned" : undefined);
    if (what !== undefined)
      found.push({ codePoint: `U+${code.toString(16).toUpperCase().padStart(4, "0")}`, at, what });
    at += character.length;
  }
  return found;
}
