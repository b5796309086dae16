/** Open questions in memory, with the ends of the latest ones so that a late answer can be told so. */
import { type PendingRecord, reduce } from "../approval/machine.js";
import { ENDED_KEPT_MAX } from "../limits.js";
import type { PendingStore } from "../ports.js";

const retryKey = (agentId: string, digest: string): string => JSON.stringify([agentId, digest]);

/** Pending records that live as long as the process. */
export function memoryPending(): PendingStore {
  const records = new Map<string, PendingRecord>();
  const retries = new Map<string, Set<string>>();
  const watchers = new Map<string, Set<() => void>>();
  const endedOrder = new Set<string>();

  const forget = (id: string): void => {
    const record = records.get(id);
    records.delete(id);
    endedOrder.delete(id);
    if (record === undefined) return;
    const key = retryKey(record.agentId, record.originalDigest);
    const ids = retries.get(key);
    ids?.delete(id);
    if (ids?.size === 0) retries.delete(key);
  };

  const keep = (record: PendingRecord): void => {
    records.set(record.id, record);
    if (record.status === "ended") endedOrder.add(record.id);
    for (const id of endedOrder) {
      if (endedOrder.size <= ENDED_KEPT_MAX) break;
      forget(id);
    }
    for (const wake of watchers.get(record.id) ?? []) wake();
  };

  const changeNow = (id: string, fromVersion: number, next: PendingRecord): boolean => {
    if (records.get(id)?.version !== fromVersion) return false;
    keep(next);
    return true;
  };

  const adopt = (record: PendingRecord, nowMs: number): PendingRecord | undefined => {
    if (!record.deferred || record.adopted) return undefined;
    if (record.status !== "ended") return record;
    const adopted = reduce(record, { type: "adopt", atMs: nowMs });
    return adopted.ok && changeNow(record.id, record.version, adopted.next) ? adopted.next : undefined;
  };

  return {
    put(record) {
      if (records.has(record.id)) return Promise.resolve(false);
      const key = retryKey(record.agentId, record.originalDigest);
      retries.set(key, (retries.get(key) ?? new Set()).add(record.id));
      keep(record);
      return Promise.resolve(true);
    },
    get: (id) => Promise.resolve(records.get(id)),
    async *open() {
      for (const record of [...records.values()]) if (record.status !== "ended") yield await Promise.resolve(record);
    },
    transition: (id, fromVersion, next) => Promise.resolve(changeNow(id, fromVersion, next)),
    takeDecision(agentId, digest, nowMs) {
      for (const id of retries.get(retryKey(agentId, digest)) ?? []) {
        const record = records.get(id);
        const taken = record === undefined ? undefined : adopt(record, nowMs);
        if (taken !== undefined) return Promise.resolve(taken);
      }
      return Promise.resolve(undefined);
    },
    async *watch(id, signal) {
      let wake = (): void => undefined;
      const waker = (): void => wake();
      const mine = (watchers.get(id) ?? new Set()).add(waker);
      watchers.set(id, mine);
      signal.addEventListener("abort", waker, { once: true });
      try {
        let seen = -1;
        while (!signal.aborted) {
          const changed = new Promise<void>((resolve) => (wake = resolve));
          const record = records.get(id);
          if (record === undefined) return;
          if (record.version === seen) {
            await changed;
            continue;
          }
          seen = record.version;
          yield record;
        }
      } finally {
        signal.removeEventListener("abort", waker);
        mine.delete(waker);
        if (mine.size === 0) watchers.delete(id);
      }
    },
  };
}
