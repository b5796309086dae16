/**
 * Using a grant: an earlier consent that answers an ask. It is used up, then recorded, then released. It answers no more than a yes to the
 * question as it would be asked now could also cover, so that a policy that became stricter ends it.
 */
import type { Action } from "../action/action.js";
import { type Grant, scopeCovers, scopeIncludes } from "../approval/grants.js";
import type { LeaseTerms } from "../permit.js";
import type { Policy } from "../policy/policy.js";
import type { Verdict } from "../verdict.js";
import { allow } from "./allow.js";
import { isCriticalNow, secretsOf } from "./assemble.js";
import { type Case, recordAllowed } from "./case.js";
import type { MergedAsk } from "./merge-ask.js";
import type { GateParts } from "./parts.js";

/** What a grant must satisfy. */
interface Asked {
  readonly action: Action;
  readonly ask: MergedAsk;
  readonly secrets: readonly string[];
  readonly nowMs: number;
  readonly policy: Policy | undefined;
}

/** Whether a grant gives no more evidence, people, secrets, scope or time than the ask wants and would offer. */
function answers(grant: Grant, { action, ask, secrets, nowMs, policy }: Asked): boolean {
  return (
    scopeCovers(grant.scope, action, policy) &&
    ask.offers.some(({ scope, ttlMs }) => scopeIncludes(scope, grant.scope) && nowMs < grant.createdAtMs + ttlMs) &&
    (ask.evidence === "any" || grant.evidence === "passkey") &&
    (ask.approvers === undefined || grant.approverIds.every((id) => ask.approvers?.includes(id) === true)) &&
    secrets.every((name) => grant.secrets.includes(name))
  );
}

/** What the permit must know of the grant: that this was its last use does not end it, its time and its revocation do. */
function leaseOf({ store, within, revoked }: GateParts, { id, expiresAtMs }: Grant): LeaseTerms {
  return {
    expiresAtMs,
    isRevoked: () => revoked.has(id),
    whyOver: async () => {
      const known = await within(store.grants.get(id), "the store");
      return known === undefined ? "the earlier consent that allowed it is over or was revoked" : undefined;
    },
  };
}

/** Answers an ask with an earlier consent where one fits. Never a critical action, and never for several people. */
export async function useGrant(parts: GateParts, subject: Case, ask: MergedAsk): Promise<Verdict | undefined> {
  const { action, context, evaluation } = subject;
  if (isCriticalNow(evaluation) || ask.quorum > 1) return undefined;
  const { grants } = parts.store;
  const nowMs = parts.clock.now();
  const secrets = secretsOf(evaluation);
  const asked: Asked = { action, ask, secrets, nowMs, policy: parts.judges().policy };
  for (const grant of await parts.within(grants.find(context.agent.id, action, nowMs), "the store")) {
    if (grant.agentId !== context.agent.id || !answers(grant, asked)) continue;
    if (!(await parts.within(grants.use(grant.id, nowMs), "the store"))) continue;
    const { requestId, approverIds: approvers } = grant;
    const metadata = { grant: grant.id, scope: { ...grant.scope }, from_request: requestId, approvers };
    const used = subject.event("grant_used", "allow", metadata);
    const reason = `an earlier consent (${requestId}) covers it`;
    return recordAllowed(parts, [...subject.opening("ask"), used], () =>
      allow(parts, {
        code: "grant_used",
        reason,
        action,
        context,
        secrets,
        event: subject.event,
        requestId,
        approvers,
        lease: leaseOf(parts, grant),
      }),
    );
  }
  return undefined;
}
