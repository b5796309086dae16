/**
 * Search: finds what an {@link Automaton} finds, but looks at few of the bytes. Every pattern has a
 * shortest length; the last three bytes of a window of that length tell how far the next place is
 * where a pattern may begin (Wu and Manber, 1994). Only there the automaton runs.
 */
import type { Automaton, Pattern } from "./automaton.js";

/** Takes a match: the index after its last byte, its length and its label. */
export type MatchTaker = (to: number, length: number, label: number) => void;

/**
 * The bytes to search. Before `from` there are as many as the state before has seen of a pattern.
 */
export interface Stretch {
  readonly bytes: Uint8Array;
  readonly from: number;
  readonly to: number;
}

/** The state after a stretch, from the one before it. */
export type Search = (stretch: Stretch, before: number, found: MatchTaker) => number;

/** So many bytes tell where patterns may begin. */
const GRAM = 3;
/** The longest step is one less than a window, and has seven bits. */
const WINDOW_MAX = 64;
/** In the table of steps: a pattern begins with such bytes. */
const BEGINS = 0x80;
const STEP = 0x7f;
/** From so many of them on the table is larger. */
const MANY_GRAMS = 4_096;

/** The steps by the hash of three bytes. */
interface Steps {
  readonly table: Uint8Array;
  readonly window: number;
  /** The hash shifts the first byte by twice as many bits, the second by so many. */
  readonly shift: number;
}

function stepsOf(patterns: readonly Pattern[]): Steps {
  const window = patterns.reduce(
    (least, { bytes, complete = bytes.length }) => Math.min(least, complete),
    WINDOW_MAX,
  );
  const shift = patterns.length * window > MANY_GRAMS ? 5 : 4;
  const table = new Uint8Array(1 << (8 + 2 * shift)).fill(Math.max(1, window - GRAM + 1));
  for (const { bytes } of patterns) {
    for (let at = 0; at + GRAM <= window; at++) {
      const hash =
        ((bytes[at] ?? 0) << (2 * shift)) ^ ((bytes[at + 1] ?? 0) << shift) ^ (bytes[at + 2] ?? 0);
      const known = table[hash] ?? 0;
      const step = Math.min(known & STEP, window - GRAM - at);
      table[hash] = step | (known & BEGINS) | (at === 0 ? BEGINS : 0);
    }
  }
  return { table, window, shift };
}

/**
 * The first place from `from` on where a pattern may begin, or where less than a window is left.
 */
type NextPlace = (stretch: Stretch, from: number) => number;

function createNextPlace({ table, window, shift }: Steps, fold: Uint8Array): NextPlace {
  const twice = 2 * shift;
  const isShort = window < GRAM;
  return ({ bytes, to }: Stretch, from: number): number => {
    const last = isShort ? -1 : to - window;
    let at = from;
    while (at <= last) {
      const end = at + window;
      const hash =
        ((fold[bytes[end - 3] ?? 0] ?? 0) << twice) ^
        ((fold[bytes[end - 2] ?? 0] ?? 0) << shift) ^
        (fold[bytes[end - 1] ?? 0] ?? 0);
      const step = (table[hash] ?? 0) & STEP;
      if (step !== 0) {
        at += step;
        continue;
      }
      const first =
        ((fold[bytes[at] ?? 0] ?? 0) << twice) ^
        ((fold[bytes[at + 1] ?? 0] ?? 0) << shift) ^
        (fold[bytes[at + 2] ?? 0] ?? 0);
      if (((table[first] ?? 0) & BEGINS) !== 0) return at;
      at++;
    }
    return at;
  };
}

/**
 * The search for the patterns that the automaton is of.
 *
 * @param fold - What each byte counts as.
 */
export function createSearch(
  automaton: Automaton,
  patterns: readonly Pattern[],
  fold: Uint8Array,
): Search {
  if (patterns.length === 0) return () => 0;
  const { depth, found, label, next } = automaton;
  const steps = stepsOf(patterns);
  const { window } = steps;
  const candidate = createNextPlace(steps, fold);

  return (stretch, before, take) => {
    const { bytes, from, to } = stretch;
    let state = before;
    let at = from;
    while (at < to) {
      if (state === 0) at = candidate(stretch, at);
      /** Where the bytes begin that are looked at; from there to here nothing else begins. */
      const began = at - (depth[state] ?? 0);
      let seen = 0;
      do {
        state = next(state, fold[bytes[at++] ?? 0] ?? 0);
        const length = found[state] ?? 0;
        if (length !== 0) take(at, length, label[state] ?? 0);
        seen = depth[state] ?? 0;
      } while (at < to && (seen >= GRAM || at - seen <= began || to - at + seen < window));
      if (at >= to) return state;
      // The few bytes that may begin a pattern are looked at again, from the first.
      at -= seen;
      state = 0;
    }
    return state;
  };
}
