/**
 * Wall clock: notices that it went back, by the monotonic one beside it. Events keep the wall time
 * they were given; their order is `seq`.
 */
import type { Clock } from "@acp/core";

/** The parts of a clock that the log reads. */
export type LogClock = Pick<Clock, "now" | "monotonic">;

/** One look at the clocks. */
export interface ClockReading {
  readonly nowMs: number;
  /** Whole monotonic milliseconds since the watch began. */
  readonly monoMs: number;
  /** How far the wall clock went back since the last look, where it did. */
  readonly backMs?: number;
}

/** Smaller steps are the clock being set right, and differences between the machine's clocks. */
const TOLERATED_MS = 1_000;

/** Looks at the clocks in turn. `lastMs` is the last wall time that is known from before. */
export function watchClock(clock: LogClock, lastMs?: number): () => ClockReading {
  const startMs = clock.monotonic();
  let ahead = lastMs === undefined ? Number.NEGATIVE_INFINITY : lastMs - startMs;
  return () => {
    const [nowMs, monotonicMs] = [clock.now(), clock.monotonic()];
    const monoMs = Math.floor(monotonicMs - startMs);
    const backMs = Math.round(ahead - (nowMs - monotonicMs));
    if (backMs <= TOLERATED_MS) {
      ahead = Math.max(ahead, nowMs - monotonicMs);
      return { nowMs, monoMs };
    }
    ahead = nowMs - monotonicMs;
    return { nowMs, monoMs, backMs };
  };
}
