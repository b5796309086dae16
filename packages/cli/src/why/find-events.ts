/**
 * Find events: the one place where `acp why` reads logs. What an index can answer is in `filter`;
 * what only the event says is in `where`.
 */
import { basename } from "node:path";
import { readAuditLog, readAuditLogBackward } from "@acp/audit";
import type { AuditEvent, AuditFilter } from "@acp/audit";
import { homePaths } from "@acp/home";
import { readIndexKey } from "../logs/index-key.js";
import { auditFilesFor } from "../logs/log-files.js";

/** Which events. */
export interface EventQuery {
  readonly filter?: AuditFilter;
  readonly where?: (event: AuditEvent) => boolean;
  /** Only the log with this name; all logs of the home unless given. */
  readonly log?: string;
  /** The newest of each log first. */
  readonly isBackward?: boolean;
  /** Only so many of each log. */
  readonly limit?: number;
}

/** An event, and the name of the log that holds it, such as `audit.2.jsonl`. */
export interface FoundEvent {
  readonly event: AuditEvent;
  readonly log: string;
}

/** Looks events up in the logs of a home; each log in its order, one log after the other. */
export type FindEvents = (query: EventQuery) => AsyncGenerator<FoundEvent>;

/**
 * Finds events in a home's logs.
 *
 * @throws ConsentError `home_invalid` where the home has no log; `audit_failed` at a line that is
 *   not an event.
 */
export async function* findEvents(home: string, query: EventQuery): AsyncGenerator<FoundEvent> {
  const { filter = {}, where = () => true, log: wanted, isBackward = false, limit } = query;
  const read = isBackward ? readAuditLogBackward : readAuditLog;
  const indexKey = await readIndexKey(homePaths(home));
  for (const file of await auditFilesFor([], home)) {
    const log = basename(file);
    if (wanted !== undefined && log !== wanted) continue;
    let count = 0;
    for await (const event of read(file, { filter, indexKey, nowMs: Date.now() })) {
      if (!where(event)) continue;
      yield { event, log };
      count += 1;
      if (count === limit) break;
    }
  }
}
