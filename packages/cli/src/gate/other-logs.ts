/**
 * Other logs: a gate writes one log, and the gates before it may have left work open in others.
 * Whoever starts ends that there too.
 */
import { openAuditLog, readAuditLog, readLastEventMs } from "@acp/audit";
import type { AuditLogOptions, RecoverOptions } from "@acp/audit";
import { isConsentError } from "@acp/core";
import type { Home } from "@acp/home";
import { readIndexKey } from "../logs/index-key.js";
import { listAuditFiles } from "../logs/log-files.js";
import { refuseLatched } from "../logs/log-latch.js";

/** Parts of {@link recoverOtherLogs}. */
export interface OtherLogs {
  readonly home: Home;
  /** The log of this gate, which is looked after already. */
  readonly own: string;
  readonly recover: RecoverOptions;
  /** What a log of the home is opened with. */
  readonly optionsOf: (path: string) => AuditLogOptions;
  /** Hears how many questions, answers and calls were ended in a log. */
  readonly onEnded: (path: string, ended: number) => void;
  /** Hears why a log could not be looked after: it says nothing of our own. */
  readonly onError: (path: string, message: string) => void;
}

/**
 * Ends what dead gates left open in the home's other logs. Logs that a live process writes are left
 * to it. Never rejects for a log.
 */
export async function recoverOtherLogs({
  home,
  own,
  recover,
  optionsOf,
  onEnded,
  onError,
}: OtherLogs): Promise<void> {
  for (const path of await listAuditFiles(home.dir)) {
    if (path === own) continue;
    try {
      await refuseLatched(path);
      await using log = await openAuditLog({ ...optionsOf(path), recover });
      if (log.ended > 0) onEnded(path, log.ended);
    } catch (error) {
      if (!isConsentError(error, "audit_busy"))
        onError(path, error instanceof Error ? error.message : String(error));
    }
  }
}

/**
 * Which of these questions have an event of such a type in a log of the home: a gate takes over
 * what a dead one left open, and ends it in the log that it writes itself. A log that cannot be
 * read says nothing; that it is broken is said elsewhere.
 */
export async function findEnded(
  home: Home,
  ids: readonly string[],
  isEnd: (eventType: string) => boolean,
): Promise<ReadonlySet<string>> {
  const indexKey = await readIndexKey(home);
  const ended = new Set<string>();
  for (const path of await listAuditFiles(home.dir)) {
    try {
      const reading = { filter: { requestId: ids }, indexKey };
      for await (const { eventType, requestId } of readAuditLog(path, reading))
        if (isEnd(eventType)) ended.add(requestId);
    } catch (error) {
      if (!isConsentError(error)) throw error;
    }
  }
  return ended;
}

/**
 * Wall time of the latest last event in the home's logs; `undefined` where there is none. A log
 * that cannot be read says nothing; that is said elsewhere.
 */
export async function lastEventOf(home: Home): Promise<number | undefined> {
  let latest: number | undefined;
  for (const path of await listAuditFiles(home.dir)) {
    try {
      const lastMs = await readLastEventMs(path);
      if (lastMs !== undefined) latest = Math.max(latest ?? lastMs, lastMs);
    } catch (error) {
      if (!isConsentError(error)) throw error;
    }
  }
  return latest;
}
