/**
 * Slices: long work of a process that has other things to do, cut into pieces of a few milliseconds
 * between which whatever else is due is done.
 */
import { setImmediate, setTimeout } from "node:timers/promises";

/** How long a slice lasts: what else is due waits no longer than this, and one line. */
const SLICE_MS = 8;

/** The pieces of one work. */
export interface Slices {
  /** Whether it is time to rest. */
  isOver(): boolean;
  /** Lets others go first, and begins the next piece. Rejects where the signal aborts. */
  rest(): Promise<void>;
}

/** How much of a processor a work takes. */
export interface SlicesOptions {
  /** Above 0; 1, unless given: all that others leave. */
  readonly share?: number | undefined;
  /** Ends the work at its next rest. */
  readonly signal?: AbortSignal | undefined;
  /** Waits; for tests. */
  readonly wait?: ((ms: number, signal: AbortSignal | undefined) => Promise<void>) | undefined;
}

/** Begins the first piece. */
export function createSlices({ share = 1, signal, wait = sleep }: SlicesOptions = {}): Slices {
  let startMs = performance.now();
  return {
    isOver: () => performance.now() - startMs >= SLICE_MS,
    async rest() {
      const busyMs = performance.now() - startMs;
      if (share === 1) await setImmediate();
      else await wait(busyMs * (1 / share - 1), signal);
      startMs = performance.now();
    },
  };
}

const sleep = async (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  setTimeout(ms, undefined, { ref: false, ...(signal !== undefined && { signal }) });
