/**
 * Moment: when something began, by both clocks, so that neither a wall clock set back nor a machine
 * that slept makes it live longer.
 */
import type { Clock } from "@acp/core";

/** A reading of both clocks. */
export interface Moment {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

/** Now. */
export const momentOf = (clock: Clock): Moment => ({
  wallMs: clock.now(),
  monotonicMs: clock.monotonic(),
});

/** Whether by either clock this long has passed since. */
export function isOver(clock: Clock, since: Moment, lifetimeMs: number): boolean {
  return Math.max(clock.now() - since.wallMs, clock.monotonic() - since.monotonicMs) >= lifetimeMs;
}
