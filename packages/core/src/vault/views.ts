/**
 * Views: a byte stream as a reader sees it who reads escapes away. A view sees what the plain stream shows until an escape comes; from then on
 * it has a state of its own, until both states are the same again.
 */
import type { Masks } from "./patterns.js";
import type { Spans } from "./spans.js";
import { type ByteTaker, createUnescaper, type Escapes, jsonEscapes, percentEscapes, type Unescaper } from "./unescape.js";

/** Where a block stands, and the plain search's state before it and after each of its bytes. */
export interface BlockState {
  readonly from: number;
  readonly before: number;
  readonly after: Int32Array;
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
  { escapes: [jsonEscapes, jsonEscapes, jsonEscapes] }, // such a text in a message
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

/** The plain search over what a view reads, and where in the stream that stands. */
interface ViewSearch {
  readonly take: ByteTaker;
  /** Goes on from where the plain search is, `from` bytes into the stream in `plainState`. */
  leave(from: number, plainState: number): void;
  /** Whether it will find what the plain search finds: the same state with the same beginning. */
  agrees(position: number, plainState: number): boolean;
  /** Where the value starts that may have begun; `Infinity` where none has. */
  candidateFrom(): number;
}

function createViewSearch({ plain }: Masks, add: Spans["add"]): ViewSearch {
  const { depth, found, label, next, reach } = plain;
  let state = 0;
  /** Where each of the last bytes starts in the stream, around a ring. */
  let starts = new Float64Array(0);
  let count = 0;
  const startOf = (back: number): number => starts[(count - back) % reach] ?? 0;
  const candidateFrom = (): number => (state === 0 ? Number.POSITIVE_INFINITY : startOf(depth[state] ?? 0));
  return {
    candidateFrom,
    take(byte, start, end) {
      starts[count++ % reach] = start;
      state = next(state, byte);
      const length = found[state] ?? 0;
      if (length > 0) add(startOf(length), end, { label: label[state] ?? 0, length });
    },
    leave(from, plainState) {
      if (starts.length === 0) starts = new Float64Array(reach);
      state = plainState;
      count = depth[plainState] ?? 0;
      for (let at = 0; at < count; at++) starts[at] = from - count + at;
    },
    agrees: (position, plainState) => state === plainState && (state === 0 || candidateFrom() === position - (depth[state] ?? 0)),
  };
}

function createView(masks: Masks, { escapes, isForm = false }: Reading, add: Spans["add"]): DecodedView {
  const marks = [...new Set([...escapes.map(({ lead }) => lead), ...(isForm ? [PLUS] : [])])];
  const search = createViewSearch(masks, add);
  const stages: Unescaper[] = [];
  for (const each of escapes.toReversed()) stages.unshift(createUnescaper(each, stages[0]?.take ?? search.take));
  const first: ByteTaker = stages[0]?.take ?? search.take;
  /** Whether this view has seen anything that the plain search has not. */
  let isApart = false;
  const heldFrom = (): number => {
    let from = Number.POSITIVE_INFINITY;
    for (const stage of stages) from = Math.min(from, stage.heldFrom());
    return from;
  };
  return {
    scan(block, { from, before, after }) {
      let at = 0;
      while (at < block.length) {
        if (!isApart) {
          at = firstOf(block, marks, at);
          if (at === block.length) return;
          search.leave(from + at, at === 0 ? before : (after[at - 1] ?? 0));
        }
        const byte = block[at] ?? 0;
        const start = from + at;
        first(isForm && byte === PLUS ? BLANK : byte, start, start + 1);
        isApart = !(search.agrees(start + 1, after[at] ?? 0) && heldFrom() === Number.POSITIVE_INFINITY);
        at++;
      }
    },
    openFrom: () => (isApart ? Math.min(search.candidateFrom(), heldFrom()) : Number.POSITIVE_INFINITY),
    end() {
      if (isApart) for (const stage of stages) stage.end();
      isApart = false;
    },
  };
}

/** The first place from `from` on of one of some bytes; the block's end where there is none. */
function firstOf(block: Uint8Array, bytes: readonly number[], from: number): number {
  if (bytes.includes(block[from] ?? 0)) return from;
  let nearest = block.length;
  for (const byte of bytes) {
    const found = block.indexOf(byte, from);
    if (found !== -1 && found < nearest) nearest = found;
  }
  return nearest;
}
