/**
 * Stances: what becomes of a text that can be read in several ways. An allow needs every reading of
 * the text to match the same reading of its pattern; an ask or deny needs one. INVARIANT: whatever
 * a pattern allows, the same pattern denies. Format: spec/policy.md §5.
 */
import { compileGlob, hasWildcard } from "./glob.js";
import type { TextTest } from "./glob.js";
import { FOLDS, isPlain } from "./readings.js";
import type { Fold, Reader } from "./readings.js";

/** How a text is read. */
export interface ReadingStance {
  /** True for `allow`. */
  readonly grants: boolean;
  readonly read: Reader;
}

/** A pattern in one of its readings. */
export interface PatternReading {
  /** Equal keys are equal patterns. */
  readonly key: string;
  readonly test: TextTest;
}

const WILDCARDS = /([*?])/;

/** Compiles a glob for all readings of a text. */
export function compileStance(pattern: string, stance: ReadingStance): TextTest {
  // Every text matches, or every reading of one text does.
  if (/^\*+$/.test(pattern) || (stance.grants && !hasWildcard(pattern)))
    return compileGlob(pattern);
  return joinReadings(stance, (fold) => {
    const key = fold === undefined ? pattern : foldGlob(pattern, fold);
    return { key, test: compileGlob(key) };
  });
}

/**
 * The pattern with each part between its wildcards folded; a fold leaves the wildcards themselves
 * as they are.
 */
export function foldGlob(pattern: string, fold: Fold): string {
  return pattern
    .split(WILDCARDS)
    .map((part) => fold(part))
    .join("");
}

/**
 * One test of a pattern's readings; `make` gets no fold for the pattern as it is. The readings are
 * made at the first test: of many rules most are never tested (anchors.ts).
 */
export function joinReadings(
  stance: ReadingStance,
  make: (fold: Fold | undefined) => PatternReading,
): TextTest {
  let made: TextTest | undefined;
  return (text) => (made ??= joined(stance, make))(text);
}

function joined(
  { grants, read }: ReadingStance,
  make: (fold: Fold | undefined) => PatternReading,
): TextTest {
  const asItIs = make(undefined);
  const readings = FOLDS.map(make);
  const [first, ...more] = new Map(readings.slice(1).map(({ key, test }) => [key, test])).values();
  if (first === undefined) return asItIs.test;
  if (grants) {
    return (text) => {
      if (!asItIs.test(text)) return false;
      if (isPlain(text)) return true;
      const given = read(text);
      return readings.every(({ test }, index) => test(given.of(index)));
    };
  }
  const alone = more.length === 0 && isPlain(asItIs.key);
  return (text) => {
    const given = read(text);
    if (!given.isPlain)
      return asItIs.test(text) || readings.some(({ test }, index) => test(given.of(index)));
    // Plain texts differ in case only, so that a plain pattern is held against one reading.
    const plain = given.of(1);
    return first(plain) || (!alone && (asItIs.test(text) || more.some((test) => test(plain))));
  };
}
