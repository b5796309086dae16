/** Drain: waits for what a server has, before it is ended because a person wants that. */
import type { Clock } from "@acp/core";
import type { ServerFailure } from "../failure.js";
import { DRAIN_CALLS_MS, DRAIN_LOOK_MS, RETRY_MS_MIN } from "../limits.js";

/** Resolves when nothing is owed any more, after some seconds at most. Never rejects. */
export async function drain(
  clock: Clock,
  isBusy: () => boolean,
  signal: AbortSignal,
): Promise<void> {
  const endMs = clock.monotonic() + DRAIN_CALLS_MS;
  try {
    while (isBusy() && clock.monotonic() < endMs)
      await clock.sleep(DRAIN_LOOK_MS, { signal, background: true });
  } catch {
    // The client is gone.
  }
}

/** Why a server takes nothing new, though another process of it comes. */
export function beingReplaced(server: string): ServerFailure {
  return {
    server,
    reason: `Server "${server}" is being restarted`,
    retryAfterMs: RETRY_MS_MIN,
  };
}
