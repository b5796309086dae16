/**
 * Pause file: the one format of every pause of a home, of all questions and of one agent. Formats:
 * spec/home.md §5.
 */
import { lstatSync, readFileSync } from "node:fs";
import { unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { ConsentError, isJsonObject, isoTime, type JsonObject, parseIsoTime } from "@acp/core";
import { syncDirectory, writeFileAtomic } from "./atomic.js";
import { causeText, cannot, hasErrno } from "./errors.js";
import { onceATurn } from "./once-a-turn.js";

/** When a pause ends: a time in milliseconds since 1970, or `until-off` for no set end. */
export type PauseEnd = number | "until-off";

/** A pause as its file holds it. */
export interface KeptPause {
  readonly until: PauseEnd;
  /** `until` as it is written. */
  readonly untilText: string;
  /** Everything that the file says. */
  readonly fields: JsonObject;
}

const VERSION = "1";
const OFF = "off";

/** @throws ConsentError `options_invalid` for a time that is none. */
export function pauseEndText(end: PauseEnd): string {
  if (end === "until-off") return OFF;
  const text = Number.isSafeInteger(end) && Math.abs(end) <= 8.64e15 ? isoTime(end) : "";
  if (parseIsoTime(text) === undefined)
    throw new ConsentError("options_invalid", `Cannot pause until ${end}: it is not a time`);
  return text;
}

/**
 * Writes a pause in place of what the file held.
 *
 * @throws ConsentError `home_invalid` where it cannot be kept.
 */
export function writePause(
  path: string,
  fields: { readonly agent?: string; readonly until: string },
): Promise<void> {
  return writeFileAtomic(path, `${JSON.stringify({ version: VERSION, ...fields })}\n`);
}

/** What a file says; `undefined` where it cannot be understood. */
export function parsePause(text: string): KeptPause | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (!isJsonObject(value) || value["version"] !== VERSION) return undefined;
    const { until: untilText } = value;
    if (typeof untilText !== "string") return undefined;
    const until = untilText === OFF ? "until-off" : parseIsoTime(untilText);
    return until === undefined ? undefined : { until, untilText, fields: value };
  } catch {
    return undefined;
  }
}

/**
 * The text of a pause file; `undefined` where there is none. Synchronous. Throws what reading
 * throws.
 */
export const readPauseText: (path: string) => string | undefined = onceATurn((path) => {
  try {
    // Nearly always there is none, and an error costs more than a look.
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
    return readFileSync(path, "utf8");
  } catch (error) {
    if (hasErrno(error, "ENOENT")) return undefined;
    throw error;
  }
});

/** Whether a pause is over at a time. */
export const isPauseOver = ({ until }: KeptPause, nowMs: number): boolean =>
  until !== "until-off" && until <= nowMs;

/**
 * Ends a pause; false where none was set.
 *
 * @throws ConsentError `home_invalid` where the file cannot be removed: the pause then goes on.
 */
export async function removePause(path: string): Promise<boolean> {
  try {
    await unlink(path);
    await syncDirectory(dirname(path));
    return true;
  } catch (error) {
    if (hasErrno(error, "ENOENT")) return false;
    throw cannot("remove pause file", path)(causeText(error), error);
  }
}
