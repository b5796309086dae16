/**
 * Deadline: a part that does not answer in time has failed. One sleeping timer for all work that is
 * under way.
 */
import { asError, ConsentError } from "../errors.js";
import type { Clock } from "../types/clock.js";

/**
 * Waits for a part's work, but not longer than the deadline; then rejects with ConsentError
 * `part_timeout`.
 */
export interface Deadline {
  <T>(work: Promise<T>, what: string): Promise<T>;
}

interface Waiting {
  readonly dueMs: number;
  readonly lapse: (why: string) => void;
}

/** A deadline of `limitMs` monotonic milliseconds for every piece of work. */
export function createDeadline(clock: Clock, limitMs: number): Deadline {
  // In the order of their due times, since all get the same time.
  const waiting = new Set<Waiting>();
  let watching = false;
  const silence = `it did not answer within ${limitMs} ms`;
  // Aborts never: the watch ends by itself when there is nothing left to watch.
  const { signal } = new AbortController();

  // Making and cancelling a timer for every piece of work would cost more than deciding: one sleep
  // serves all that comes during it.
  async function watch(): Promise<void> {
    watching = true;
    try {
      for (let [first] = waiting; first !== undefined; [first] = waiting) {
        await clock.sleep(first.dueMs - clock.monotonic(), { signal, background: true });
        const nowMs = clock.monotonic();
        // A reading that is no number leaves nobody time.
        for (const each of waiting) if (!(nowMs < each.dueMs)) each.lapse(silence);
      }
    } catch (error) {
      // Nobody could say when the time of these is over, so it is over now. The next piece of work
      // tries the clock again.
      for (const each of waiting) each.lapse(`the clock failed: ${asError(error).message}`);
    } finally {
      watching = false;
    }
  }

  return <T>(work: Promise<T>, what: string): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      const lapse = (why: string): void => {
        waiting.delete(entry);
        reject(new ConsentError("part_timeout", `Cannot wait for ${what} any longer: ${why}`));
      };
      const entry: Waiting = { dueMs: clock.monotonic() + limitMs, lapse };
      waiting.add(entry);
      if (!watching) void watch();
      work.then(
        (value) => {
          waiting.delete(entry);
          resolve(value);
        },
        (error: unknown) => {
          waiting.delete(entry);
          reject(asError(error));
        },
      );
    });
}
