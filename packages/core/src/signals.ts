/**
 * Signals: looking at an AbortSignal that a caller holds. It may be anything's: one that throws
 * counts as aborted, so that nobody is served who cannot say that they still wait.
 */

/** Whether the signal aborted, or cannot be read. */
export function isAborted(signal: AbortSignal | undefined): boolean {
  if (signal === undefined) return false;
  try {
    return signal.aborted;
  } catch {
    return true;
  }
}

/**
 * Calls `then` when the signal aborts, now if it has or cannot be listened to; returns how to stop
 * listening. Never throws.
 */
export function onAbort(signal: AbortSignal | undefined, then: () => void): () => void {
  if (signal === undefined) return () => undefined;
  try {
    if (isAborted(signal)) then();
    else signal.addEventListener("abort", then, { once: true });
  } catch {
    then();
  }
  return () => {
    try {
      signal.removeEventListener("abort", then);
    } catch {
      // Then it goes on listening to nothing.
    }
  };
}
