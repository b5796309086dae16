/** Watchers: who wants to hear of changes of a record in memory. */
import type { PendingRecord } from "../approval/pending-record.js";

/** Watchers by record id. */
export interface Watchers {
  /** Tells the watchers of an id that its record changed. */
  wake(id: string): void;
  /**
   * Yields what `read` gives now, then after every change of its version, until the signal aborts
   * or there is nothing to read.
   */
  watch(
    id: string,
    read: () => PendingRecord | undefined,
    signal: AbortSignal,
  ): AsyncIterable<PendingRecord>;
}

/** No watchers yet. */
export function createWatchers(): Watchers {
  const wakers = new Map<string, Set<() => void>>();

  const add = (id: string, waker: () => void): (() => void) => {
    const mine = (wakers.get(id) ?? new Set()).add(waker);
    wakers.set(id, mine);
    return () => {
      mine.delete(waker);
      if (mine.size === 0) wakers.delete(id);
    };
  };

  return {
    wake: (id) => {
      for (const waker of wakers.get(id) ?? []) waker();
    },
    async *watch(id, read, signal) {
      let wake = (): void => undefined;
      const waker = (): void => wake();
      const remove = add(id, waker);
      signal.addEventListener("abort", waker, { once: true });
      try {
        for (let seen = -1; !signal.aborted; ) {
          // Made before reading, so that no change falls between the two.
          const changed = new Promise<void>((resolve) => (wake = resolve));
          const record = read();
          if (record === undefined) return;
          if (record.version === seen) await changed;
          else {
            seen = record.version;
            yield record;
          }
        }
      } finally {
        signal.removeEventListener("abort", waker);
        remove();
      }
    },
  };
}
