/** How a fault is given to one part of a store. */
import type { Claims, Grant, Grants, Limits, PendingRecord, PendingStore, Store } from "@acp/core";
import type { Mutant } from "./mutant.js";

/** Names of the fields that may be left out. */
type OptionalKey<T> = { [K in keyof T]-?: undefined extends T[K] ? K : never }[keyof T];
type Fault<T> = (good: T) => Partial<T>;

export const claims = (name: string, fault: Fault<Claims>): Mutant<Store> => ({
  name: `claims: ${name}`,
  mutate: (store) => ({ ...store, claims: { ...store.claims, ...fault(store.claims) } }),
});
export const limits = (name: string, fault: Fault<Limits>): Mutant<Store> => ({
  name: `limits: ${name}`,
  mutate: (store) => ({ ...store, limits: { ...store.limits, ...fault(store.limits) } }),
});
export const pending = (name: string, fault: Fault<PendingStore>): Mutant<Store> => ({
  name: `pending: ${name}`,
  mutate: (store) => ({ ...store, pending: { ...store.pending, ...fault(store.pending) } }),
});
export const grants = (name: string, fault: Fault<Grants>): Mutant<Store> => ({
  name: `grants: ${name}`,
  mutate: (store) => ({ ...store, grants: { ...store.grants, ...fault(store.grants) } }),
});

export const later = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A pending store that changes every record on its way in. */
export const keeping = (
  name: string,
  change: (record: PendingRecord) => PendingRecord,
): Mutant<Store> =>
  pending(name, (good) => ({
    put: (record) => good.put(change(record)),
    transition: (id, from, next) => good.transition(id, from, change(next)),
  }));

/** The record with changes to its end, where it has one. */
export const ending =
  (change: (end: NonNullable<PendingRecord["end"]>) => NonNullable<PendingRecord["end"]>) =>
  (record: PendingRecord): PendingRecord =>
    record.end === undefined ? record : { ...record, end: change(record.end) };

/** A copy without a field that may be left out. */
export const without = <T extends object>(value: T, key: OptionalKey<T>): T => {
  const copy = { ...value };
  delete copy[key];
  return copy;
};

export const keepingGrant = (name: string, change: (grant: Grant) => Grant): Mutant<Store> =>
  grants(name, (good) => ({ put: (grant) => good.put(change(grant)) }));
