/**
 * Open questions in memory, with the ends of the latest ones so that a late answer can be told so.
 */
import { reduce } from "../approval/machine.js";
import {
  isDecided,
  isUncollected,
  isUnfinished,
  isUnreleased,
  type PendingRecord,
} from "../approval/pending-record.js";
import { ENDED_KEPT_MAX, PENDING_MAX } from "../limits.js";
import type { PendingStore } from "../ports.js";
import { createWatchers } from "./watchers.js";

const retryKey = (agentId: string, digest: string): string => JSON.stringify([agentId, digest]);

/** The records, found by id and by what a retry knows. */
interface RecordTable {
  get(id: string): PendingRecord | undefined;
  all(): readonly PendingRecord[];
  put(record: PendingRecord): void;
  forRetry(agentId: string, digest: string): readonly PendingRecord[];
}

function createTable(): RecordTable {
  const records = new Map<string, PendingRecord>();
  const retries = new Map<string, Set<string>>();
  // An end that is not recorded yet is still needed by who records it: it is in neither.
  const over = { told: new Set<string>(), awaited: new Set<string>() };

  const forget = (id: string): void => {
    const record = records.get(id);
    records.delete(id);
    over.told.delete(id);
    over.awaited.delete(id);
    if (record === undefined) return;
    const key = retryKey(record.agentId, record.originalDigest);
    const ids = retries.get(key);
    ids?.delete(id);
    if (ids?.size === 0) retries.delete(key);
  };

  const forgetOldest = (ids: ReadonlySet<string>, max: number): void => {
    for (const id of ids) {
      if (ids.size <= max) break;
      forget(id);
    }
  };

  return {
    get: (id) => records.get(id),
    all: () => [...records.values()],
    put(record) {
      const key = retryKey(record.agentId, record.originalDigest);
      retries.set(key, (retries.get(key) ?? new Set()).add(record.id));
      records.set(record.id, record);
      if (record.end?.recorded !== true) return;
      const isKeptNo =
        record.deferred && !record.adopted && isDecided(record) && record.end.status === "denied";
      // What a call took before its process died waits for that call, too.
      const isAwaited = isUncollected(record) || isUnreleased(record) || isKeptNo;
      over[isAwaited ? "awaited" : "told"].add(record.id);
      if (!isAwaited) over.awaited.delete(record.id);
      forgetOldest(over.told, ENDED_KEPT_MAX);
      forgetOldest(over.awaited, PENDING_MAX);
    },
    forRetry: (agentId, digest) =>
      [...(retries.get(retryKey(agentId, digest)) ?? [])].flatMap((id) => records.get(id) ?? []),
  };
}

/**
 * A store of questions that lives as long as the process. It keeps the last 1,000 ended ones, so
 * that a late answer can be told what happened.
 */
export function memoryPending(): PendingStore {
  const table = createTable();
  const watchers = createWatchers();

  const change = (id: string, fromVersion: number, next: PendingRecord): boolean => {
    if (table.get(id)?.version !== fromVersion) return false;
    table.put(next);
    watchers.wake(id);
    return true;
  };

  const adopt = (record: PendingRecord, nowMs: number): PendingRecord | undefined => {
    if (!record.deferred || record.adopted) return undefined;
    if (record.status !== "ended") return record;
    const adopted = reduce(record, { type: "adopt", atMs: nowMs });
    return adopted.ok && change(record.id, record.version, adopted.next) ? adopted.next : undefined;
  };

  return {
    put(record) {
      const isNew = table.get(record.id) === undefined;
      if (isNew) table.put(record);
      return Promise.resolve(isNew);
    },
    get: (id) => Promise.resolve(table.get(id)),
    async *open() {
      for (const record of table.all())
        if (isUnfinished(record)) yield await Promise.resolve(record);
    },
    transition: (id, fromVersion, next) => Promise.resolve(change(id, fromVersion, next)),
    takeDecision(agentId, digest, nowMs) {
      for (const record of table.forRetry(agentId, digest)) {
        const taken = adopt(record, nowMs);
        if (taken !== undefined) return Promise.resolve(taken);
      }
      return Promise.resolve(undefined);
    },
    watch: (id, signal) => watchers.watch(id, () => table.get(id), signal),
  };
}
