/** Revoking a grant: first it is gone, then it is written down. */
import type { Grant } from "../approval/grants.js";
import { logEvent } from "../log-event.js";
import type { AuditEventInput, Clock, Grants, Ids } from "../ports.js";
import { randomIds, systemClock } from "../system.js";

/** What revoking takes. */
export interface RevokeParts {
  readonly grants: Grants;
  /** Where the event becomes durable. */
  readonly audit: { append(events: readonly AuditEventInput[]): Promise<unknown> };
  readonly clock?: Clock;
  readonly ids?: Ids;
}

/**
 * Ends a grant: no later ask is answered by it, and no permit that it gave is performed. For whoever has the stores but no gate; a gate has
 * `revoke`.
 *
 * @param by - Who revoked it, for the log.
 * @returns The grant, or `undefined` where there is none of that id.
 * @throws What the store or the log throws; where the log does, the grant is revoked all the same.
 */
export async function revokeGrant(
  { grants, audit, clock = systemClock, ids = randomIds }: RevokeParts,
  id: string,
  by: string,
): Promise<Grant | undefined> {
  const grant = await grants.get(id);
  if (grant === undefined || !(await grants.revoke(id))) return undefined;
  const { agentId, requestId, scope } = grant;
  const event = logEvent("grant_revoked", { id: ids.next("ae"), atMs: clock.now() }, { grant: id, scope: { ...scope }, by });
  await audit.append([{ ...event, agent: agentId, requestId }]);
  return grant;
}
