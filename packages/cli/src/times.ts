/**
 * Times on a command line.
 */
import { ConsentError, parseIsoTime } from "@acp/core";
import type { OptionName } from "./options.js";
import { parseDuration } from "./duration.js";

const DATE = /^\d{4}-\d\d-\d\d$/;

/**
 * A moment.
 *
 * @throws ConsentError `options_invalid`.
 */
export function readTime(text: string, option: OptionName): number {
  const ms = parseIsoTime(DATE.test(text) ? `${text}T00:00:00Z` : text);
  if (ms === undefined)
    throw new ConsentError(
      "options_invalid",
      `Cannot read --${option} "${text}": write a time such as 2026-01-15T10:30:00Z`,
    );
  return ms;
}

/**
 * A moment, or how long ago it was.
 *
 * @throws ConsentError `options_invalid`.
 */
export function readWhen(text: string, option: OptionName, nowMs: number): number {
  return /^\d+[a-z]$/.test(text) ? nowMs - parseDuration(text) : readTime(text, option);
}
