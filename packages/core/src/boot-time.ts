/**
 * Boot time: a moment by the clock that every process of one boot of the machine shares, and how
 * much is left of a time that one process began and another one reads. Nobody lengthens it by
 * setting the wall clock back. Format: spec/consent.md §8.
 */
import type { Clock } from "./types/clock.js";

/** A moment: which boot, and how long after it. */
export interface BootTime {
  /** Which boot, as {@link Clock.bootId} names it. */
  readonly bootId: string;
  /** Milliseconds since that boot. */
  readonly uptimeMs: number;
}

/** A time from one moment to another, by the wall clock, and when it began by the other one. */
export interface KeptTime {
  /** Wall time of its start, milliseconds since 1970. */
  readonly fromMs: number;
  /** Wall time of its end, milliseconds since 1970. */
  readonly untilMs: number;
  /** Left out: no boot that anybody knows. */
  readonly began?: BootTime | undefined;
}

/** This moment. */
export function bootTimeOf(clock: Pick<Clock, "bootId" | "uptimeMs">): BootTime {
  return { bootId: clock.bootId(), uptimeMs: clock.uptimeMs() };
}

/**
 * Milliseconds left; 0 where the time is over. In the boot in which it began the earlier of the two
 * clocks ends it. In another boot only the wall clock is left, and where that is behind
 * `lastEventMs` it was set back.
 *
 * @param lastEventMs - Wall time of the last event in the log. Left out: nothing says whether the
 *   wall clock was set back, and what began in another boot is over.
 */
export function timeLeftMs(
  { fromMs, untilMs, began }: KeptTime,
  clock: Pick<Clock, "now" | "bootId" | "uptimeMs">,
  lastEventMs: number | undefined,
): number {
  const nowMs = clock.now();
  const byWallMs = untilMs - nowMs;
  if (began !== undefined && began.bootId === clock.bootId()) {
    const passedMs = clock.uptimeMs() - began.uptimeMs;
    // An uptime before the beginning is no reading of that boot's clock.
    return atLeastNone(passedMs >= 0 ? Math.min(byWallMs, untilMs - fromMs - passedMs) : 0);
  }
  if (lastEventMs === undefined || !(nowMs >= lastEventMs) || nowMs < fromMs) return 0;
  return atLeastNone(byWallMs);
}

/** A time that is no number is none. */
const atLeastNone = (ms: number): number => (ms > 0 ? ms : 0);
