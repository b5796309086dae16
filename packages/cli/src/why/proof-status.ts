/**
 * Proof status: whether the signed answers of a question prove its decision, by the keys and
 * passkeys of the home. The same check as `acp proof verify`.
 */
import { QUESTION_END_TYPES } from "@acp/audit";
import { isConsentError } from "@acp/core";
import { makeConsentRecord, verifyConsentRecord } from "@acp/core/proof";
import type { Invocation } from "../command.js";
import { passkeyVerifier, readTrustedPasskeys } from "../gate/passkeys.js";
import { readTrustedKeys } from "../home/trusted-keys.js";
import type { ProofStatus } from "./explanation.js";
import { objectAt, objectsAt } from "./fields.js";
import { type Story, eventOf } from "./story.js";

/** Checks the proof of a decision. Never rejects: what cannot be checked is not verified. */
export async function proofOf(
  story: Story,
  invocation: Pick<Invocation, "values" | "io">,
): Promise<ProofStatus> {
  const end = eventOf(story, ...QUESTION_END_TYPES);
  const responses = objectsAt(end?.metadata, "responses");
  const request = objectAt(eventOf(story, "consent_requested")?.metadata, "request");
  const isAnswer = end?.eventType === "consent_approved" || end?.eventType === "consent_denied";
  if (request === undefined) return { state: isAnswer ? "unsigned" : "none" };
  if (responses.length === 0) return { state: "none" };
  try {
    const [trustedKeys, passkeys] = await Promise.all([
      readTrustedKeys(invocation),
      readTrustedPasskeys(invocation),
    ]);
    const verifiers = [passkeyVerifier(() => Promise.resolve(passkeys))];
    const result = await verifyConsentRecord(makeConsentRecord(request, responses), {
      trustedKeys,
      verifiers,
    });
    if (!result.ok) return { state: "not_verified", code: result.code, detail: result.message };
    const isSame = end?.decision === result.decision;
    if (isSame && result.requestId === story.id) return { state: "verified" };
    const detail = `the signed answers say ${result.decision} to ${result.requestId}`;
    return { state: "not_verified", code: "decision_differs", detail };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return { state: "not_verified", ...(isConsentError(error) && { code: error.code }), detail };
  }
}
