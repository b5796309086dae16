/**
 * Durations as people write them: `30s`, `15m`, `2h`, `1d`.
 */
import { ConsentError } from "@acp/core";

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
/** A year: a longer pause is one without an end. */
const DURATION_MS_MAX = 365 * 86_400_000;

/**
 * Milliseconds of a written duration.
 *
 * @throws ConsentError `options_invalid`.
 */
export function parseDuration(text: string): number {
  const [, digits, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  if (digits === undefined || unit === undefined) {
    throw new ConsentError(
      "options_invalid",
      `Cannot read duration "${text}": write a number and s, m, h or d, such as 30m`,
    );
  }
  const ms = Number(digits) * (UNIT_MS[unit] ?? 0);
  if (ms === 0 || ms > DURATION_MS_MAX)
    throw new ConsentError(
      "options_invalid",
      `Cannot use duration "${text}": it must be between 1s and 365d`,
    );
  return ms;
}

/** A duration for a person: the two largest units. */
export function showDuration(ms: number): string {
  let rest = Math.max(0, Math.round(ms / 1_000));
  const parts: string[] = [];
  for (const [unit, seconds] of [
    ["d", 86_400],
    ["h", 3_600],
    ["min", 60],
    ["s", 1],
  ] as const) {
    const count = Math.floor(rest / seconds);
    rest -= count * seconds;
    if (count > 0) parts.push(`${count} ${unit}`);
  }
  return parts.length === 0 ? "0 s" : parts.slice(0, 2).join(" ");
}
