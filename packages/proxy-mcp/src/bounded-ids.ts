/** Bounded IDs: a set that forgets its oldest where it gets too large. */
import type { RpcId } from "./rpc.js";

/** Ids of requests. */
export interface BoundedIds extends Iterable<RpcId> {
  add(id: RpcId): void;
  has(id: RpcId): boolean;
  /** Whether it was in. */
  delete(id: RpcId): boolean;
  clear(): void;
}

/** An empty one. */
export function createBoundedIds(max: number): BoundedIds {
  const ids = new Set<RpcId>();
  return {
    add(id) {
      ids.add(id);
      const [oldest] = ids.size > max ? ids : [];
      if (oldest !== undefined) ids.delete(oldest);
    },
    has: (id) => ids.has(id),
    delete: (id) => ids.delete(id),
    clear: () => ids.clear(),
    [Symbol.iterator]: () => ids[Symbol.iterator](),
  };
}
