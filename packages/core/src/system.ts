/**
 * System: the clock and the ids of a running process. The one file of core that touches Date, timers and randomness.
 */
import { randomId } from "#crypto";
import { asError } from "./errors.js";
import type { Clock, IdPrefix, Ids } from "./ports.js";

/** The longest delay a timer takes; longer sleeps are made of several. */
const TIMER_MS_MAX = 2_147_483_647;

function sleepOnce(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(asError(signal.reason));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal.addEventListener("abort", stop, { once: true });
  });
}

/** The process's clock. */
export const systemClock: Clock = Object.freeze({
  now: () => Date.now(),
  monotonic: () => performance.now(),
  async sleep(ms: number, { signal }: { readonly signal: AbortSignal }): Promise<void> {
    signal.throwIfAborted();
    const endMs = performance.now() + ms;
    for (let left = ms; left > 0; left = endMs - performance.now()) await sleepOnce(Math.min(left, TIMER_MS_MAX), signal);
  },
});

/** Random ids: `<prefix>_<uuid v4>`. */
export const randomIds: Ids = Object.freeze({ next: (prefix: IdPrefix) => `${prefix}_${randomId()}` });
