/** Or end: waiting that a signal ends. */
import { asError } from "@acp/core";

/** What comes of it; rejects with the signal's reason as soon as that aborts. The work goes on. */
export function orEnd<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(asError(signal.reason));
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
