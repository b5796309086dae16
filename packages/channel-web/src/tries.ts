/**
 * Tries: how many went wrong within the last minute. Everybody's together: a guesser can have many
 * addresses.
 */
import type { Clock } from "@acp/core";

const WINDOW_MS = 60_000;
/** Wrong tries within the window after which none is looked at. */
const TRIES_MAX = 10;

/** Counts what went wrong. */
export interface Tries {
  /** Whether another one may be looked at. */
  isLeft(): boolean;
  fail(): void;
}

/** No try yet. */
export function createTries(clock: Clock): Tries {
  const failedAtMs: number[] = [];
  return {
    isLeft() {
      const sinceMs = clock.monotonic() - WINDOW_MS;
      while (failedAtMs[0] !== undefined && failedAtMs[0] <= sinceMs) failedAtMs.shift();
      return failedAtMs.length < TRIES_MAX;
    },
    fail: () => void failedAtMs.push(clock.monotonic()),
  };
}
