/**
 * Accepting an answer: its nonce is used once, and where the gate has a signer it is signed before
 * anybody counts it.
 */
import type { MachineEvent } from "../approval/machine-event.js";
import type { CountedApproval, PendingRecord } from "../approval/pending-record.js";
import { personKey } from "../approval/person.js";
import type { Decision } from "../types/words.js";
import type { SignedParts } from "../consent-signer.js";
import { DECISION_TTL_MS } from "../limits.js";
import type { Store } from "../ports.js";
import type { KeptParts, PeopleParts, TimeParts } from "./gate-parts.js";

/** An answer that a person gave and the reducer takes. */
export type Answer = Extract<MachineEvent, { type: "approve" | "modify" | "deny" }>;

/**
 * Takes the nonce for this answer. A question's nonce serves each approver once for a yes and once
 * for a no (who said yes may still stop it), also where the store of questions was set back and
 * offers it again. A process that ended between this claim and the record of its answer has used it
 * up for nothing: where the log shows that nobody was counted, it serves once more.
 *
 * @throws What the store throws.
 */
export async function claimNonce(
  {
    store,
    within,
    rounds,
  }: Pick<KeptParts, "within"> &
    Pick<PeopleParts, "rounds"> & { readonly store: Pick<Store, "claims"> },
  { id, request }: PendingRecord,
  { type, approval }: Answer,
): Promise<boolean> {
  // Afterwards the question is out of time, whatever store it comes from.
  const ttlMs = request.expiresAtMs - approval.atMs + DECISION_TTL_MS;
  const answer = `${type === "deny" ? "no" : "yes"}:${personKey(approval.approverId)}`;
  const claim = (nonce: string): Promise<boolean> =>
    within(store.claims.claimOnce(`nonce:${nonce}:${answer}`, ttlMs), "the store");
  if (await claim(request.nonce)) return true;
  const round = rounds.get(id);
  return round !== undefined && (await claim(round));
}

const DECISION_OF: Readonly<Record<Answer["type"], Decision>> = {
  approve: "approved",
  modify: "approved_with_modifications",
  deny: "denied",
};

function partsOf({ request }: PendingRecord, answer: Answer): SignedParts {
  const { approval, terms } = answer;
  // A counted yes waits for the others, who have until the question's end.
  const untilMs =
    request.quorum > 1
      ? Math.max(terms.validUntilMs, request.expiresAtMs + DECISION_TTL_MS)
      : terms.validUntilMs;
  return {
    decision: DECISION_OF[answer.type],
    nowMs: approval.atMs,
    channel: approval.channel,
    approverId: approval.approverId,
    reason: terms.reason,
    validUntilMs: untilMs,
    ...(terms.grantId === undefined ? {} : { grantId: terms.grantId }),
    ...(terms.confirmation === undefined ? {} : { confirmation: terms.confirmation }),
    ...(answer.type === "modify" ? { modifications: answer.modifications } : {}),
  };
}

/**
 * The answer with its signed form, or as it is where the gate has no signer.
 *
 * @throws What the signer throws, and ConsentError `part_timeout`.
 */
export async function signAnswer(
  { signer, within }: Pick<PeopleParts, "signer"> & Pick<TimeParts, "within">,
  record: PendingRecord,
  answer: Answer,
): Promise<Answer> {
  // A proof by the person's own key says more than one of the gate.
  if (signer === undefined || answer.approval.response !== undefined) return answer;
  const response = await within(
    signer.signAnswer(record.request, partsOf(record, answer)),
    "the signer",
  );
  const approval: CountedApproval = { ...answer.approval, response };
  return { ...answer, approval };
}
