/**
 * Watch: looks at everything under way once in a while, and ends what stands still or lives too
 * long. Counts that the sockets keep anyway are compared, so that bytes pass without a timer of
 * their own.
 */
import type { Clock } from "@acp/core";

/** What is looked at. */
export interface Watched {
  /** A number that changes while it moves; `undefined` while standing still is right. */
  progress(): number | undefined;
  readonly idleMs: number;
  /** Left out: it may live as long as it moves. */
  readonly totalMs?: number;
  /** Called once; it is looked at no more. */
  onOver(why: "idle" | "total"): void;
}

/** Looks at many things with one timer. */
export interface Watch {
  /** Begins to look at something; the returned function ends it. */
  add(watched: Watched): () => void;
  /** Ends all of it. */
  stop(): void;
}

interface Entry {
  readonly watched: Watched;
  readonly startedMs: number;
  last: number | undefined;
  movedMs: number;
}

function whyOver(entry: Entry, nowMs: number): "idle" | "total" | undefined {
  const { watched, startedMs } = entry;
  const progress = watched.progress();
  if (progress === undefined || progress !== entry.last) entry.movedMs = nowMs;
  entry.last = progress;
  if (watched.totalMs !== undefined && nowMs - startedMs >= watched.totalMs) return "total";
  return nowMs - entry.movedMs >= watched.idleMs ? "idle" : undefined;
}

/**
 * Makes a watch.
 *
 * @param everyMs - How often it looks; nothing is ended earlier than its time, and little later.
 */
export function createWatch(clock: Clock, everyMs: number): Watch {
  const entries = new Set<Entry>();
  const stopped = new AbortController();
  let running = false;
  const sweep = (): void => {
    const nowMs = clock.monotonic();
    for (const entry of entries) {
      const why = whyOver(entry, nowMs);
      if (why === undefined) continue;
      entries.delete(entry);
      entry.watched.onOver(why);
    }
  };
  const run = async (): Promise<void> => {
    running = true;
    try {
      while (entries.size > 0) {
        await clock.sleep(everyMs, { signal: stopped.signal, background: true });
        sweep();
      }
    } catch {
      // Stopped: the only reason for a sleep to end early.
    } finally {
      running = false;
    }
  };
  return {
    add(watched) {
      const nowMs = clock.monotonic();
      const entry: Entry = { watched, startedMs: nowMs, last: watched.progress(), movedMs: nowMs };
      entries.add(entry);
      if (!running && !stopped.signal.aborted) void run();
      return () => entries.delete(entry);
    },
    stop() {
      entries.clear();
      stopped.abort();
    },
  };
}
