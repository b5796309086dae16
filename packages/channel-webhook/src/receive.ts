/**
 * Receive: from bytes to an answer of somebody known, or a refusal. Every step must hold: headers,
 * time, signature, an id not seen before, a well-formed answer, a person on the list, an open
 * question. The callback and the reply to a question both go through it.
 */
import type { AnswerReceipt, Claims, JsonValue } from "@acp/core";
import {
  RESPONSE_BYTES_MAX,
  isConsentError,
  parseJson,
  parseResponse,
  readFields,
  refuseAnswer,
} from "@acp/core";
import type { Questions } from "./questions.js";
import {
  MESSAGE_LIFETIME_MS,
  type ReceivedWebhook,
  type WebhookProblem,
  verifyWith,
} from "./signature.js";

/** The channel's name. */
export const CHANNEL_NAME = "webhook";

/** Who answers where no approvers are named: whoever holds the secret, as one person. */
export const SECRET_HOLDER = "webhook";

/** Why a message was not looked into. */
export type MessageProblem = WebhookProblem | "replayed" | "unavailable";

/** What became of a message. */
export type Received =
  | { readonly ok: true; readonly receipt: AnswerReceipt }
  | { readonly ok: false; readonly code: MessageProblem };

/** What receiving needs. */
export interface ReceiveParts {
  readonly keys: readonly Uint8Array[];
  readonly claims: Pick<Claims, "claimOnce">;
  readonly questions: Questions;
  /** Subjects that may answer; `undefined`: the holder of the secret alone. */
  readonly approvers: ReadonlySet<string> | undefined;
  readonly now: () => number;
}

/**
 * The person whom the receiver vouches for. The signature covers the field, and the list must know
 * the name.
 */
function subjectOf(answer: JsonValue, approvers: ReadonlySet<string>): string | undefined {
  const approver = readFields(answer, "consent_response").object("approver");
  const id = approver.text("id");
  approver.oneOf("channel", [CHANNEL_NAME]);
  approver.done();
  return approvers.has(id) ? id : undefined;
}

/** An answer beside the question that it must be for. */
async function submit(
  parts: ReceiveParts,
  body: string | Uint8Array,
  only: string | undefined,
): Promise<AnswerReceipt> {
  let answer: JsonValue;
  let requestId: string;
  let subject: string | undefined;
  try {
    answer = parseJson(body, { bytesMax: RESPONSE_BYTES_MAX });
    ({ requestId } = parseResponse(answer));
    subject = parts.approvers === undefined ? SECRET_HOLDER : subjectOf(answer, parts.approvers);
  } catch (error) {
    if (!isConsentError(error)) throw error;
    return refuseAnswer("response_invalid", error.message);
  }
  const question =
    only === undefined || requestId === only ? parts.questions.find(requestId) : undefined;
  if (question === undefined)
    return refuseAnswer("request_unknown", "no such question is open here");
  if (question === "ended") return refuseAnswer("request_ended", "the question is over");
  if (subject === undefined)
    return refuseAnswer("approver_unknown", "the person who answered is unknown to this channel");
  return question.session.submit(answer, { subject });
}

/**
 * Takes one message.
 *
 * @param only - Id of the one question that it may answer; any open one unless given.
 */
export async function receive(
  parts: ReceiveParts,
  message: ReceivedWebhook,
  only?: string,
): Promise<Received> {
  const check = verifyWith(parts.keys, message, parts.now());
  if (!check.ok) return check;
  try {
    // After the signature: strangers cannot fill the set.
    if (!(await parts.claims.claimOnce(`webhook:${check.id}`, MESSAGE_LIFETIME_MS)))
      return { ok: false, code: "replayed" };
  } catch {
    return { ok: false, code: "unavailable" };
  }
  return { ok: true, receipt: await submit(parts, message.body, only) };
}
