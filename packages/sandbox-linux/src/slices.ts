/**
 * Slices: long synchronous work done a little at a time, so that this process goes on to answer
 * whoever else waits for it: a question, a pause, a key.
 */
import { setImmediate as breathe } from "node:timers/promises";

/** Work that yields wherever it may be interrupted. */
export type Sliced<T> = Generator<undefined, T>;

/** How it is done. */
export interface SliceOptions {
  /** Ends it; what it holds is closed first. */
  readonly signal?: AbortSignal | undefined;
  /** Called between two slices. */
  readonly onSlice?: (() => void) | undefined;
}

/** The longest that others wait, in milliseconds, unless one step takes longer by itself. */
const SLICE_MS = 10;

/**
 * Does it, with everything else of this process in between.
 *
 * @throws The signal's reason once it is aborted.
 */
export async function inSlices<T>(
  work: Sliced<T>,
  { signal, onSlice }: SliceOptions = {},
): Promise<T> {
  for (;;) {
    const endMs = performance.now() + SLICE_MS;
    let step = signal?.aborted === true ? work.throw(signal.reason) : work.next();
    while (step.done !== true && performance.now() < endMs) step = work.next();
    if (step.done === true) return step.value;
    onSlice?.();
    await breathe();
  }
}

/** Does it in one go. */
export function atOnce<T>(work: Sliced<T>): T {
  let step = work.next();
  while (step.done !== true) step = work.next();
  return step.value;
}
