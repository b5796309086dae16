/**
 * Deadline: a part that does not answer in time has failed. One sleeping timer for all work that is under way.
 */
import { asError, ConsentError } from "../errors.js";
import type { Clock } from "../ports.js";

/** Waits for a part's work, but not longer than the deadline; then rejects with ConsentError `part_timeout`. */
export interface Deadline {
  <T>(work: Promise<T>, what: string): Promise<T>;
}

interface Waiting {
  readonly dueMs: number;
  readonly lapse: () => void;
}

/** A deadline of `limitMs` monotonic milliseconds for every piece of work. */
export function createDeadline(clock: Clock, limitMs: number): Deadline {
  // In the order of their due times, since all get the same time.
  const waiting = new Set<Waiting>();
  let watching = false;
  // Aborts never: the watch ends by itself when there is nothing left to watch.
  const { signal } = new AbortController();

  // Making and cancelling a timer for every piece of work would cost more than deciding: one sleep serves all that comes during it.
  async function watch(): Promise<void> {
    watching = true;
    for (let [first] = waiting; first !== undefined; [first] = waiting) {
      await clock.sleep(first.dueMs - clock.monotonic(), { signal, background: true });
      for (const each of waiting) if (each.dueMs <= clock.monotonic()) each.lapse();
    }
    watching = false;
  }

  return <T>(work: Promise<T>, what: string): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      const lapse = (): void => {
        waiting.delete(entry);
        reject(new ConsentError("part_timeout", `Cannot wait for ${what} any longer: it did not answer within ${limitMs} ms`));
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
