/**
 * Times on a command line.
 */
import { ConsentError, parseIsoTime } from "@acp/core";
import type { OptionName } from "./options.js";
import { parseDuration } from "./duration.js";
import { AROUND_MS, looksLikeTime, readMoment } from "./why/when.js";

/**
 * A moment: one with a zone, or of this machine's clock; of a day its beginning.
 *
 * @throws ConsentError `options_invalid` for anything else.
 */
export function readTime(text: string, option: OptionName, nowMs: number): number {
  const ms = parseIsoTime(text);
  if (ms !== undefined) return ms;
  if (!looksLikeTime(text))
    throw new ConsentError(
      "options_invalid",
      `Cannot read --${option} "${text}": write a time such as 2026-01-15T10:30:00Z, "2026-01-15 10:30", 10:30 or yesterday`,
    );
  const { atMs, fromMs, toMs } = readMoment(text, nowMs);
  if (atMs === undefined) return fromMs;
  // A time that came twice when the clock was set back: rather too much than too little.
  return option === "until" ? toMs - AROUND_MS - 1 : atMs;
}

/**
 * A moment, or how long ago it was.
 *
 * @throws ConsentError `options_invalid`.
 */
export function readWhen(text: string, option: OptionName, nowMs: number): number {
  return /^\d+[a-z]$/.test(text) ? nowMs - parseDuration(text) : readTime(text, option, nowMs);
}
