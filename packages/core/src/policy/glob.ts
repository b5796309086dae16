/**
 * Globs for names, hosts and argument text: `*` is any text, `?` is one character (code point),
 * everything else is itself. Anchored at both ends; no character is special in the text, so a
 * newline, a slash or a leading dot hides nothing. No regular expression: the time is linear in the
 * text. Format: spec/policy.md §5. Vectors: spec/vectors/globs.json.
 */

/** Tells whether a text matches. */
export type TextTest = (text: string) => boolean;

/** Whether `pattern` has a wildcard. */
export function hasWildcard(pattern: string): boolean {
  return pattern.includes("*") || pattern.includes("?");
}

/** Compiles a pattern, once, into a test of the whole text, as both are written. */
export function compileGlob(pattern: string): TextTest {
  const [prefix = "", ...pieces] = pattern.split(/\*+/);
  const suffix = pieces.pop();
  if (suffix === undefined) return whole(prefix);
  if (pattern.includes("?")) return withAnyCharacter(prefix, pieces, suffix);
  const [middle, ...more] = pieces;
  if (middle === undefined) return ends(prefix, suffix);
  if (more.length === 0 && prefix === "" && suffix === "") return (text) => text.includes(middle);
  return inOrder(prefix, pieces, suffix);
}

function whole(pattern: string): TextTest {
  if (!pattern.includes("?")) return (text) => text === pattern;
  const piece = compilePiece(pattern);
  return (text) => piece.startingAt(text, 0) === text.length;
}

function ends(prefix: string, suffix: string): TextTest {
  if (suffix === "") return prefix === "" ? () => true : (text) => hasAt(text, prefix, 0);
  const least = prefix.length + suffix.length;
  return (text) =>
    text.length >= least &&
    hasAt(text, prefix, 0) &&
    hasAt(text, suffix, text.length - suffix.length);
}

/**
 * As `text.startsWith(piece, at)`, which measured four times slower. The end of a piece tells more
 * than its start.
 */
function hasAt(text: string, piece: string, at: number): boolean {
  for (let index = piece.length - 1; index >= 0; index--) {
    if (text.charCodeAt(at + index) !== piece.charCodeAt(index)) return false;
  }
  return true;
}

/**
 * The leftmost place for each piece leaves the most room for the next, so no search is ever
 * repeated.
 */
function inOrder(prefix: string, pieces: readonly string[], suffix: string): TextTest {
  return (text) => {
    const end = text.length - suffix.length;
    if (!hasAt(text, prefix, 0) || !hasAt(text, suffix, end)) return false;
    let at = prefix.length;
    for (const piece of pieces) {
      const found = text.indexOf(piece, at);
      if (found < 0) return false;
      at = found + piece.length;
    }
    return at <= end;
  };
}

function withAnyCharacter(prefix: string, middle: readonly string[], suffix: string): TextTest {
  const first = compilePiece(prefix);
  const pieces = middle.map(compilePiece);
  const last = compilePiece(suffix);
  return (text) => {
    const end = last.endingAtEnd(text);
    let at = first.startingAt(text, 0);
    for (const piece of pieces) {
      if (at < 0) return false;
      at = piece.find(text, at);
    }
    return at >= 0 && at <= end;
  };
}

/** A stretch of pattern without `*`. All positions are in UTF-16 units; -1 is "no". */
interface Piece {
  /** Where the piece ends if it starts at `from`. */
  startingAt(text: string, from: number): number;
  /** Where the piece starts if it ends with the text. */
  endingAtEnd(text: string): number;
  /** Where the leftmost occurrence at or after `from` ends. */
  find(text: string, from: number): number;
}

function compilePiece(pattern: string): Piece {
  const wanted = Array.from(pattern, (character) =>
    character === "?" ? ANY : (character.codePointAt(0) ?? ANY),
  );
  const find = shiftAnd(wanted);
  const startingAt = (text: string, from: number): number => {
    let at = from;
    for (const code of wanted) {
      const found = text.codePointAt(at);
      if (found === undefined || (code !== ANY && code !== found)) return -1;
      at += found > 0xffff ? 2 : 1;
    }
    return at;
  };
  const endingAtEnd = (text: string): number => {
    let at = text.length;
    for (let count = wanted.length; count > 0; count--) {
      at -= isPair(text, at - 2) ? 2 : 1;
      if (at < 0) return -1;
    }
    return startingAt(text, at) === text.length ? at : -1;
  };
  return {
    startingAt,
    endingAtEnd,
    find: pattern.includes("?")
      ? find
      : (text, from) => endOf(text.indexOf(pattern, from), pattern),
  };
}

const ANY = -1;
const endOf = (found: number, piece: string): number => (found < 0 ? -1 : found + piece.length);
const isPair = (text: string, at: number): boolean =>
  at >= 0 && (text.codePointAt(at) ?? 0) > 0xffff;

/**
 * Shift-And (Baeza-Yates and Gonnet, 1992): a bit for every place in the piece, so each character
 * of the text is read once.
 */
function shiftAnd(wanted: readonly number[]): Piece["find"] {
  const words = Math.ceil(wanted.length / 32);
  const goal = wanted.length - 1;
  const { masks, rowOf } = masksOf(wanted, words);
  return (text, from) => {
    const state = new Uint32Array(words);
    for (let at = from; at < text.length; ) {
      const code = text.codePointAt(at) ?? 0;
      at += code > 0xffff ? 2 : 1;
      const row = rowOf(code) * words;
      let carry = 1;
      for (let word = 0; word < words; word++) {
        const bits = state[word] ?? 0;
        state[word] = ((bits << 1) | carry) & (masks[row + word] ?? 0);
        carry = bits >>> 31;
      }
      if ((((state[goal >>> 5] ?? 0) >>> (goal & 31)) & 1) === 1) return at;
    }
    return -1;
  };
}

/**
 * For every character a row of bits: the places where the piece takes it. Row 0 is for the
 * characters that only `?` takes.
 */
function masksOf(
  wanted: readonly number[],
  words: number,
): { readonly masks: Uint32Array; rowOf(code: number): number } {
  const codes = [ANY, ...new Set(wanted.filter((code) => code !== ANY))];
  const masks = new Uint32Array(codes.length * words);
  for (const [row, code] of codes.entries()) {
    for (const [place, each] of wanted.entries()) {
      const cell = row * words + (place >>> 5);
      if (each === code || each === ANY) masks[cell] = (masks[cell] ?? 0) | (1 << (place & 31));
    }
  }
  const rows = new Map(codes.map((code, row) => [code, row]));
  const ascii = Uint16Array.from({ length: 128 }, (_, code) => rows.get(code) ?? 0);
  return { masks, rowOf: (code) => ascii[code] ?? rows.get(code) ?? 0 };
}
