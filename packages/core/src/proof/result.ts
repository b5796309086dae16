/** What came of verifying a proof: one code for every step that can fail. */
import type { Decision } from "../types/words.js";

/** Why a proof is not accepted, in the order of the checks. Meanings: spec/proof.md §4. */
export type ProofCode =
  /** The response is no ACP response, or not in the form that is signed. */
  | "response_malformed"
  /** The request is no ACP request. */
  | "request_malformed"
  /** The response carries no proof. */
  | "proof_missing"
  /** The proof lacks a field, has an unknown one, or one of another type. */
  | "proof_malformed"
  /** An algorithm that is not Ed25519, and no verifier for it. */
  | "algorithm_refused"
  /** A hexadecimal field has other characters than digits and a to f. */
  | "hex_invalid"
  /** A hexadecimal field has upper-case digits. */
  | "hex_upper_case"
  /** A hexadecimal field is too short, or longer than it may be: padding, a second signature. */
  | "hex_length"
  /** The response answers another request. */
  | "other_request"
  /** It carries another question's nonce. */
  | "nonce_mismatch"
  /**
   * The request is not the one that was answered: its tool, server, parameters, text or any other
   * field differs.
   */
  | "request_changed"
  /** The response is not the one that was signed. */
  | "payload_changed"
  /** The question asked for a passkey's proof. */
  | "evidence_missing"
  /** None of the trusted keys. */
  | "key_untrusted"
  /** The signature is not the key's. */
  | "signature_invalid"
  /** The key was not valid when the consent was given. */
  | "key_not_valid"
  /** The question was not put to this person. */
  | "approver_not_asked"
  /** The response was given before the question was asked, or after its end. */
  | "outside_question"
  /** The consent was given only after the moment asked about. */
  | "from_future"
  /** At the moment asked about it was over. */
  | "expired"
  /** Several people had to say yes, and fewer did. */
  | "quorum_missing"
  /** The responses do not agree, or one person gave two of them. */
  | "responses_differ";

/** What a proof shows: who decided what about which question, and how long that holds. */
export interface ProvenConsent {
  readonly ok: true;
  /** Id of the question that was answered. */
  readonly requestId: string;
  /** Hash of the whole question: `sha256:<hex>`. */
  readonly requestHash: string;
  /** What the approver decided. */
  readonly decision: Decision;
  /** Who decided, as the gate that signed it knows them. */
  readonly approverId: string;
  /** Name of the channel that authenticated them. */
  readonly channel: string;
  /** The key that signed, as hex; `undefined` where a verifier of another algorithm judged. */
  readonly publicKey: string | undefined;
  /** Wall time of the answer, milliseconds since 1970. */
  readonly givenAtMs: number;
  /** The first moment at which it no longer holds, milliseconds since 1970. */
  readonly validUntilMs: number;
  /** The moment asked about, milliseconds since 1970. */
  readonly atMs: number;
  /** How many people must approve; this proof is from one of them. */
  readonly quorum: number;
}

/** Why a proof is not accepted: the first check that failed. */
export interface ProofFailure {
  readonly ok: false;
  /** Which check failed: stable, match on it. */
  readonly code: ProofCode;
  /** What was found, in one line for people. */
  readonly message: string;
}

/** The result of {@link verifyConsentProof}. */
export type ProofResult = ProvenConsent | ProofFailure;

/** A failed step as a value. */
export function unproven(code: ProofCode, message: string): ProofFailure {
  return { ok: false, code, message: `Cannot accept the proof: ${message}` };
}
