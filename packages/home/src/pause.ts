/**
 * Pause: while it is set, every question is denied. It is a file of the home, so it applies to
 * every gate and survives restarts. A file that cannot be understood means paused. Format:
 * spec/home.md §5.
 */
import type { HomePaths } from "./paths.js";
import {
  isPauseOver,
  type KeptPause,
  parsePause,
  type PauseEnd,
  pauseEndText,
  readPauseText,
  removePause,
  writePause,
} from "./pause-file.js";

const UNREADABLE = "all questions are paused: the pause file cannot be read; run `acp pause --off`";

/**
 * Pauses all questions, replacing an earlier pause.
 *
 * @throws ConsentError `options_invalid` for an invalid time; `home_invalid` if the pause cannot be
 * stored.
 */
export async function setPause(home: HomePaths, end: PauseEnd): Promise<void> {
  await writePause(home.pausePath, { until: pauseEndText(end) });
}

/**
 * Ends the pause of all questions.
 *
 * @returns False if there was none.
 * @throws ConsentError `home_invalid` if the file cannot be removed: the pause then continues.
 */
export function clearPause(home: HomePaths): Promise<boolean> {
  return removePause(home.pausePath);
}

/**
 * Returns why questions are paused at `nowMs` (milliseconds since 1970); `undefined` if they are
 * not. Reads one small file synchronously.
 */
export function readPause(home: HomePaths, nowMs: number): string | undefined {
  let kept: KeptPause | undefined;
  try {
    const text = readPauseText(home.pausePath);
    if (text === undefined) return undefined;
    kept = parsePause(text);
  } catch {
    return UNREADABLE;
  }
  if (kept === undefined) return UNREADABLE;
  if (isPauseOver(kept, nowMs)) return undefined;
  return kept.until === "until-off"
    ? "all questions are paused until `acp pause --off`"
    : `all questions are paused until ${kept.untilText}`;
}
