/**
 * Still proven: a consent that is used again stands on the person's own key once more. Its proof is
 * judged anew, by the keys that count now, and held against what the consent is used for. Format:
 * spec/consent.md §8.
 */
import { parseAction } from "../action/action-json.js";
import { actionDigest } from "../action/digest.js";
import { readFields } from "../approval/fields.js";
import type { Grant } from "../approval/grants.js";
import type { PendingRecord } from "../approval/pending-record.js";
import { includesPerson, isSamePerson } from "../approval/person.js";
import type { ConsentRequest } from "../approval/request.js";
import { type ConsentResponse, decodeResponse } from "../approval/response.js";
import { canonicalJson } from "../json/canonical.js";
import type { JsonObject } from "../json/value.js";
import { judgeProof, PASSKEY_ALGORITHM } from "./evidence.js";
import type { ProofParts } from "./gate-parts.js";

/** A signed answer, read. */
interface Answered {
  readonly response: ConsentResponse;
  readonly approverId: string;
}

const UNPROVEN = "its proof is not one of this consent";

const same = (a: unknown, b: unknown): boolean => canonicalJson(a) === canonicalJson(b);

/**
 * Judges each proof for which there is a verifier, and where the question wanted a passkey every
 * proof as one.
 */
async function whyUnproven(
  parts: ProofParts,
  request: ConsentRequest,
  responses: readonly JsonObject[],
): Promise<string | readonly Answered[]> {
  const answered: Answered[] = [];
  for (const wire of responses) {
    const response = decodeResponse(wire);
    const algorithm = response.proof?.["algorithm"];
    const verifier = parts.verifiers.find((each) => each.algorithm === algorithm);
    if (
      request.evidence === "passkey" &&
      (verifier === undefined || algorithm !== PASSKEY_ALGORITHM)
    )
      return UNPROVEN;
    // The gate's own signature says no more than the record's MAC.
    if (verifier === undefined) continue;
    if (
      response.requestId !== request.id ||
      response.nonce !== request.nonce ||
      response.decision === "denied"
    )
      return UNPROVEN;
    const problem = await judgeProof(parts, { verifier, wire, request, reuse: true });
    if (problem !== undefined) return problem;
    answered.push({
      response,
      approverId: readFields(wire, "consent_response").object("approver").text("id"),
    });
  }
  return answered;
}

/**
 * Why a grant's proof no longer holds; `undefined` where it does, or where it needs none and has
 * none. Never rejects.
 */
export async function whyGrantUnproven(
  parts: ProofParts,
  grant: Grant,
): Promise<string | undefined> {
  const { request, responses = [], evidence, agentId, requestId, approverIds, secrets } = grant;
  if (request === undefined) return evidence === "passkey" ? UNPROVEN : undefined;
  try {
    const answered = await whyUnproven(parts, request, responses);
    if (typeof answered === "string") return answered;
    if (evidence !== request.evidence) return UNPROVEN;
    if (answered.length === 0) return evidence === "passkey" ? UNPROVEN : undefined;
    const isOfRequest =
      request.agent.id === agentId &&
      request.id === requestId &&
      secrets.every((name) => request.secrets.includes(name));
    const isOfAnswer = answered.every(
      ({ response, approverId }) =>
        includesPerson(approverIds, approverId) && isOffered(grant, request, response),
    );
    return isOfRequest &&
      isOfAnswer &&
      approverIds.every((id) => answered.some(({ approverId }) => isSamePerson(approverId, id)))
      ? undefined
      : UNPROVEN;
  } catch {
    return UNPROVEN;
  }
}

/** Whether the grant is what the person took. */
function isOffered(
  { scope, createdAtMs, expiresAtMs, uses }: Grant,
  request: ConsentRequest,
  response: ConsentResponse,
): boolean {
  const offer = request.offers.find(({ id }) => id === response.grantId);
  if (offer === undefined || response.decision !== "approved") return false;
  const isInTime =
    createdAtMs >= request.createdAtMs &&
    createdAtMs < request.expiresAtMs &&
    expiresAtMs - createdAtMs <= offer.ttlMs;
  return isInTime && uses === offer.uses && same(scope, offer.scope);
}

/**
 * Why the proofs of a kept yes no longer hold; `undefined` where they do, or where it needs none
 * and has none. Never rejects.
 */
export async function whyDecisionUnproven(
  parts: ProofParts,
  { request, end, action }: PendingRecord,
): Promise<string | undefined> {
  const { responses = [], approverIds = [], modifications } = end ?? {};
  try {
    const answered = await whyUnproven(parts, request, responses);
    if (typeof answered === "string") return answered;
    if (answered.length === 0) return request.evidence === "passkey" ? UNPROVEN : undefined;
    if (actionDigest(parseAction(action)) !== request.actionDigest) return UNPROVEN;
    const isOfEnd = answered.every(({ response }) =>
      same(response.modifications ?? null, modifications ?? null),
    );
    const isByAll =
      request.evidence === "any" ||
      approverIds.every((id) => answered.some(({ approverId }) => isSamePerson(approverId, id)));
    return isOfEnd && isByAll ? undefined : UNPROVEN;
  } catch {
    return UNPROVEN;
  }
}
