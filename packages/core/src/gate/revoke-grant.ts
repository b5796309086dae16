/**
 * Revoking a grant: first it is gone, then it is written down. That it is revoked is a claim as
 * well, so that a store of grants that was set back brings none back. Format: spec/consent.md §8.
 */
import type { Grant } from "../approval/grants.js";
import { logEvent } from "../log-event.js";
import type { Claims, Grants } from "../ports.js";
import { randomIds, systemClock } from "../system.js";
import type { AuditEventInput } from "../types/audit-event.js";
import type { Clock, Ids } from "../types/clock.js";

/** The stores and the log that {@link revokeGrant} changes; a gate that is open has them all. */
export interface RevokeParts {
  /** Where the grant is kept. */
  readonly grants: Grants;
  /** The gates' claims, which keep that the grant is revoked. */
  readonly claims: Claims;
  /** Where the revocation is recorded. */
  readonly audit: {
    /** Appends the event `grant_revoked`, durably: see {@link AuditSink.append}. */
    append(events: readonly AuditEventInput[]): Promise<unknown>;
  };
  /** Source of the event's time; `systemClock` unless given. */
  readonly clock?: Clock;
  /** Source of the event's id; `randomIds` unless given. */
  readonly ids?: Ids;
}

const claimOf = (id: string): string => `revoked:${id}`;

/**
 * Whether a grant was revoked, even if its store was set back to before that.
 *
 * @throws What the claims throw.
 */
export function isGrantRevoked(claims: Pick<Claims, "isClaimed">, id: string): Promise<boolean> {
  return claims.isClaimed(claimOf(id));
}

/**
 * Ends a grant in its store, and claims that it is over for as long as it could have lived.
 *
 * @param tell - Runs once the store has it no more.
 * @returns False where the store has none of that id.
 * @throws What the store or the claims throw; where the claims do, the store has it no more.
 */
export async function endGrant(
  { grants, claims }: Pick<RevokeParts, "grants" | "claims">,
  { id, createdAtMs, expiresAtMs }: Grant,
  tell?: () => Promise<unknown>,
): Promise<boolean> {
  const [claim] = await Promise.allSettled([
    claims.claimOnce(claimOf(id), expiresAtMs - createdAtMs),
  ]);
  const isEnded = await grants.revoke(id);
  if (isEnded) await tell?.();
  if (claim.status === "rejected") throw claim.reason;
  return isEnded;
}

/**
 * Ends a grant: it answers no later ask, and no permit that it gave is performed. For code that has
 * the stores but no gate; a gate has `revoke`.
 *
 * @param by - Who revoked it, for the log.
 * @returns The grant, or `undefined` where there is none of that id.
 * @throws What the store, the claims or the log throws; where the claims or the log do, the grant
 *   is gone from its store nonetheless.
 */
export async function revokeGrant(
  { grants, claims, audit, clock = systemClock, ids = randomIds }: RevokeParts,
  id: string,
  by: string,
): Promise<Grant | undefined> {
  const grant = await grants.get(id);
  if (grant === undefined) return undefined;
  const { agentId, requestId, scope } = grant;
  const tell = (): Promise<unknown> => {
    const event = logEvent(
      "grant_revoked",
      { id: ids.next("ae"), atMs: clock.now() },
      { grant: id, scope: { ...scope }, by },
    );
    return audit.append([{ ...event, agent: agentId, requestId }]);
  };
  return (await endGrant({ grants, claims }, grant, tell)) ? grant : undefined;
}
