/**
 * The signed bytes of an answer that is not signed yet, or whose proof somebody else checks: what a
 * passkey's challenge is made of.
 */
import { ConsentError } from "../errors.js";
import { makePayload, type Payload, type PayloadVersion } from "./payload.js";
import { isFailure, readRequest, readResponse } from "./read.js";

/** The bytes to sign, their hash, and the hash of the request that they contain. */
export interface ConsentPayload extends Payload {
  /** Hash of the whole request: `sha256:<hex>`, as `requestHash()` gives it. */
  readonly requestHash: string;
}

/**
 * The bytes that are signed for a response to a request (spec/proof.md §3). A `proof` in the
 * response is ignored.
 *
 * @param response - ACP v0.2 §4.2's JSON, in the form that is signed.
 * @param request - ACP v0.2 §4.1's JSON, e.g. of `encodeRequest`.
 * @param version - The payload's version; a verifier takes it from the proof with
 *   `readPayloadVersion`. The newest unless given.
 * @throws ConsentError `message_invalid` where either cannot be read, or where the response answers
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
