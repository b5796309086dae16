/**
 * ConsentSigner: what a gate signs answers with. Only createConsentSigner of "@acp/core/proof"
 * makes one: a gate without a signer loads no code of proofs, and a gate with one knows that each
 * signature was checked.
 */
import type { ConsentRequest } from "./approval/request.js";
import type { AnswerParts } from "./approval/response.js";
import { labelKind } from "./copies.js";
import { createMark } from "./private-fields.js";
import type { JsonObject } from "./json/value.js";

/** What is signed: the answer, and who gave it. */
export interface SignedParts extends AnswerParts {
  /** Id of the approver, as the gate authenticated them. */
  readonly approverId: string;
}

/**
 * Signs answers and checks each of its signatures. Only `createConsentSigner` of "\@acp/core/proof"
 * makes one.
 */
export interface ConsentSigner {
  /** The Ed25519 public key that it signs with: 64 lower-case hex digits. */
  readonly publicKey: string;
  /**
   * The answer to a question as ACP v0.2 §4.2's JSON with its proof.
   *
   * @throws Anything means "not signed": the gate denies with `signer_failed`.
   */
  signAnswer(request: ConsentRequest, parts: SignedParts): Promise<JsonObject>;
}

const checking = createMark();

/** Marks a signer that checks what it signs. For `createConsentSigner` alone. */
export function markConsentSigner(signer: ConsentSigner): void {
  checking.put(signer);
  labelKind(signer, "signer");
}

/** Whether {@link markConsentSigner} marked this very object. */
export function isConsentSigner(value: unknown): boolean {
  return checking.isOn(value);
}
