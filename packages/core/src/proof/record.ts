/**
 * Consent records: a request with the response, or the responses of a quorum, that `acp proof
 * export` writes. Format: spec/proof.md §5.
 */
import type { Decision } from "../types/words.js";
import { personKey } from "../approval/person.js";
import { readFields } from "../approval/fields.js";
import { asError } from "../errors.js";
import { copyJson } from "../json/copy.js";
import { parseJson } from "../json/parse.js";
import type { JsonObject, JsonValue } from "../json/value.js";
import { type ProofFailure, type ProvenConsent, unproven } from "./result.js";
import { verifyConsentProof, type VerifyOptions } from "./verify.js";

/** What a verified record shows: a decision that its proofs support. */
export interface ProvenRecord {
  readonly ok: true;
  /** Id of the question that was answered. */
  readonly requestId: string;
  /** What the approvers decided. */
  readonly decision: Decision;
  /** What each response proves, in the order of the record: one per approver. */
  readonly consents: readonly ProvenConsent[];
  /** The moment asked about, milliseconds since 1970. */
  readonly atMs: number;
  /** The first moment at which one of them no longer holds, milliseconds since 1970. */
  readonly validUntilMs: number;
}

/** The result of {@link verifyConsentRecord}: a decision, or why the record proves none. */
export type RecordResult = ProvenRecord | ProofFailure;

/**
 * A request and its signed responses as one object: `response` where there is one, `responses`
 * where there are several.
 */
export function makeConsentRecord(
  request: JsonObject,
  responses: readonly JsonObject[],
): JsonObject {
  const [only, ...more] = responses;
  return only !== undefined && more.length === 0
    ? { request, response: only }
    : { request, responses };
}

function readRecord(
  input: unknown,
): { readonly request: JsonObject; readonly responses: readonly JsonValue[] } | ProofFailure {
  try {
    const record = readFields(
      typeof input === "string" || input instanceof Uint8Array ? parseJson(input) : copyJson(input),
      "record",
    );
    const request = record.raw("request");
    const one = record.optionalRaw("response");
    const responses = one === undefined ? record.raws("responses") : [one];
    record.done();
    return { request, responses };
  } catch (error) {
    return unproven("response_malformed", asError(error).message);
  }
}

/** Why several good responses do not make one decision. */
function togetherProblem(
  first: ProvenConsent,
  consents: readonly ProvenConsent[],
): ProofFailure | undefined {
  if (consents.some(({ decision }) => decision !== first.decision))
    return unproven("responses_differ", "the responses do not agree");
  const people = new Set(consents.map(({ approverId }) => personKey(approverId))).size;
  if (people < consents.length)
    return unproven("responses_differ", "one person gave two of the responses");
  // One no ends a question, and an edit resets a quorum: both stand for themselves.
  if (first.decision === "denied" || people >= first.quorum) return undefined;
  return unproven("quorum_missing", `${first.quorum} people must approve, and ${people} did`);
}

/**
 * Verifies a whole record: every response, and that together they make the decision. Never rejects
 * because of what it reads.
 *
 * @param record - `{ request, response }` or `{ request, responses }`: text, bytes or object.
 * @param options - Without `now`, the record is judged at the time of its last response.
 * @throws ConsentError `options_invalid` where `now` is not a time.
 */
export async function verifyConsentRecord(
  record: unknown,
  options: VerifyOptions,
): Promise<RecordResult> {
  const read = readRecord(record);
  if ("ok" in read) return read;
  const consents: ProvenConsent[] = [];
  for (const response of read.responses) {
    const result = await verifyConsentProof(response, read.request, options);
    if (!result.ok) return result;
    consents.push(result);
  }
  const [first] = consents;
  if (first === undefined) return unproven("proof_missing", "the record holds no response");
  const apart = togetherProblem(first, consents);
  if (apart !== undefined) return apart;
  const atMs = options.now ?? Math.max(...consents.map(({ givenAtMs }) => givenAtMs));
  const validUntilMs = Math.min(...consents.map((consent) => consent.validUntilMs));
  if (atMs >= validUntilMs)
    return unproven(
      "expired",
      "one of the responses was no longer valid when the last one was given",
    );
  return {
    ok: true,
    requestId: first.requestId,
    decision: first.decision,
    consents,
    atMs,
    validUntilMs,
  };
}
