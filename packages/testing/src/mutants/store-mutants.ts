/** Store mutants: a store with one fault each. Source of the laws: spec/ports.md. */
import type { Grant, Store } from "@acp/core";
import type { Mutant } from "./mutant.js";
import { pendingMutants } from "./pending-mutants.js";
import { claims, grants, keepingGrant, later, limits, without } from "./store-fault.js";

const CLAIMS: readonly Mutant<Store>[] = [
  claims("gives every key to everybody", () => ({ claimOnce: () => Promise.resolve(true) })),
  claims("gives no key to anybody", () => ({ claimOnce: () => Promise.resolve(false) })),
  claims("looks first and claims a moment later", (good) => {
    const taken = new Set<string>();
    return {
      async claimOnce(key, ttlMs) {
        const isFree = !taken.has(key);
        await later();
        taken.add(key);
        return isFree && (await good.claimOnce(`${key} ${Math.random()}`, ttlMs));
      },
    };
  }),
  claims("does not tell upper case from lower", (good) => ({
    claimOnce: (key, ttlMs) => good.claimOnce(key.toLowerCase(), ttlMs),
  })),
  claims("knows the first 64 characters of a key", (good) => ({
    claimOnce: (key, ttlMs) => good.claimOnce(key.slice(0, 64), ttlMs),
  })),
  claims("forgets a key too early", (good) => ({
    claimOnce: (key, ttlMs) => good.claimOnce(key, ttlMs / 2),
  })),
  claims("says of no key that it is claimed", () => ({ isClaimed: () => Promise.resolve(false) })),
  claims("says of every key that it is claimed", () => ({
    isClaimed: () => Promise.resolve(true),
  })),
  claims("claims a key by looking at it", (good) => ({
    isClaimed: async (key) => !(await good.claimOnce(key, 60_000)),
  })),
  claims("knows whose the first 64 characters are", (good) => {
    const keys = new Set<string>();
    return {
      claimOnce: (key, ttlMs) =>
        good.claimOnce(key, ttlMs).finally(() => keys.add(key.slice(0, 64))),
      isClaimed: async (key) => (await good.isClaimed(key)) || keys.has(key.slice(0, 64)),
    };
  }),
  claims("says of what was claimed once that it always is", (good) => {
    const keys = new Set<string>();
    return {
      claimOnce: (key, ttlMs) => good.claimOnce(key, ttlMs).finally(() => keys.add(key)),
      isClaimed: (key) => Promise.resolve(keys.has(key)),
    };
  }),
  claims("never frees a key", (good) => ({ claimOnce: (key) => good.claimOnce(key, 1e12) })),
];

const LIMITS: readonly Mutant<Store>[] = [
  limits("gives everything", () => ({ reserve: () => Promise.resolve({ ok: true, id: "r_1" }) })),
  limits("counts every use as one", (good) => ({
    reserve: (wanted) => good.reserve(wanted.map((claim) => ({ ...claim, amount: 1 }))),
  })),
  limits("gives one use too many", (good) => ({
    reserve: (wanted) => good.reserve(wanted.map((claim) => ({ ...claim, max: claim.max + 1 }))),
  })),
  limits("looks at the first claim alone", (good) => ({
    reserve: (wanted) => good.reserve(wanted.slice(0, 1)),
  })),
  limits("keeps what it reserved of a refused list", (good) => ({
    async reserve(wanted) {
      for (const claim of wanted) {
        const result = await good.reserve([claim]);
        if (!result.ok) return result;
      }
      return { ok: true, id: "r_all" };
    },
  })),
  limits("never gives a reservation back", () => ({ settle: () => Promise.resolve() })),
  limits("gives a used reservation back", (good) => ({ settle: (id) => good.settle(id, false) })),
  limits("says that one may try again at once", (good) => ({
    async reserve(wanted) {
      const result = await good.reserve(wanted);
      return result.ok ? result : { ...result, retryAfterMs: 0 };
    },
  })),
  limits("names another key than the full one", (good) => ({
    async reserve(wanted) {
      const result = await good.reserve(wanted);
      return result.ok ? result : { ...result, key: "other" };
    },
  })),
  limits("has one window for all keys", (good) => ({
    reserve: (wanted) => good.reserve(wanted.map((claim) => ({ ...claim, key: "all" }))),
  })),
];

