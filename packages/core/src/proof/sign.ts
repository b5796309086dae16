/**
 * Signing: a person's answer as ACP v0.2 §4.2's JSON with a proof that travels. Format:
 * spec/proof.md §3.
 */
import { requestHash } from "../approval/request-codec.js";
import type { ConsentRequest } from "../approval/request.js";
import { makeResponse } from "../approval/response.js";
import type { SignedParts } from "../consent-signer.js";
import { toHex } from "../crypto/hex.js";
import type { JsonObject } from "../json/value.js";
import { DECISION_TTL_MS } from "../limits.js";
import type { Signer } from "../types/keys.js";
import { isoTime } from "../time.js";
import { makePayload, PAYLOAD_TYPE } from "./payload.js";

/**
 * The answer to a question as ACP v0.2 §4.2's JSON with its proof. It signs what it is given:
 * whether this person may answer is for the gate to check.
 *
 * @throws What the signer throws; ConsentError `json_*` for parts that are not JSON data.
 */
export async function signConsent(
  request: ConsentRequest,
  parts: SignedParts,
  signer: Signer,
): Promise<JsonObject> {
  const {
    decision,
    approverId,
    channel,
    modifications,
    reason = "",
    grantId,
    confirmation,
    nowMs,
  } = parts;
  const { validUntilMs = nowMs + DECISION_TTL_MS } = parts;
  const hash = requestHash(request);
  const payload = makePayload(
    {
      requestId: request.id,
      nonce: request.nonce,
      decision,
      timestamp: isoTime(nowMs),
      validUntil: isoTime(validUntilMs),
      approverId,
      channel,
      modifications,
      reason,
      grantId,
      confirmation,
    },
    { parameters: request.action.parameters, requestHash: hash },
  );
  const signature = await signer.sign(payload.bytes);
  return {
    ...makeResponse(request, { ...parts, validUntilMs }),
    proof: {
      algorithm: signer.algorithm,
      payload_type: PAYLOAD_TYPE,
      public_key: signer.publicKey,
      signature: toHex(signature),
      signed_payload_hash: payload.hash,
      request_hash: hash,
    },
  };
}
