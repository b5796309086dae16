/**
 * Streams: what one reader sees of a byte stream, block by block, and what has to be kept of a
 * block because a value or an escape that began in it may go on in the next one.
 */
import type { Finder } from "./patterns.js";
import type { Spans } from "./spans.js";
import { ESCAPE_BYTES_MAX, type Escapes, type Run } from "./unescape.js";

/**
 * So many bytes are read at once; where they hold no escape, the views that read escapes away have
 * nothing to do.
 */
export const BLOCK_BYTES = 4_096;
/** Each stage may write besides what it reads what the stage before held back. */
const STAGES_MAX = 4;

/**
 * The search's state after a block, and the block's last bytes: those that may begin a value, and
 * those that may begin an escape.
 */
export interface Kept extends Run {
  readonly state: number;
}

/**
 * One block as a reader sees it. Places count from the block's first byte; what came before has
 * negative ones.
 */
export interface Stream extends Run {
  /** The block's own bytes; before them are those that were kept. */
  readonly from: number;
  readonly to: number;
  /** The bits of the bytes in the block that escapes start with. */
  readonly leads: number;
  readonly before: Kept;
  readonly after: Kept;
  /** Who has read escapes out of it already. */
  readonly readings: Reader[];
}

/** One kind of escape read out of a stream. */
export interface Reader {
  readonly escapes: Escapes;
  /** How many bytes it held back before the block. */
  readonly pending: number;
  readonly stream: Stream;
  /** How many it holds back now. */
  readonly pendingAfter: number;
}

/** Nothing was read yet. */
export const NOTHING_KEPT: Kept = {
  state: 0,
  bytes: new Uint8Array(0),
  starts: new Int32Array(0),
  ends: new Int32Array(0),
};

/** The first place in which a value may begin; `Infinity` where none has begun. */
export function openIn({ state, starts }: Kept, { depth }: Finder): number {
  return state === 0
    ? Number.POSITIVE_INFINITY
    : (starts[starts.length - (depth[state] ?? 0)] ?? 0);
}

/** Whether two readers are in the same state, and see the same from now on. */
export function isSame(left: Kept, right: Kept): boolean {
  if (left === right) return true;
  if (left.state !== right.state || left.bytes.length !== right.bytes.length) return false;
  for (let at = 0; at < left.bytes.length; at++) {
    if (
      left.bytes[at] !== right.bytes[at] ||
      left.starts[at] !== right.starts[at] ||
      left.ends[at] !== right.ends[at]
    )
      return false;
  }
  return true;
}

/** The first index of a block in a buffer; before it there is room for what is kept. */
export const roomBefore = ({ reach }: Finder): number => Math.max(reach, ESCAPE_BYTES_MAX);

/** Room for a block, and for what is kept before it. */
export function createRun(finder: Finder, blockBytes: number): Run {
  const length = roomBefore(finder) + blockBytes + STAGES_MAX * ESCAPE_BYTES_MAX;
  return {
    bytes: new Uint8Array(length),
    starts: new Int32Array(length),
    ends: new Int32Array(length),
  };
}

/**
 * What is searched: a block in its buffer, after what was kept, and where the block starts in the
 * stream.
 */
interface Block {
  readonly run: Run;
  readonly to: number;
  readonly before: Kept;
  readonly position: number;
  readonly length: number;
}

/** Searches a block; returns what is kept of it, for the block after its `length` bytes. */
export function searchBlock(
  finder: Finder,
  { run, to, before, position, length }: Block,
  add: Spans["add"],
): Kept {
  const { bytes, starts, ends } = run;
  const from = roomBefore(finder);
  const state = finder.search({ bytes, from, to }, before.state, (end, matched, label) => {
    add(position + (starts[end - matched] ?? 0), position + (ends[end - 1] ?? 0), {
      label,
      length: matched,
    });
  });
  const wanted = Math.max(finder.depth[state] ?? 0, ESCAPE_BYTES_MAX);
  const first = to - Math.min(wanted, to - from + before.bytes.length);
  return {
    state,
    bytes: bytes.slice(first, to),
    starts: starts.slice(first, to).map((place) => place - length),
    ends: ends.slice(first, to).map((place) => place - length),
  };
}
