/**
 * Verifying: whether a response proves that a person agreed to this very request. Offline, with
 * keys that the verifier brings; the key in the proof only says which of them it is. Pure: the
 * moment asked about is an argument. Format: spec/proof.md §4. Vectors: proofs.json.
 */
import { ConsentError } from "../errors.js";
import type { EvidenceVerifier } from "../ports.js";
import { isoTime } from "../time.js";
import type { TrustedKey } from "../types/keys.js";
import { makePayload } from "./payload.js";
import {
  isFailure,
  readProof,
  readRequest,
  type ReadRequest,
  readResponse,
  type ReadResponse,
} from "./read.js";
import { type ProofFailure, type ProofResult, unproven } from "./result.js";

/** What a verifier trusts, and the moment it asks about. */
export interface VerifyOptions {
  /**
   * Keys that the verifier trusts, read with {@link importPublicKey}. Never take them from the
   * message.
   */
  readonly trustedKeys: readonly TrustedKey[];
  /** The moment asked about, in milliseconds since 1970; the time of the response unless given. */
  readonly now?: number;
  /**
   * Verifiers for algorithms other than Ed25519; a proof without one for its algorithm is refused.
   */
  readonly verifiers?: readonly EvidenceVerifier[];
}

interface Claim {
  readonly asked: ReadRequest;
  readonly answered: ReadResponse;
}

function matchProblem({ asked, answered }: Claim): ProofFailure | undefined {
  const { request } = asked;
  const { response } = answered;
  if (response.requestId !== request.id)
    return unproven("other_request", "the response answers another request");
  return response.nonce === request.nonce
    ? undefined
    : unproven("nonce_mismatch", "the response carries another question's nonce");
}

/** Checks an Ed25519 proof; the key that signed, or why not. */
function checkSignature(
  { asked, answered }: Claim,
  proofJson: NonNullable<ReadResponse["proof"]>,
  trustedKeys: readonly TrustedKey[],
): string | ProofFailure {
  const proof = readProof(proofJson);
  if (isFailure(proof)) return proof;
  const mismatch = matchProblem({ asked, answered });
  if (mismatch !== undefined) return mismatch;
  if (proof.requestHash !== asked.hash)
    return unproven("request_changed", "the request is not the one that was answered");
  const question = { parameters: asked.request.action.parameters, requestHash: asked.hash };
  const payload = makePayload(answered.response, question, proof.version);
  if (proof.payloadHash !== payload.hash)
    return unproven("payload_changed", "the response is not the one that was signed");
  // A no takes no more than the gate's word.
  if (asked.request.evidence !== "any" && answered.response.decision !== "denied")
    return unproven("evidence_missing", "the question asked for a passkey's proof");
  const entries = trustedKeys.filter(({ key }) => key.hex === proof.publicKey);
  const [first] = entries;
  if (first === undefined) return unproven("key_untrusted", "its key is not a trusted one");
  if (!first.key.verifies(proof.signature, payload.bytes))
    return unproven("signature_invalid", "the signature does not match the key");
  const { givenAtMs } = answered;
  const isValidThen = entries.some(
    ({ validFromMs = -Infinity, validUntilMs = Infinity }) =>
      givenAtMs >= validFromMs && givenAtMs < validUntilMs,
  );
  return isValidThen
    ? proof.publicKey
    : unproven("key_not_valid", `its key was not valid at ${answered.response.timestamp}`);
}

/** Has a verifier of another algorithm judge; `undefined` where it is satisfied. */
async function checkEvidence(
  claim: Claim,
  algorithm: string,
  options: VerifyOptions,
): Promise<ProofFailure | undefined> {
  const verifier = options.verifiers?.find((each) => each.algorithm === algorithm);
  const { request } = claim.asked;
  if (
    verifier !== undefined &&
    algorithm !== "WebAuthn" &&
    request.evidence !== "any" &&
    claim.answered.response.decision !== "denied"
  )
    return unproven("evidence_missing", "the question asked for a passkey's proof");
  if (verifier === undefined)
    return unproven(
      "algorithm_refused",
      "its algorithm is not Ed25519, and no verifier for it is given",
    );
  const mismatch = matchProblem(claim);
  if (mismatch !== undefined) return mismatch;
  try {
    const result = await verifier.verify(
      claim.answered.wire,
      claim.asked.wire,
      options.trustedKeys,
    );
    // A verifier is somebody else's code: nothing but true is a yes.
    const isGood: unknown = result.ok;
    return isGood === true
      ? undefined
      : unproven(
          "signature_invalid",
          "reason" in result ? result.reason : "the verifier refuses it",
        );
  } catch {
    return unproven("signature_invalid", "the verifier failed");
  }
}

function timeProblem({ asked, answered }: Claim, atMs: number): ProofFailure | undefined {
  const { request } = asked;
  const { response, givenAtMs, validUntilMs } = answered;
  if (request.approvers !== undefined && !request.approvers.includes(response.approverId))
    return unproven("approver_not_asked", "the question was not put to this person");
  if (givenAtMs < request.createdAtMs || givenAtMs >= request.expiresAtMs)
    return unproven(
      "outside_question",
      "it was given before the question was asked, or after its end",
    );
  if (atMs < givenAtMs)
    return unproven(
      "from_future",
      `it was given at ${response.timestamp}, after the moment asked about`,
    );
  return atMs < validUntilMs
    ? undefined
    : unproven("expired", `it was valid until ${response.validUntil}, not at ${isoTime(atMs)}`);
}

/**
 * Verifies one response against its request. Never rejects because of what it reads: each failed
 * check gives a code of its own. Source: spec/proof.md §4.
 *
 * @param response - ACP v0.2 §4.2's JSON with a proof: text, bytes or object.
 * @param request - ACP v0.2 §4.1's JSON: text, bytes or object (of a request in this process,
 *   `encodeRequest(request)`).
 * @throws ConsentError `options_invalid` where `now` is not a time.
 */
export async function verifyConsentProof(
  response: unknown,
  request: unknown,
  options: VerifyOptions,
): Promise<ProofResult> {
  if (options.now !== undefined && Number.isNaN(new Date(options.now).getTime()))
    throw new ConsentError("options_invalid", `Cannot verify a proof: "now" is not a time`);
  const answered = readResponse(response);
  if (isFailure(answered)) return answered;
  const asked = readRequest(request);
  if (isFailure(asked)) return asked;
  const { proof } = answered;
  if (proof === undefined) return unproven("proof_missing", "the response carries none");
  const { algorithm } = proof;
  if (typeof algorithm !== "string")
    return unproven("proof_malformed", `"proof.algorithm" is not a string`);
  const claim = { asked, answered };
  const signed =
    algorithm === "Ed25519"
      ? checkSignature(claim, proof, options.trustedKeys)
      : await checkEvidence(claim, algorithm, options);
  if (typeof signed === "object") return signed;
  const atMs = options.now ?? answered.givenAtMs;
  const late = timeProblem(claim, atMs);
  if (late !== undefined) return late;
  const { decision, approverId, channel, requestId } = answered.response;
  return {
    ok: true,
    requestId,
    requestHash: asked.hash,
    decision,
    approverId,
    channel,
    publicKey: signed,
    givenAtMs: answered.givenAtMs,
    validUntilMs: answered.validUntilMs,
    atMs,
    quorum: asked.request.quorum,
  };
}
