/**
 * Accepting an answer: its nonce is used once, and where the gate has a signer it is signed before anybody counts it.
 */
import type { CountedApproval, MachineEvent, PendingRecord } from "../approval/machine.js";
import type { AnswerParts, Decision } from "../approval/response.js";
import type { JsonObject } from "../json/value.js";
import { DECISION_TTL_MS } from "../limits.js";
import type { Clock, Signer, Store } from "../ports.js";
import { importPublicKey } from "../proof/keys.js";
import { signConsent } from "../proof/sign.js";
import type { Deadline } from "./deadline.js";

/** A signer whose every signature is checked before it counts: a proof that nobody can verify would be found out too late. */
export type GateSigner = Signer;

/** An answer that a person gave and the reducer takes. */
export type Answer = Extract<MachineEvent, { type: "approve" | "modify" | "deny" }>;

/**
 * Puts a check behind a signer.
 *
 * @throws ConsentError `key_rejected` where its public key is none.
 */
export function makeGateSigner(signer: Signer): GateSigner {
  const key = importPublicKey(signer.publicKey);
  return {
    algorithm: "Ed25519",
    publicKey: key.hex,
    async sign(payload) {
      const signature = await signer.sign(payload);
      if (!key.verifies(signature, payload)) throw new Error("the signer's signature is not its key's");
      return signature;
    },
  };
}

interface AnswerGateParts {
  readonly store: Pick<Store, "claims">;
  readonly clock: Clock;
  readonly within: Deadline;
  readonly signer: GateSigner | undefined;
}

/**
 * Takes the nonce for this answer. A question's nonce serves each approver once for a yes and once for a no (who said yes may still stop it),
 * also where the store of questions was set back and offers it again.
 *
 * @throws What the store throws.
 */
export function claimNonce({ store, within }: AnswerGateParts, { request }: PendingRecord, { type, approval }: Answer): Promise<boolean> {
  const key = `nonce:${request.nonce}:${type === "deny" ? "no" : "yes"}:${approval.approverId}`;
  // Afterwards the question is out of time, whatever store it comes from.
  const ttlMs = request.expiresAtMs - approval.atMs + DECISION_TTL_MS;
  return within(store.claims.claimOnce(key, ttlMs), "the store");
}

const DECISION_OF: Readonly<Record<Answer["type"], Decision>> = {
  approve: "approved",
  modify: "approved_with_modifications",
  deny: "denied",
};

function partsOf({ request }: PendingRecord, answer: Answer): AnswerParts & { readonly approverId: string } {
  const { approval, terms } = answer;
  // A counted yes waits for the others, who have until the question's end.
  const untilMs = request.quorum > 1 ? Math.max(terms.validUntilMs, request.expiresAtMs + DECISION_TTL_MS) : terms.validUntilMs;
  return {
    decision: DECISION_OF[answer.type],
    nowMs: approval.atMs,
    channel: approval.channel,
    approverId: approval.approverId,
    reason: terms.reason,
    validUntilMs: untilMs,
    ...(terms.grantId === undefined ? {} : { grantId: terms.grantId }),
    ...(answer.type === "modify" ? { modifications: answer.modifications } : {}),
  };
}

/**
 * The answer with its signed form, or as it is where the gate has no signer.
 *
 * @throws What the signer throws, and ConsentError `part_timeout`.
 */
export async function signAnswer({ signer, within }: AnswerGateParts, record: PendingRecord, answer: Answer): Promise<Answer> {
  if (signer === undefined) return answer;
  const response: JsonObject = await within(signConsent(record.request, partsOf(record, answer), signer), "the signer");
  const approval: CountedApproval = { ...answer.approval, response };
  return { ...answer, approval };
}
