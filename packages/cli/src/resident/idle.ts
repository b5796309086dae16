/** Idle: for how long nobody has needed a resident. */

/** Ends after this long without a client, an approver or an unlocked key. */
export const IDLE_MS = 600_000;

/** Whether nobody needs it. */
export interface Idle {
  /** Somebody came or went. */
  touch(): void;
  /** Whether nobody has needed it for {@link IDLE_MS}. */
  isOver(): boolean;
}

/**
 * Begins now.
 *
 * @param isNeeded - Whether somebody needs it at this moment.
 * @param nowMs - Milliseconds of a clock that only runs forward.
 */
export function createIdle(isNeeded: () => boolean, nowMs: () => number): Idle {
  let lastMs = nowMs();
  const touch = (): void => {
    lastMs = nowMs();
  };
  return {
    touch,
    isOver() {
      if (isNeeded()) touch();
      return nowMs() - lastMs > IDLE_MS;
    },
  };
}
