/**
 * Losses: how often a client lost its resident, and when it may look for the next one. Imports
 * nothing.
 */

/** What a client remembers of it. */
export interface Losses {
  /** One more; false where there were too many within a minute, and it should wait. */
  note(): boolean;
  /** Nobody is looked for before this time is over. */
  wait(ms?: number): void;
  /** Whether one may be looked for now. */
  mayTry(): boolean;
}

/** So many losses in so long, and it is not tried again for a while. */
const LOSSES_MAX = 3;
const LOSSES_MS = 60_000;
/** How long that is. */
export const BACK_OFF_MS = 30_000;
/** Where none could be reached it is tried again, but not at once. */
const AGAIN_MS = 1_000;

/** Said to whoever waits meanwhile. */
export const LOOPING: string = `The resident gate ended ${LOSSES_MAX} times within a minute; run/resident.log in the home says why, and acp resident logs shows it`;

/**
 * None was lost.
 *
 * @param nowMs - Milliseconds of a clock that only runs forward.
 */
export function createLosses(nowMs: () => number): Losses {
  const lostMs: number[] = [];
  let notBeforeMs = 0;
  return {
    note() {
      const now = nowMs();
      lostMs.push(now);
      if (lostMs.length > LOSSES_MAX) lostMs.shift();
      return lostMs.length < LOSSES_MAX || now - (lostMs[0] ?? 0) >= LOSSES_MS;
    },
    wait: (ms = AGAIN_MS) => void (notBeforeMs = nowMs() + ms),
    mayTry: () => nowMs() >= notBeforeMs,
  };
}
