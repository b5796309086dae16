/**
 * Boot time: a moment by the clock that every process of one boot of the machine shares, and how
 * much is left of a time that one process began and another one reads. Nobody lengthens it by
 * setting the wall clock back. Format: spec/consent.md §8.
 */
import type { Clock } from "./types/clock.js";

/** A moment by the clock of the machine's boot. */
export interface BootTime {
  /** Name of the boot, as {@link Clock.bootId} gives it. */
  readonly bootId: string;
  /** Milliseconds since that boot. */
  readonly uptimeMs: number;
}

/** A time span by the wall clock, and when it began by the clock of the machine's boot. */
export interface KeptTime {
  /** Wall time of its start, milliseconds since 1970. */
  readonly fromMs: number;
  /** Wall time of its end, milliseconds since 1970. */
  readonly untilMs: number;
  /** When it began, by the clock of the machine's boot; absent where nobody noted it. */
  readonly began?: BootTime | undefined;
}

/** This moment. */
export function bootTimeOf(clock: Pick<Clock, "bootId" | "uptimeMs">): BootTime {
  return { bootId: clock.bootId(), uptimeMs: clock.uptimeMs() };
}

/**
 * Milliseconds left of a span; 0 when it is over. In the boot in which the span began, whichever
 * clock ends it first counts. In another boot only the wall clock is left, and a wall clock that is
 * behind `lastEventMs` was set back: then nothing is left. Source: spec/consent.md §8.
 *
 * @param lastEventMs - Wall time of the last event in the log, milliseconds since 1970. Where it is
 *   `undefined`, nothing shows whether the wall clock was set back, and a span that began in
 *   another boot is over.
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
