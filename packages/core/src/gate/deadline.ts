/**
 * Deadline: a part that does not answer in time has failed. One sleeping timer for all work that is under way.
 */
import { asError, ConsentError } from "../errors.js";
import type { Clock } from "../ports.js";

/** Waits for a part's work, but not longer than the deadline; then rejects with ConsentError `part_timeout`. */
export interface Deadline {
  <T>(work: Promise<T>, what: string): Promise<T>;
}

// A reason of one's own: the default one would be a DOMException with a stack trace, made anew for every piece of work.
const IDLE = new Error("nothing waits any more");

interface Waiting {
  readonly dueMs: number;
  readonly lapse: () => void;
}

/** A deadline of `limitMs` monotonic milliseconds for every piece of work. */
export function createDeadline(clock: Clock, limitMs: number): Deadline {
  const waiting = new Set<Waiting>();
  let timer: AbortController | undefined;

  async function watch(stop: AbortSignal): Promise<void> {
    for (const { dueMs } of waiting) {
      await clock.sleep(dueMs - clock.monotonic(), { signal: stop });
      for (const each of waiting) if (each.dueMs <= clock.monotonic()) each.lapse();
    }
  }

  function add(entry: Waiting): void {
    waiting.add(entry);
    if (timer !== undefined) return;
    timer = new AbortController();
    // Ends by being aborted when nothing waits any more; that is its normal end.
    watch(timer.signal).catch(() => undefined);
  }

  function remove(entry: Waiting): void {
    if (!waiting.delete(entry) || waiting.size > 0) return;
    timer?.abort(IDLE);
    timer = undefined;
  }

  return <T>(work: Promise<T>, what: string): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      const lapse = (): void => {
        remove(entry);
        reject(new ConsentError("part_timeout", `Cannot wait for ${what} any longer: it did not answer within ${limitMs} ms`));
      };
      const entry: Waiting = { dueMs: clock.monotonic() + limitMs, lapse };
      add(entry);
      work.then(
        (value) => {
          remove(entry);
          resolve(value);
        },
        (error: unknown) => {
          remove(entry);
          reject(asError(error));
        },
      );
    });
}
