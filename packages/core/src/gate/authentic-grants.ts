/**
 * Authentic grants: what a gate sees of its store of grants. As with questions, what no gate with
 * this key wrote is absent, and is noted; so is what was revoked and is there again. Format:
 * spec/consent.md §8.
 */
import type { Grant } from "../approval/grants.js";
import type { Claims, Grants } from "../ports.js";
import { idOf, IGNORED, type OnIgnored } from "./ignored.js";
import type { RecordMac } from "./record-mac.js";
import { isGrantRevoked } from "./revoke-grant.js";

/** Parts of {@link authenticGrants}. */
export interface AuthenticGrantsParts {
  readonly store: Grants;
  readonly mac: RecordMac<Grant>;
  readonly claims: Claims;
  readonly onIgnored: OnIgnored;
}

/** The grants that gates with this key wrote. */
export function authenticGrants({ store, mac, claims, onIgnored }: AuthenticGrantsParts): Grants {
  const ignore = (id: unknown, reason: string): undefined => {
    onIgnored("grant", id, reason);
    return undefined;
  };
  const open = async (stored: unknown): Promise<Grant | undefined> => {
    const grant = mac.open(stored);
    if (grant === undefined || !hasSoundUses(grant)) return ignore(idOf(stored), IGNORED.forged);
    return (await isGrantRevoked(claims, grant.id)) ? ignore(grant.id, IGNORED.revoked) : grant;
  };
  const openAll = async (stored: readonly Grant[]): Promise<readonly Grant[]> =>
    (await Promise.all(stored.map(open))).filter((grant) => grant !== undefined);
  return {
    put: (grant) => store.put(mac.sign(grant)),
    async get(id) {
      const stored = await store.get(id);
      const grant = stored === undefined ? undefined : await open(stored);
      return grant === undefined || grant.id === id ? grant : ignore(id, IGNORED.other);
    },
    find: async (agentId, action, nowMs) => openAll(await store.find(agentId, action, nowMs)),
    list: async () => openAll(await store.list()),
    revoke: (id) => store.revoke(id),
    use: (id, nowMs) => store.use(id, nowMs),
  };
}

/** The count that a store keeps by itself is within what was given. */
function hasSoundUses({ uses, usesLeft }: Grant): boolean {
  if (uses === undefined || usesLeft === undefined) return uses === usesLeft;
  return Number.isSafeInteger(usesLeft) && usesLeft >= 0 && usesLeft <= uses;
}
