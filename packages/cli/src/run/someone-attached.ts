/**
 * Someone attached: a question in a gate's first moments waits for whoever has `acp approve` open
 * already, or is starting it.
 */
import { setTimeout as sleep } from "node:timers/promises";

const ATTACH_MS = 5_000;
const LOOK_MS = 50;

/**
 * Waits until there is somebody to ask, and for some seconds at most. `attached` says how many
 * there are; `undefined` where questions go another way.
 */
export async function someoneAttached(
  attached: () => number | undefined,
  signal: AbortSignal,
): Promise<void> {
  for (let left = ATTACH_MS; left > 0 && attached() === 0 && !signal.aborted; left -= LOOK_MS)
    await sleep(LOOK_MS);
}
