/**
 * Local times: how a moment reads on this machine's clock, and which moments a local time means.
 * Twice in the year a clock is set: one hour then comes twice, another one never.
 */

/** A local time, as its parts. */
export interface LocalTime {
  readonly year: number;
  /** From 1. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const two = (number: number): string => String(number).padStart(2, "0");

/** Name of this machine's time zone, such as `Europe/Berlin`. */
export function zoneName(): string {
  return new Intl.DateTimeFormat("en").resolvedOptions().timeZone;
}

/** The parts of a moment on this machine's clock. */
export function localTime(ms: number): LocalTime {
  const at = new Date(ms);
  return {
    year: at.getFullYear(),
    month: at.getMonth() + 1,
    day: at.getDate(),
    hour: at.getHours(),
    minute: at.getMinutes(),
    second: at.getSeconds(),
  };
}

/** The date of a moment on this machine's clock: `2026-11-25`. */
export function showLocalDate(ms: number): string {
  const { year, month, day } = localTime(ms);
  return `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}`;
}

/** A moment on this machine's clock, with its offset: `2026-11-25 14:03:07 +01:00`. */
export function showLocal(ms: number): string {
  const { hour, minute, second } = localTime(ms);
  return `${showLocalDate(ms)} ${two(hour)}:${two(minute)}:${two(second)} ${offsetOf(ms)}`;
}

/** How far this machine's clock is ahead of UTC at a moment: `+01:00`. */
export function offsetOf(ms: number): string {
  const minutes = -new Date(ms).getTimezoneOffset();
  const [sign, size] = [minutes < 0 ? "-" : "+", Math.abs(minutes)];
  return `${sign}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

/**
 * Every moment at which this machine's clock shows the time, in order: none in the hour that is
 * skipped when the clock is set forward, two in the one that is repeated when it is set back.
 */
export function momentsOf(time: LocalTime): readonly number[] {
  const asUtc = utcOf(time);
  // A zone's offset changes at most once in two days.
  const offsets = [asUtc - DAY_MS, asUtc + DAY_MS].map(
    (ms) => new Date(ms).getTimezoneOffset() * MINUTE_MS,
  );
  const moments = new Set(offsets.map((offset) => asUtc + offset));
  return [...moments].filter((ms) => utcOf(localTime(ms)) === asUtc).sort((a, b) => a - b);
}

/** The first moment of a day on this machine's clock; some zones skip midnight. */
export function startOfDay(year: number, month: number, day: number): number {
  return startOf(new Date(year, month - 1, day));
}

function startOf(at: Date): number {
  return at.setHours(0, 0, 0, 0);
}

/** The first moment of the day that is some days before, or after, the day of a moment. */
export function dayFrom(ms: number, days: number): number {
  const { year, month, day } = localTime(ms);
  return startOfDay(year, month, day + days);
}

function utcOf({ year, month, day, hour, minute, second }: LocalTime): number {
  return Date.UTC(year, month - 1, day, hour, minute, second);
}
