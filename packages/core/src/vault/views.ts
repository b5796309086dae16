/**
 * Views: a byte stream as a reader sees it who reads escapes away. A view sees what the plain stream shows until an escape comes; from then on
 * it has a state of its own, until both states are the same again.
 */
import type { Masks } from "./patterns.js";
import type { Spans } from "./spans.js";
import { type ByteTaker, createUnescaper, type Escapes, jsonEscapes, percentEscapes, type Unescaper } from "./unescape.js";

/** Where a block stands, and the plain search's state before and after it. */
export interface BlockState {
  readonly from: number;
  readonly before: number;
  readonly after: number;
}

/** One view of a stream. */
export interface DecodedView {
  scan(block: Uint8Array, state: BlockState): void;
  /** The first byte in which a value may still begin; `Infinity` where this view knows no more than the plain search. */
  openFrom(): number;
  /** The stream is over; the view is ready for another one. */
  end(): void;
}

const PLUS = 0x2b;
const BLANK = 0x20;

/** Escapes that are read away one after the other; a form also writes a blank as `+`. */
interface Reading {
  readonly escapes: readonly Escapes[];
  readonly isForm?: boolean;
}

const READINGS: readonly Reading[] = [
  { escapes: [jsonEscapes] },
  { escapes: [jsonEscapes, jsonEscapes] }, // JSON inside a JSON text
  { escapes: [percentEscapes] },
  { escapes: [jsonEscapes, percentEscapes] },
  { escapes: [percentEscapes, jsonEscapes] },
];
const FORM_READINGS: readonly Reading[] = [
  { escapes: [percentEscapes], isForm: true },
  { escapes: [jsonEscapes, percentEscapes], isForm: true },
];

/** The views that the masks need. */
export function createViews(masks: Masks, add: Spans["add"]): readonly DecodedView[] {
  return [...READINGS, ...(masks.hasBlank ? FORM_READINGS : [])].map((reading) => createView(masks, reading, add));
}

function createView({ plain }: Masks, { escapes, isForm = false }: Reading, add: Spans["add"]): DecodedView {
  const { depth, found, label, next, reach } = plain;
  const marks = [...new Set([...escapes.map(({ lead }) => lead), ...(isForm ? [PLUS] : [])])];
  /** Whether this view has seen anything that the plain search has not. */
  let isApart = false;
  let state = 0;
  /** Where each of the last bytes starts in the stream, around a ring. */
  let starts = new Float64Array(0);
  let count = 0;

  const startOf = (back: number): number => starts[(count - back) % reach] ?? 0;
  const match: ByteTaker = (byte, start, end) => {
    starts[count++ % reach] = start;
    state = next(state, byte);
    const length = found[state] ?? 0;
    if (length > 0) add(startOf(length), end, { label: label[state] ?? 0, length });
  };
  const stages: Unescaper[] = [];
  for (const each of escapes.toReversed()) {
    const after = stages[0]?.take ?? match;
    stages.unshift(createUnescaper(each, after));
  }
  const first: ByteTaker = stages[0]?.take ?? match;
  const heldFrom = (): number => Math.min(...stages.map((stage) => stage.heldFrom()));
  const candidateFrom = (): number => (state === 0 ? Number.POSITIVE_INFINITY : startOf(depth[state] ?? 0));

  const leave = (from: number, before: number): void => {
    if (starts.length === 0) starts = new Float64Array(reach);
    isApart = true;
    state = before;
    count = depth[before] ?? 0;
    for (let at = 0; at < count; at++) starts[at] = from - count + at;
  };
  /** The same state with the same beginning will find the same. */
  const rejoin = (position: number, plainState: number): void => {
    const sees = plainState === 0 ? Number.POSITIVE_INFINITY : position - (depth[plainState] ?? 0);
    isApart = !(state === plainState && candidateFrom() === sees && heldFrom() === Number.POSITIVE_INFINITY);
  };

  return {
    scan(block, { from, before, after }) {
      if (!isApart) {
        if (!marks.some((mark) => block.includes(mark))) return;
        leave(from, before);
      }
      let at = from;
      for (const byte of block) {
        const start = at++;
        first(isForm && byte === PLUS ? BLANK : byte, start, at);
      }
      rejoin(at, after);
    },
    openFrom: () => (isApart ? Math.min(candidateFrom(), heldFrom()) : Number.POSITIVE_INFINITY),
    end() {
      if (isApart) for (const stage of stages) stage.end();
      [isApart, state, count] = [false, 0, 0];
    },
  };
}
