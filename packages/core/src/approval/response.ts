/**
 * ConsentResponse: the answer received, unchecked until parsed. On the wire S0 §4.2; a claim's own
 * `approver` is never trusted. Format: spec/consent.md §3.
 */
import { ConsentError } from "../errors.js";
import { copyMeasured } from "../json/copy.js";
import { parseJson } from "../json/parse.js";
import type { JsonObject, JsonValue } from "../json/value.js";
import { DECISION_TTL_MS, REASON_CHARS_MAX, RESPONSE_BYTES_MAX } from "../limits.js";
import { isoTime } from "../time.js";
import { DECISIONS } from "../types/words.js";
import type { Decision } from "../types/words.js";
import { readFields } from "./fields.js";
import { type ConsentRequest, MESSAGE_VERSION } from "./request.js";

/** A parsed answer. It does not say who gave it: only the channel knows that. */
export interface ConsentResponse {
  /** Id of the question that it answers. */
  readonly requestId: string;
  /** That question's nonce. */
  readonly nonce: string;
  /** What the person decided. */
  readonly decision: Decision;
  /** With `approved_with_modifications`: the whole new `parameters`. */
  readonly modifications?: JsonObject;
  /**
   * Id of the offer that the person accepted with the approval; absent where they accepted none.
   */
  readonly grantId?: string;
  /** What the person typed, where the question needs a word; absent otherwise. */
  readonly confirmation?: string;
  /**
   * Wall time until which the decision may be used, milliseconds since 1970; absent: the gate's
   * default.
   */
  readonly validUntilMs?: number;
  /** What the person wrote; `""` where they wrote nothing. */
  readonly reason: string;
  /** The proof that the answer carries, not verified; absent where it carries none. */
  readonly proof?: JsonObject;
}

function readConditions(fields: ReturnType<typeof readFields>): {
  readonly validUntilMs?: number;
  readonly singleUse: boolean;
} {
  const conditions = fields.optionalObject("conditions");
  if (conditions === undefined) return { singleUse: true };
  const validUntilMs = conditions.time("valid_until");
  const singleUse = conditions.flag("single_use");
  conditions.done();
  return { validUntilMs, singleUse };
}

/** Whether the parts of an answer that depend on each other do. */
function checkTogether(
  decision: Decision,
  parts: { readonly modifications: boolean; readonly grant: boolean; readonly singleUse: boolean },
): void {
  const fail = (why: string): never => {
    throw new ConsentError("message_invalid", `Cannot read "consent_response": ${why}`);
  };
  if ((decision === "approved_with_modifications") !== parts.modifications)
    fail(
      `"modifications" must be an object exactly where the decision is approved_with_modifications`,
    );
  if (decision === "denied" && parts.grant) fail(`a denial cannot accept the offer in "grant"`);
  if (parts.singleUse === parts.grant && decision !== "denied")
    fail(`"conditions.single_use" must be false exactly where "grant" names an offer`);
}

/**
 * Reads an answer: JSON text, bytes, or its parsed object of at most 2 MiB. Source: spec/consent.md
 * §3.
 *
 * @throws ConsentError `message_invalid` or `json_*`. Nothing is read leniently: an unknown key, a
 *   wrong type, or parts that contradict each other are refused.
 */
export function parseResponse(claim: unknown): ConsentResponse {
  return decodeResponse(readClaim(claim));
}

/** A claim as JSON data of our own. */
export function readClaim(claim: unknown): JsonValue {
  return typeof claim === "string" || claim instanceof Uint8Array
    ? parseJson(claim, { bytesMax: RESPONSE_BYTES_MAX })
    : copyMeasured(claim, RESPONSE_BYTES_MAX).copy;
}

/** Reads JSON data that nobody else holds, as {@link parseResponse} does. */
export function decodeResponse(data: JsonValue): ConsentResponse {
  const fields = readFields(data, "consent_response");
  fields.oneOf("type", ["consent_response"]);
  fields.oneOf("version", [MESSAGE_VERSION]);
  fields.ignore("approver");
  fields.optionalTime("timestamp");
  const decision = fields.oneOf("decision", DECISIONS);
  const modifications = fields.isNull("modifications")
    ? undefined
    : fields.optionalRaw("modifications");
  const grantId = fields.optionalText("grant", 64);
  const confirmation = fields.optionalText("confirmation", 64);
  const { validUntilMs, singleUse } = readConditions(fields);
  const proof = fields.optionalRaw("proof");
  const response: ConsentResponse = {
    requestId: fields.text("request_id"),
    nonce: fields.text("nonce"),
    decision,
    reason: fields.optionalText("reason", REASON_CHARS_MAX) ?? "",
    ...(modifications === undefined ? {} : { modifications }),
    ...(grantId === undefined ? {} : { grantId }),
    ...(confirmation === undefined ? {} : { confirmation }),
    ...(validUntilMs === undefined ? {} : { validUntilMs }),
    ...(proof === undefined ? {} : { proof }),
  };
  fields.done();
  checkTogether(decision, {
    modifications: modifications !== undefined,
    grant: grantId !== undefined,
    singleUse,
  });
  return response;
}

/** What a channel knows when it writes an answer; {@link makeResponse} takes it. */
export interface AnswerParts {
  /** What the person decided. */
  readonly decision: Decision;
  /** Wall time of the answer, milliseconds since 1970. */
  readonly nowMs: number;
  /** The channel's name; informative, the gate takes who answered from the channel itself. */
  readonly channel: string;
  /** Who answered; informative, like `channel`. Absent: `local`. */
  readonly approverId?: string;
  /** The whole new parameters, with `approved_with_modifications`. */
  readonly modifications?: JsonObject;
  /** What the person wrote, at most 1,000 characters. */
  readonly reason?: string;
  /** Id of the offer that the person accepted with the approval. */
  readonly grantId?: string;
  /** What the person typed, where the question needs a word: see `confirmationWord`. */
  readonly confirmation?: string;
  /**
   * Wall time until which the decision may be used, milliseconds since 1970; 5 minutes after
   * `nowMs` unless given.
   */
  readonly validUntilMs?: number;
}

/** The answer to a request as ACP v0.2 §4.2's JSON, for `AskSession.submit`. */
export function makeResponse(
  request: Pick<ConsentRequest, "id" | "nonce">,
  parts: AnswerParts,
): JsonObject {
  return {
    type: "consent_response",
    version: MESSAGE_VERSION,
    request_id: request.id,
    timestamp: isoTime(parts.nowMs),
    decision: parts.decision,
    approver: { id: parts.approverId ?? "local", channel: parts.channel },
    modifications: parts.modifications ?? null,
    conditions: {
      valid_until: isoTime(parts.validUntilMs ?? parts.nowMs + DECISION_TTL_MS),
      single_use: parts.grantId === undefined,
    },
    nonce: request.nonce,
    ...(parts.reason === undefined || parts.reason === "" ? {} : { reason: parts.reason }),
    ...(parts.grantId === undefined ? {} : { grant: parts.grantId }),
    ...(parts.confirmation === undefined ? {} : { confirmation: parts.confirmation }),
  };
}
