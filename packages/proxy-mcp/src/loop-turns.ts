/**
 * Loop turns: work that comes in heaps, such as the lines of a chunk, is done a piece at a time. A
 * turn of the event loop does one piece of one proxy, and between two of them the process hears
 * everybody else. Nothing is decided here.
 */
import type { Readable } from "node:stream";
import { BYTES_AT_ONCE, LINES_AT_ONCE, LONG_ARGUMENT_CHARS } from "./limits.js";
import { createRota } from "./rota.js";

/** One proxy's turns: its pieces keep their order. */
export interface LoopTurns {
  /** Does a piece in a later turn of the loop, behind what this proxy put in before. */
  later(piece: () => void): void;
  /** How many lines of one stream are a piece now. */
  linesAtOnce(): number;
}

/** A stream that is read in turns. */
export interface Reading {
  /** Stops or resumes it. */
  pause(on: boolean): void;
  /** Whether something that came waits for its turn. */
  isResting(): boolean;
  /** From now on all of it is taken as it comes. */
  free(): void;
}

const pieces = createRota<() => void>();
let isScheduled = false;

/** The turns of one proxy; all proxies of the process share the loop. */
export function createLoopTurns(linesAtOnce: () => number = () => LINES_AT_ONCE): LoopTurns {
  const put = pieces.owner();
  return {
    linesAtOnce,
    later(piece) {
      put(piece);
      schedule();
    },
  };
}

/** Resolves in a later turn of the loop, behind what this proxy put in before. */
export function turnOf({ later }: LoopTurns): Promise<void> {
  return new Promise((resolve) => later(resolve));
}

/** What long arguments take, such as a copy, a digest or a judgment, is a piece of its own each. */
export function turnOfLong(turns: LoopTurns, argumentChars: number): Promise<void> | undefined {
  return argumentChars > LONG_ARGUMENT_CHARS ? turnOf(turns) : undefined;
}

function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  setImmediate(() => {
    isScheduled = false;
    const piece = pieces.next();
    if (piece === undefined) return;
    schedule();
    piece();
  });
}

/**
 * Reads a stream, some lines and bytes of it in each turn of the loop; what else it has waits in it.
 * It flows at once.
 */
export function readInTurns(
  stream: Readable,
  { later, linesAtOnce }: LoopTurns,
  take: (bytes: Buffer) => void,
): Reading {
  let isPaused = false;
  let isResting = false;
  let isFree = false;
  /** Of this turn of the loop. */
  let lines = 0;
  let bytes = 0;
  const flow = (): void => {
    if (!isPaused && !isResting) stream.resume();
  };
  const begin = (): void => {
    lines = 0;
    bytes = 0;
  };
  const rest = (left: Buffer): void => {
    isResting = true;
    stream.pause();
    // Its end, too, waits until this was taken.
    if (left.length > 0) stream.unshift(left);
    later(() => {
      isResting = false;
      begin();
      flow();
    });
  };
  stream.on("data", (chunk: Buffer) => {
    // It may have been made to flow by its owner.
    if (isFree) return take(chunk);
    if (bytes === 0) setImmediate(() => isResting || begin());
    const linesMax = linesAtOnce();
    const head = headOf(chunk, linesMax - lines, BYTES_AT_ONCE - bytes);
    lines += head.lines;
    bytes += head.end;
    if (lines >= linesMax || bytes >= BYTES_AT_ONCE) rest(chunk.subarray(head.end));
    take(chunk.subarray(0, head.end));
  });
  flow();
  return {
    pause(on) {
      isPaused = on;
      if (on) stream.pause();
      else flow();
    },
    isResting: () => isResting,
    free: () => void (isFree = true),
  };
}

const LF = 0x0a;

/** The beginning of a chunk with so many ends of lines and bytes at most. */
function headOf(
  chunk: Buffer,
  linesMax: number,
  bytesMax: number,
): { readonly end: number; readonly lines: number } {
  const end = Math.min(chunk.length, bytesMax);
  let from = 0;
  for (let lines = 0; lines < linesMax; lines++) {
    const at = chunk.indexOf(LF, from);
    if (at === -1 || at >= end) return { end, lines };
    from = at + 1;
  }
  return { end: from, lines: linesMax };
}
