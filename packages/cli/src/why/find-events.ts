/**
 * Find events: the one place where `acp why` reads logs. What an index can answer is in `filter`;
 * what only the event says is in `where`.
 */
import { basename } from "node:path";
import { openAuditReader } from "@acp/audit";
import type { AuditEvent, AuditFilter, AuditReader } from "@acp/audit";
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

/** The logs of a home, each as it was when it was asked first. */
export interface HomeEvents extends AsyncDisposable {
  /**
   * Finds events in them.
   *
   * @throws ConsentError `home_invalid` where the home has no log; `audit_failed` at a line that is
   *   not an event.
   */
  readonly find: FindEvents;
}

/** Opens the logs of a home for several queries, which share what they read of the indexes. */
export function openHomeEvents(home: string): HomeEvents {
  const readers = new Map<string, Promise<AuditReader>>();
  const files = once(() => auditFilesFor([], home));
  const key = once(() => readIndexKey(homePaths(home)));
  async function open(file: string): Promise<AuditReader> {
    return openAuditReader(file, { indexKey: await key() });
  }
  return {
    async *find({ filter = {}, where = () => true, log: wanted, isBackward = false, limit }) {
      for (const file of await files()) {
        const log = basename(file);
        if (wanted !== undefined && log !== wanted) continue;
        const opening = readers.get(file) ?? open(file);
        readers.set(file, opening);
        const reader = await opening;
        const query = { filter, nowMs: Date.now() };
        let count = 0;
        for await (const event of isBackward ? reader.readBackward(query) : reader.read(query)) {
          if (!where(event)) continue;
          yield { event, log };
          count += 1;
          if (count === limit) break;
        }
      }
    },
    async [Symbol.asyncDispose]() {
      for (const opening of readers.values())
        await opening.then((reader) => reader[Symbol.asyncDispose]()).catch(() => undefined);
    },
  };
}

/** Finds events for one query; see {@link HomeEvents}. */
export async function* findEvents(home: string, query: EventQuery): AsyncGenerator<FoundEvent> {
  await using events = openHomeEvents(home);
  yield* events.find(query);
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}
