/** Using a grant: an earlier consent that answers an ask. It is used up, then recorded, then released. */
import type { Verdict } from "../verdict.js";
import { allow } from "./allow.js";
import { secretsOf } from "./assemble.js";
import { type Case, recordAllowed } from "./case.js";
import type { MergedAsk } from "./merge-ask.js";
import type { GateParts } from "./parts.js";

/** An earlier consent that answers this ask. Never for a critical action, never for less evidence, people or secrets than the ask wants. */
export async function useGrant(parts: GateParts, subject: Case, ask: MergedAsk): Promise<Verdict | undefined> {
  const { action, context, evaluation } = subject;
  if (evaluation.level === "critical" || ask.quorum > 1) return undefined;
  const nowMs = parts.clock.now();
  const secrets = secretsOf(evaluation);
  for (const grant of await parts.within(parts.store.grants.find(context.agent.id, action, nowMs), "the store")) {
    const fits =
      (ask.evidence === "any" || grant.evidence === "passkey") &&
      (ask.approvers === undefined || grant.approverIds.every((id) => ask.approvers?.includes(id) === true)) &&
      secrets.every((name) => grant.secrets.includes(name));
    if (!fits || !(await parts.within(parts.store.grants.use(grant.id, nowMs), "the store"))) continue;
    const used = subject.event("grant_used", "allow", { grant: grant.id, from_request: grant.requestId, approvers: grant.approverIds });
    const reason = `an earlier consent (${grant.requestId}) covers it`;
    return recordAllowed(parts, [...subject.opening("ask"), used], () =>
      allow(parts, {
        code: "grant_used",
        reason,
        action,
        context,
        secrets,
        event: subject.event,
        requestId: grant.requestId,
        approvers: grant.approverIds,
      }),
    );
  }
  return undefined;
}
