/**
 * The signed bytes of an answer that is not signed yet, or whose proof somebody else checks: what a
 * passkey's challenge is made of.
 */
import { ConsentError } from "../errors.js";
import { makePayload, type Payload, type PayloadVersion } from "./payload.js";
import { isFailure, readRequest, readResponse } from "./read.js";

/** The signed bytes, their hash, and that of the whole request in them. */
export interface ConsentPayload extends Payload {
  /** Hash of the whole request, which the payload holds: `sha256:<hex>`. */
  readonly requestHash: string;
}

/**
 * The payload of a response to a request (spec/proof.md §3). A `proof` in the response is not
 * looked at.
 *
 * @param response - ACP v0.2 §4.2's JSON, in the form that is signed.
 * @param request - ACP v0.2 §4.1's JSON, e.g. of `encodeRequest`.
 * @param version - Of the payload; a verifier takes it from the proof with `readPayloadVersion`.
 *   Left out: today's.
 * @throws ConsentError `message_invalid` where either is not read, or where the response answers
 *   another request.
 */
export function consentPayload(
  response: unknown,
  request: unknown,
  version?: PayloadVersion,
): ConsentPayload {
  const answered = readResponse(response);
  if (isFailure(answered))
    throw new ConsentError("message_invalid", `Cannot make a payload: ${answered.message}`);
  const asked = readRequest(request);
  if (isFailure(asked))
    throw new ConsentError("message_invalid", `Cannot make a payload: ${asked.message}`);
  if (
    answered.response.requestId !== asked.request.id ||
    answered.response.nonce !== asked.request.nonce
  )
    throw new ConsentError(
      "message_invalid",
      `Cannot make a payload: the response answers another question`,
    );
  const payload = makePayload(
    answered.response,
    { parameters: asked.request.action.parameters, requestHash: asked.hash },
    version,
  );
  return { ...payload, requestHash: asked.hash };
}