const GRANTS: readonly Mutant<Store>[] = [
  grants("finds the grants of every agent", (good) => {
    const agents = new Set<string>();
    return {
      put: (grant) => (agents.add(grant.agentId), good.put(grant)),
      find: async (_, action, nowMs) =>
        (await Promise.all([...agents].map((id) => good.find(id, action, nowMs)))).flat(),
    };
  }),
  grants("finds grants that are over", (good) => {
    const put = new Map<string, Grant>();
    return {
      put: (grant) => (put.set(grant.id, grant), good.put(grant)),
      find: async (agentId, action) =>
        good.find(agentId, action, [...put.values()][0]?.createdAtMs ?? 0),
    };
  }),
  grants("finds whatever action is asked about", (good) => ({
    find: async (agentId, _, nowMs) =>
      (await good.list()).filter(
        (grant) =>
          grant.agentId === agentId && grant.createdAtMs <= nowMs && nowMs < grant.expiresAtMs,
      ),
  })),
  grants("finds nothing", () => ({ find: () => Promise.resolve([]) })),
  grants("finds the widest first", (good) => ({
    find: async (...asked) => (await good.find(...asked)).toReversed(),
  })),
  grants("takes uses without end", () => ({ use: () => Promise.resolve(true) })),
  grants("looks at the uses first and takes one a moment later", (good) => ({
    async use(id, nowMs) {
      const left = (await good.get(id))?.usesLeft;
      await later();
      return left === undefined
        ? good.use(id, nowMs)
        : left > 0 && ((await good.use(id, nowMs)) || true);
    },
  })),
  grants("takes no use", (good) => ({
    async use(id, nowMs) {
      const grant = await good.get(id);
      return grant !== undefined && nowMs < grant.expiresAtMs && grant.usesLeft !== 0;
    },
  })),
  grants("revokes nothing", (good) => ({
    revoke: async (id) => (await good.get(id)) !== undefined,
  })),
  grants("says of nothing that it was revoked", (good) => ({
    revoke: (id) => good.revoke(id).then(() => true),
  })),
  grants("lists nothing", () => ({ list: () => Promise.resolve([]) })),
  grants("lists what was revoked", (good) => {
    const put = new Map<string, Grant>();
    return {
      put: (grant) => (put.set(grant.id, grant), good.put(grant)),
      list: () => Promise.resolve([...put.values()]),
    };
  }),
  grants("gives another grant than the one asked for", (good) => {
    const ids = new Set<string>();
    return {
      put: (grant) => (ids.add(grant.id), good.put(grant)),
      get: (id) => good.get([...ids].find((other) => other !== id) ?? id),
    };
  }),
  keepingGrant("makes every evidence a passkey's", (grant) => ({ ...grant, evidence: "passkey" })),
  keepingGrant("drops who approved", (grant) => ({ ...grant, approverIds: [] })),
  keepingGrant("adds secrets", (grant) => ({ ...grant, secrets: [...grant.secrets, "TOKEN"] })),
  keepingGrant("drops how often it may be used", (grant) => without(grant, "usesLeft")),
  keepingGrant("lets it live longer", (grant) => ({
    ...grant,
    expiresAtMs: grant.expiresAtMs + 3_600_000,
  })),
];

/** Faults of stores: {@link storeConformance} must find each of them. */
export const storeMutants: readonly Mutant<Store>[] = [
  ...CLAIMS,
  ...LIMITS,
  ...pendingMutants,
  ...GRANTS,
];
