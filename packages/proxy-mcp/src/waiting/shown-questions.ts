/**
 * Shown questions: those whose page this client was told of. Each is shown once, however often its
 * call comes again, and is forgotten once it is over.
 */
import type { Clock, Pending } from "@acp/core";

/** A question whose page the client knows. */
export interface Shown {
  readonly pending: Pending;
  /** Says so to the client, if there is a way; called once. */
  readonly tellOver: () => void;
}

/** The questions of one client. */
export interface ShownQuestions {
  /** False where it is shown already, or no more may be. */
  add(shown: Shown): boolean;
  get(requestId: string): Shown | undefined;
  /** The question is over. */
  end(requestId: string): void;
  clear(): void;
}

/** Of one client at a time: a person cannot read more pages than that. */
const SHOWN_MAX = 16;

interface Entry extends Shown {
  readonly stop: AbortController;
}

/** Nothing is shown yet. */
export function createShownQuestions(clock: Clock, shownMax: number = SHOWN_MAX): ShownQuestions {
  const entries = new Map<string, Entry>();
  const end = (requestId: string): void => {
    const entry = entries.get(requestId);
    if (entry === undefined) return;
    entries.delete(requestId);
    entry.stop.abort(new Error("the question is over"));
    entry.tellOver();
  };
  return {
    add(shown) {
      const { requestId, expiresAtMs } = shown.pending;
      if (entries.has(requestId) || entries.size >= shownMax) return false;
      const stop = new AbortController();
      entries.set(requestId, { ...shown, stop });
      // One that nobody comes back for is over by then at the latest.
      const leftMs = Math.max(0, expiresAtMs - clock.now());
      clock.sleep(leftMs, { signal: stop.signal, background: true }).then(
        () => end(requestId),
        () => undefined,
      );
      return true;
    },
    get: (requestId) => entries.get(requestId),
    end,
    clear() {
      for (const { stop } of entries.values()) stop.abort(new Error("the client is gone"));
      entries.clear();
    },
  };
}
