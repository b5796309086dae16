/**
 * Evidence: a proof that comes with an answer, made by the person's own key. The gate checks what
 * it knows itself (who, where, when) and has a verifier judge the signature. What is refused leaves
 * the question open. Format: spec/proof.md §3.
 */
import { readFields } from "../approval/fields.js";
import type { CountedApproval } from "../approval/pending-record.js";
import { isSamePerson } from "../approval/person.js";
import { encodeRequest } from "../approval/request-codec.js";
import type { ConsentRequest } from "../approval/request.js";
import type { ConsentResponse } from "../approval/response.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../json/value.js";
import { EVIDENCE_AHEAD_MS_MAX } from "../limits.js";
import type { EvidenceVerifier } from "../ports.js";
import { parseIsoTime } from "../time.js";
import type { PeopleParts, ProofParts, TimeParts } from "./gate-parts.js";

/** The algorithm of a passkey's proof. */
export const PASSKEY_ALGORITHM = "WebAuthn";

/** An answer beside what the gate knows of it. */
export interface Evident {
  /** The answer as it came. */
  readonly wire: JsonValue;
  readonly response: ConsentResponse;
  readonly request: ConsentRequest;
  /** Who gave it, where and when, as the gate knows it. */
  readonly approval: CountedApproval;
}

/**
 * The answer as its proof holds it; nothing where it needs none and has none; or why it is refused.
 */
export type Evidence =
  | { readonly proven: JsonObject | undefined }
  | { readonly refused: "evidence_required" | "evidence_invalid"; readonly reason?: string };

/** Whether a gate can check a passkey's proof. */
export function verifiesPasskeys({ verifiers }: Pick<PeopleParts, "verifiers">): boolean {
  return verifiers.some(({ algorithm }) => algorithm === PASSKEY_ALGORITHM);
}

/** Why what the proof holds is not what the gate knows of the answer. */
function mismatchOf({ wire, request, approval }: Evident): string | undefined {
  const fields = readFields(wire, "consent_response");
  const approver = fields.object("approver");
  if (!isSamePerson(approver.text("id"), approval.approverId)) return "it is another person's";
  if (approver.text("channel") !== approval.channel) return "it was given on another channel";
  const givenAtMs = parseIsoTime(fields.text("timestamp"));
  const validUntilMs = parseIsoTime(fields.object("conditions").text("valid_until"));
  if (
    givenAtMs === undefined ||
    givenAtMs < request.createdAtMs ||
    givenAtMs >= request.expiresAtMs
  )
    return "it was not given while the question was open";
  if (givenAtMs > approval.atMs + EVIDENCE_AHEAD_MS_MAX) return "it was given in the future";
  // A counted yes waits for the others, who have until the question's end.
  const isLasting =
    validUntilMs !== undefined && (request.quorum === 1 || validUntilMs >= request.expiresAtMs);
  return isLasting ? undefined : "it does not last until the others may have answered";
}

/** What a verifier judges. */
export interface JudgedProof extends Pick<Evident, "wire" | "request"> {
  readonly verifier: EvidenceVerifier;
  /** Whether a consent that was given earlier is used again. */
  readonly reuse: boolean;
}

/** Why a verifier refuses a proof; `undefined` where it does not. Never rejects. */
export async function judgeProof(
  { within }: Pick<TimeParts, "within">,
  judged: JudgedProof,
): Promise<string | undefined> {
  const { verifier, wire, request, reuse } = judged;
  if (!isJsonObject(wire)) return "the answer is not an object";
  try {
    const result = await within(
      verifier.verify(wire, encodeRequest(request), [], { reuse }),
      "the verifier of the proof",
    );
    // A verifier is somebody else's code: nothing but true is a yes.
    const isGood: unknown = result.ok;
    if (isGood === true) return undefined;
    return "reason" in result ? result.reason : "its verifier refuses it";
  } catch {
    return "its verifier failed";
  }
}

/** Looks at the proof of an answer. Never rejects. */
export async function checkEvidence(parts: ProofParts, evident: Evident): Promise<Evidence> {
  const { wire, response, request } = evident;
  const algorithm = response.proof?.["algorithm"];
  const verifier = parts.verifiers.find((each) => each.algorithm === algorithm);
  // A no takes no evidence: whoever may answer may stop it.
  const isNeeded = request.evidence !== "any" && response.decision !== "denied";
  if (verifier === undefined)
    return isNeeded ? { refused: "evidence_required" } : { proven: undefined };
  if (isNeeded && algorithm !== PASSKEY_ALGORITHM) return { refused: "evidence_required" };
  let problem: string | undefined;
  try {
    problem = mismatchOf(evident);
  } catch {
    problem = "the answer is not in the form that is signed";
  }
  problem ??= await judgeProof(parts, { verifier, wire, request, reuse: false });
  if (problem !== undefined)
    return { refused: "evidence_invalid", reason: `the proof does not hold: ${problem}` };
  return { proven: isJsonObject(wire) ? wire : undefined };
}
