/** The store of a small world: each operation on it waits for its turn, and the dead hear nothing. */
import type { PendingRecord, PendingStore, Store } from "../src/index.js";

/** Each time a promise of its own: one for all would keep every world that ever waited for it. */
export const never = (): Promise<never> => new Promise(() => undefined);

/** What the store of one process needs of its world. */
export interface StoreWorld {
  /** Every question that was ever kept, as it was kept last. */
  readonly seen: Map<string, PendingRecord>;
  readonly turn: <T>(what: string, work: () => Promise<T>) => Promise<T>;
  readonly isAlive: () => boolean;
}

/** A store as one process sees it. */
export function turnedStore(store: Store, { seen, turn, isAlive }: StoreWorld): Store {
  const guard =
    <A extends unknown[], R>(what: string, work: (...args: A) => Promise<R>) =>
    (...args: A): Promise<R> =>
      turn(what, () => work(...args));
  const { pending, claims, limits, grants } = store;
  const keep = (record: PendingRecord): void => void seen.set(record.id, record);
  const guarded: PendingStore = {
    put: guard("put", async (record) =>
      (await pending.put(record)) ? (keep(record), true) : false,
    ),
    get: guard("get", pending.get),
    transition: guard("transition", async (id, from, next) =>
      (await pending.transition(id, from, next)) ? (keep(next), true) : false,
    ),
    takeDecision: guard("take", async (...args) => {
      const taken = await pending.takeDecision(...args);
      if (taken !== undefined) keep(taken);
      return taken;
    }),
    open: () => pending.open(),
    async *watch(id, signal) {
      for await (const record of pending.watch(id, signal))
        yield isAlive() ? record : await never();
    },
  };
  return {
    ...store,
    pending: guarded,
    claims: { ...claims, claimOnce: guard("claim", claims.claimOnce) },
    limits: { reserve: guard("reserve", limits.reserve), settle: guard("settle", limits.settle) },
    grants: { ...grants, find: guard("find", grants.find) },
  };
}
