/** Waiting: what a client waits for from the other side, each with its time and its signal. */
import { type Clock, ConsentError, asError } from "@acp/core";

/** How long, and until when, to wait for an answer. */
export interface WaitOptions {
  /** Stops waiting; the other side is not told. */
  readonly signal?: AbortSignal | undefined;
  /** How long to wait, in milliseconds; 30,000 unless given. */
  readonly timeoutMs?: number;
}

/** Answers that are awaited, by id. */
export interface Waiting<T> {
  /**
   * @param what - For error texts: `the answer to "resolveExecApproval"`.
   * @throws ConsentError `part_timeout` or `aborted`, or what {@link Waiting.failAll} was given.
   */
  wait(id: string, what: string, options?: WaitOptions): Promise<T>;
  /** Hands an answer in; false where nobody waits for it (any more). */
  settle(id: string, value: T): boolean;
  fail(id: string, error: Error): void;
  failAll(error: Error): void;
}

const TIMEOUT_MS = 30_000;

interface Waiter<T> {
  readonly resolve: (value: T) => void;
  readonly reject: (error: Error) => void;
}

/** An empty list. */
export function createWaiting<T>(clock: Clock): Waiting<T> {
  const waiters = new Map<string, Waiter<T>>();
  const take = (id: string): Waiter<T> | undefined => {
    const waiter = waiters.get(id);
    waiters.delete(id);
    return waiter;
  };
  return {
    async wait(id, what, { signal, timeoutMs = TIMEOUT_MS } = {}) {
      const over = new AbortController();
      const giveUp = (error: ConsentError): void => take(id)?.reject(error);
      const onAbort = (): void =>
        giveUp(
          new ConsentError("aborted", `Cannot wait for ${what}: the caller canceled it`, {
            cause: asError(signal?.reason),
          }),
        );
      try {
        return await new Promise<T>((resolve, reject) => {
          waiters.set(id, { resolve, reject });
          if (signal?.aborted === true) return onAbort();
          signal?.addEventListener("abort", onAbort, { once: true, signal: over.signal });
          clock.sleep(timeoutMs, { signal: over.signal }).then(
            () =>
              giveUp(
                new ConsentError(
                  "part_timeout",
                  `Cannot wait for ${what}: none came in ${timeoutMs} ms`,
                ),
              ),
            () => undefined,
          );
        });
      } finally {
        over.abort();
      }
    },
    settle(id, value) {
      const waiter = take(id);
      waiter?.resolve(value);
      return waiter !== undefined;
    },
    fail: (id, error) => take(id)?.reject(error),
    failAll(error) {
      for (const id of waiters.keys()) take(id)?.reject(error);
    },
  };
}
