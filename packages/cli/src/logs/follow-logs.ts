/**
 * Following the logs of a home: all that are there, and each that appears later, since every gate
 * that starts may write one of its own.
 */
import { setTimeout as wait } from "node:timers/promises";
import { followAuditLog } from "@acp/audit";
import type { AuditEvent, AuditFilter } from "@acp/audit";

/** What is followed, and how. */
export interface Following {
  /** The logs that are there now; asked again and again. */
  readonly list: () => Promise<readonly string[]>;
  /**
   * Where each log that is known already is gone on with; any other one is shown from its start.
   */
  readonly fromSeqs: ReadonlyMap<string, number>;
  readonly filter: AuditFilter;
  /** Ends the following; nothing is thrown then. */
  readonly signal: AbortSignal;
  readonly onEvent: (event: AuditEvent) => void;
  /** Waits before it looks for new logs again; a second of real time where it is left out. */
  readonly pause?: (signal: AbortSignal) => Promise<void>;
}

const PAUSE_MS = 1_000;

/**
 * Follows logs until the signal aborts.
 *
 * @throws ConsentError `audit_failed` at a line that is no event, whichever log it is in.
 */
export async function followLogs({
  list,
  fromSeqs,
  filter,
  signal,
  onEvent,
  pause = defaultPause,
}: Following): Promise<void> {
  const failed = new AbortController();
  const ended = AbortSignal.any([signal, failed.signal]);
  const known = new Map<string, Promise<void>>();

  async function follow(path: string): Promise<void> {
    try {
      const fromSeq = fromSeqs.get(path) ?? 0;
      for await (const event of followAuditLog(path, { filter, signal: ended, fromSeq }))
        onEvent(event);
    } catch (error) {
      failed.abort(error);
    }
  }

  try {
    while (!ended.aborted) {
      for (const path of await list()) if (!known.has(path)) known.set(path, follow(path));
      await pause(ended);
    }
  } catch (error) {
    if (!ended.aborted) failed.abort(error);
  }
  await Promise.all(known.values());
  failed.signal.throwIfAborted();
}

function defaultPause(signal: AbortSignal): Promise<void> {
  return wait(PAUSE_MS, undefined, { signal });
}
