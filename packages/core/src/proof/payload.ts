/**
 * Payload: the bytes that are signed. A line that names the format, then RFC 8785 JSON of ACP v0.2
 * §6.2's object with the whole question's hash, the approver and the channel. Every field of a
 * response enters it as written, so no two responses share a payload. Format: spec/proof.md §3.
 */
import { sha256Hex } from "#crypto";
import { sha256Digest } from "../action/digest.js";
import type { FieldReader } from "../approval/fields.js";
import type { Decision } from "../types/words.js";
import { canonicalJson } from "../json/canonical.js";
import { encodeUtf8 } from "../json/text.js";
import type { JsonObject } from "../json/value.js";

/**
 * Which form was signed: 1 is the plain JSON of proofs made before the form had a name; 2 is
 * today's.
 */
export type PayloadVersion = 1 | 2;

/** Value of `proof.payload_type` in today's proofs. Proofs of version 1 have no such field. */
export const PAYLOAD_TYPE = "acp/consent/v2";

/**
 * What stands before the JSON. It keeps a signature over anything else from being read as a
 * consent, whatever that key signs elsewhere; JSON begins with a brace, so neither version's bytes
 * are ever the other's.
 */
const PREFIX: Readonly<Record<PayloadVersion, string>> = { 1: "", 2: `${PAYLOAD_TYPE}\n` };

/** A response as it is signed: times in the spelling of the message. */
export interface SignedResponse {
  readonly requestId: string;
  readonly nonce: string;
  readonly decision: Decision;
  readonly timestamp: string;
  readonly validUntil: string;
  readonly approverId: string;
  readonly channel: string;
  readonly modifications: JsonObject | undefined;
  /** `""` where the response has none. */
  readonly reason: string;
  readonly grantId: string | undefined;
  readonly confirmation: string | undefined;
}

/** What was asked, as far as the payload holds it. */
export interface SignedQuestion {
  readonly parameters: JsonObject;
  readonly requestHash: string;
}

/** The signed bytes and their hash. */
export interface Payload {
  /** The bytes to sign. */
  readonly bytes: Uint8Array;
  /** Their hash: `sha256:<hex>`. */
  readonly hash: string;
}

/** The payload of a response to a question, in today's form unless another is named. */
export function makePayload(
  response: SignedResponse,
  question: SignedQuestion,
  version: PayloadVersion = 2,
): Payload {
  const { modifications, reason, grantId, confirmation } = response;
  const json = canonicalJson({
    action_hash: sha256Digest(question.parameters),
    approver_id: response.approverId,
    channel: response.channel,
    decision: response.decision,
    modifications_hash: modifications === undefined ? null : sha256Digest(modifications),
    nonce: response.nonce,
    request_hash: question.requestHash,
    request_id: response.requestId,
    timestamp: response.timestamp,
    valid_until: response.validUntil,
    ...(reason === "" ? {} : { reason }),
    ...(grantId === undefined ? {} : { grant: grantId }),
    ...(confirmation === undefined ? {} : { confirmation }),
  });
  const bytes = encodeUtf8(PREFIX[version] + json);
  return { bytes, hash: `sha256:${sha256Hex(bytes)}` };
}

/**
 * The payload version that a proof names; marks `payload_type` as read.
 *
 * @throws ConsentError `message_invalid` for a name that is not one of ours.
 */
export function readPayloadVersion(proof: FieldReader): PayloadVersion {
  if (proof.optionalText("payload_type") === undefined) return 1;
  proof.oneOf("payload_type", [PAYLOAD_TYPE]);
  return 2;
}
