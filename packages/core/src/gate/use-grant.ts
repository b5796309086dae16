/**
 * Using a grant: an earlier consent that answers an ask. It is used up, then recorded, then
 * released. It answers no more than a yes to the question as it would be asked now could also
 * cover, so that a policy that became stricter ends it.
 */
import type { Action } from "../action/action.js";
import { type Grant, scopeCovers, scopeIncludes } from "../approval/grants.js";
import { includesPerson } from "../approval/person.js";
import type { LeaseTerms } from "../permit.js";
import type { Policy } from "../policy/policy.js";
import type { Verdict } from "../verdict.js";
import { allow } from "./allow.js";
import { isCriticalNow, secretsOf } from "./make-question.js";
import type { JudgedCall } from "./judged-call.js";
import { recordAllowed } from "./record-verdict.js";
import { TRANSITION_TRIES_MAX } from "../limits.js";
import { IGNORED } from "./ignored.js";
import { grantLeftMs } from "./kept-time.js";
import type { MergedAsk } from "./merge-ask.js";
import type { KeptParts, PeopleParts, PermitParts, VerdictParts } from "./gate-parts.js";
import { whyGrantUnproven } from "./still-proven.js";

/** What a grant must satisfy. */
interface Asked {
  readonly action: Action;
  readonly ask: MergedAsk;
  readonly secrets: readonly string[];
  readonly policy: Policy | undefined;
}

/**
 * Whether a grant gives no more evidence, people, secrets, scope or time than the ask wants and
 * would offer.
 */
function answers(parts: KeptParts, grant: Grant, { action, ask, secrets, policy }: Asked): boolean {
  const wanted = ask.approvers;
  return (
    scopeCovers(grant.scope, action, policy) &&
    ask.offers.some(
      ({ scope, ttlMs }) =>
        scopeIncludes(scope, grant.scope) && grantLeftMs(parts, grant, ttlMs) > 0,
    ) &&
    (ask.evidence === "any" || grant.evidence === "passkey") &&
    (wanted === undefined || grant.approverIds.every((id) => includesPerson(wanted, id))) &&
    secrets.every((name) => grant.secrets.includes(name))
  );
}

/**
 * What the permit must know of the grant: that this was its last use does not end it, its time and
 * its revocation do.
 */
function leaseOf(
  parts: KeptParts & PeopleParts & Pick<PermitParts, "revoked">,
  grant: Grant,
): LeaseTerms {
  const { store, within, revoked } = parts;
  const { id } = grant;
  return {
    leftMs: grantLeftMs(parts, grant),
    isRevoked: () => revoked.has(id),
    whyOver: async () => {
      const known = await within(store.grants.get(id), "the store");
      if (known === undefined || grantLeftMs(parts, known) === 0)
        return "the earlier consent that allowed it is over or was revoked";
      return whyGrantUnproven(parts, known);
    },
  };
}

/**
 * Takes one use of a grant: in its store, and where uses are counted also as a claim, for a store
 * that was set back counts them anew.
 */
async function takeUse(
  { store, within, onIgnored }: KeptParts,
  grant: Grant,
  nowMs: number,
): Promise<boolean> {
  if (!(await within(store.grants.use(grant.id, nowMs), "the store"))) return false;
  const { id, uses, usesLeft, createdAtMs, expiresAtMs } = grant;
  if (uses === undefined || usesLeft === undefined) return true;
  const first = uses - usesLeft;
  // Others may take uses at the same time; each of them takes the next one that is free.
  for (let at = first; at < uses && at < first + TRANSITION_TRIES_MAX; at++)
    if (
      await within(
        store.claims.claimOnce(`used:${id}:${at}`, expiresAtMs - createdAtMs),
        "the store",
      )
    )
      return true;
  onIgnored("grant", id, IGNORED.used);
  return false;
}

/**
 * Answers an ask with an earlier consent where one fits. Never a critical action, and never for
 * several people.
 */
export async function useGrant(
  parts: VerdictParts,
  call: JudgedCall,
  ask: MergedAsk,
): Promise<Verdict | undefined> {
  const { action, context, evaluation } = call;
  if (isCriticalNow(evaluation) || ask.quorum > 1) return undefined;
  const { grants } = parts.store;
  const nowMs = parts.clock.now();
  const secrets = secretsOf(evaluation);
  const asked: Asked = { action, ask, secrets, policy: parts.judges().policy };
  for (const grant of await parts.within(
    grants.find(context.agent.id, action, nowMs),
    "the store",
  )) {
    if (grant.agentId !== context.agent.id || !answers(parts, grant, asked)) continue;
    if ((await whyGrantUnproven(parts, grant)) !== undefined) {
      parts.onIgnored("grant", grant.id, IGNORED.unproven);
      continue;
    }
    if (!(await takeUse(parts, grant, nowMs))) continue;
    const { requestId, approverIds: approvers, logged } = grant;
    const created = logged === undefined ? {} : { created: { ...logged } };
    const metadata = {
      grant: grant.id,
      scope: { ...grant.scope },
      from_request: requestId,
      approvers,
      ...created,
    };
    const used = call.event("grant_used", "allow", metadata);
    const reason = `an earlier consent (${requestId}) covers it`;
    return recordAllowed(parts, call, {
      events: [...call.opening("ask"), used],
      yes: (unwritten) =>
        allow(parts, {
          code: "grant_used",
          reason,
          action,
          context,
          secrets,
          event: call.event,
          unwritten,
          requestId,
          approvers,
          lease: leaseOf(parts, grant),
        }),
    });
  }
  return undefined;
}
