/** Retry: which failures pass, and how long to wait for that. */
import { randomInt } from "node:crypto";
import type { Clock } from "@acp/core";
import type { ApiFailure, ApiReply } from "./bot-api.js";

const FIRST_WAIT_MS = 1_000;
/** The longest wait between two tries; also the one after a failure that a person must repair. */
export const WAIT_MS_MAX = 60_000;

/** Whether the same call may succeed later: too many calls, a fault of the service, no reply. */
export function isTemporary({ status }: ApiFailure): boolean {
  return status === 0 || status === 429 || status >= 500;
}

/** Whether the bot's token is refused. */
export function isTokenRefused(reply: ApiReply): boolean {
  return !reply.ok && (reply.status === 401 || reply.status === 404);
}

/**
 * How long to wait after a failure, the `count`-th in a row from 0: doubling, with jitter, unless
 * the service names a time.
 */
export function waitMsAfter(failure: ApiFailure, count: number): number {
  const wholeMs = Math.min(WAIT_MS_MAX, FIRST_WAIT_MS * 2 ** Math.min(count, 16));
  return failure.retryAfterMs ?? wholeMs - randomInt(wholeMs / 2);
}

/** Waits; `false` where the signal ended that. */
export async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await clock.sleep(ms, { signal });
    return true;
  } catch {
    return false;
  }
}
