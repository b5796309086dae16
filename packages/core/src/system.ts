/**
 * System: the clock and the ids of a running process. The one file of core that touches Date,
 * timers and randomness.
 */
import { randomBytes, randomId } from "#crypto";
import { asError } from "./errors.js";
import type { Clock, IdPrefix, Ids, SleepOptions } from "./types/clock.js";

/** The longest delay a timer takes; longer sleeps are made of several. */
const TIMER_MS_MAX = 2_147_483_647;

/** What Node's timers have and other platforms' do not need: a way to keep no process alive. */
interface BackgroundTimer {
  unref(): void;
}

const canStandAside = (timer: unknown): timer is BackgroundTimer =>
  typeof timer === "object" && timer !== null && "unref" in timer;

function sleepOnce(ms: number, { signal, background }: SleepOptions): Promise<void> {
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
    if (background === true && canStandAside(timer)) timer.unref();
  });
}

/** Core may ask no operating system which boot it is: another process counts as another boot. */
const processBootId = `process_${randomId()}`;

/**
 * The process's clock. Its `bootId` is this process's own, and its `uptimeMs` counts from the
 * process's start, so what is kept for a later process is measured there by the wall clock.
 * `machineClock` of @acp/home knows the machine's boot.
 */
export const systemClock: Clock = Object.freeze({
  now: () => Date.now(),
  monotonic: () => performance.now(),
  bootId: () => processBootId,
  uptimeMs: () => performance.now(),
  async sleep(ms: number, options: SleepOptions): Promise<void> {
    options.signal.throwIfAborted();
    const endMs = performance.now() + ms;
    for (let left = ms; left > 0; left = endMs - performance.now())
      await sleepOnce(Math.min(left, TIMER_MS_MAX), options);
  },
});

let recordKey: Uint8Array | undefined;

/** The key of gates that are given none: random, and gone with the process. */
export const processRecordKey = (): Uint8Array => (recordKey ??= randomBytes(32));

/** Ids from random numbers: `<prefix>_<uuid>`, with a UUID of version 4 (RFC 9562). */
export const randomIds: Ids = Object.freeze({
  next: (prefix: IdPrefix) => `${prefix}_${randomId()}`,
});
