/**
 * Pause: while it is set, every question is denied. Kept in a file of the home, so that it holds for every gate and over restarts.
 * A file that cannot be understood means paused. Format: spec/home.md.
 */
import { readFileSync } from "node:fs";
import { unlink } from "node:fs/promises";
import { ConsentError, isoTime, parseIsoTime } from "@acp/core";
import { syncDirectory, writeFileAtomic } from "./atomic.js";
import { causeText, hasErrno, cannot } from "./errors.js";
import type { HomePaths } from "./paths.js";

/** When a pause ends: a time in milliseconds since 1970, or when somebody ends it. */
export type PauseEnd = number | "until-off";

const VERSION = "1";
const OFF = "off";
const UNREADABLE = "all questions are paused: the pause file cannot be read; run `acp pause --off`";

/**
 * Pauses all questions, in place of a pause that was set before.
 *
 * @throws ConsentError `options_invalid` for a time that is none, `home_invalid` where it cannot be kept.
 */
export async function setPause(home: HomePaths, end: PauseEnd): Promise<void> {
  const until = end === "until-off" ? OFF : timeText(end);
  await writeFileAtomic(home.pausePath, `${JSON.stringify({ version: VERSION, until })}\n`);
}

function timeText(ms: number): string {
  const text = Number.isSafeInteger(ms) && Math.abs(ms) <= 8.64e15 ? isoTime(ms) : "";
  if (parseIsoTime(text) === undefined) throw new ConsentError("options_invalid", `Cannot pause until ${ms}: it is not a time`);
  return text;
}

/**
 * Ends a pause; false where none was set.
 *
 * @throws ConsentError `home_invalid` where the file cannot be removed: the pause then goes on.
 */
export async function clearPause(home: HomePaths): Promise<boolean> {
  try {
    await unlink(home.pausePath);
    await syncDirectory(home.dir);
    return true;
  } catch (error) {
    if (hasErrno(error, "ENOENT")) return false;
    throw cannot("remove pause file", home.pausePath)(causeText(error), error);
  }
}

/** Why questions are paused at this moment; `undefined` where they are not. Reads one small file, synchronously. */
export function readPause(home: HomePaths, nowMs: number): string | undefined {
  let text: string;
  try {
    text = readFileSync(home.pausePath, "utf8");
  } catch (error) {
    return hasErrno(error, "ENOENT") ? undefined : UNREADABLE;
  }
  const until = readUntil(text);
  if (until === OFF) return "all questions are paused until `acp pause --off`";
  const untilMs = until === undefined ? undefined : parseIsoTime(until);
  if (untilMs === undefined) return UNREADABLE;
  return nowMs < untilMs ? `all questions are paused until ${until}` : undefined;
}

function readUntil(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || !("version" in value) || value.version !== VERSION) return undefined;
    return "until" in value && typeof value.until === "string" ? value.until : undefined;
  } catch {
    return undefined;
  }
}
