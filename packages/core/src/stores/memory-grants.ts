/** Grants in memory. */
import { compareScopes, type Grant, scopeMayCover } from "../approval/grants.js";
import type { Grants } from "../ports.js";

const isLive = (grant: Grant, nowMs: number): boolean =>
  nowMs < grant.expiresAtMs &&
  nowMs >= grant.createdAtMs &&
  (grant.usesLeft === undefined || grant.usesLeft > 0);

/** A store of grants that lives as long as the process. */
export function memoryGrants(): Grants {
  const grants = new Map<string, Grant>();
  return {
    put(grant) {
      // The moment it is made is now: what is over by then is of no use to anybody.
      for (const { id, expiresAtMs } of grants.values())
        if (expiresAtMs <= grant.createdAtMs) grants.delete(id);
      grants.set(grant.id, grant);
      return Promise.resolve();
    },
    get: (id) => Promise.resolve(grants.get(id)),
    find(agentId, action, nowMs) {
      const found = [...grants.values()].filter(
        (grant) =>
          grant.agentId === agentId && isLive(grant, nowMs) && scopeMayCover(grant.scope, action),
      );
      return Promise.resolve(found.sort((a, b) => compareScopes(a.scope, b.scope)));
    },
    list: () => Promise.resolve([...grants.values()]),
    revoke: (id) => Promise.resolve(grants.delete(id)),
    use(id, nowMs) {
      const grant = grants.get(id);
      if (grant === undefined || !isLive(grant, nowMs)) return Promise.resolve(false);
      if (grant.usesLeft !== undefined) grants.set(id, { ...grant, usesLeft: grant.usesLeft - 1 });
      return Promise.resolve(true);
    },
  };
}
