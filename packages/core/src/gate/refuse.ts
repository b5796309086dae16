/**
 * Refusing an answer: one text for every code. Codes are API; texts are not.
 */
import type { PendingRecord } from "../approval/pending-record.js";
import type { AnswerReceipt } from "../ports.js";
import type { EndStatus, RefusalCode } from "../types/ending.js";

const REFUSALS: Readonly<Record<RefusalCode, string>> = {
  response_invalid: "the answer is malformed",
  request_unknown: "there is no such question",
  request_ended: "the question is over",
  nonce_mismatch: "the answer carries another question's nonce",
  approver_unknown: "nobody known answered",
  approver_not_allowed: "this person may not answer this question",
  approver_too_early: "this person may answer when the question has been escalated to them",
  already_answered: "this person has answered already",
  confirmation_required:
    "the question is critical: approving it needs the word that it asks for, typed by the person",
  question_not_shown: "not all of the question was shown",
  evidence_required: "the question needs stronger evidence than this answer carries",
  evidence_invalid: "the proof of this answer is not valid",
  grant_not_offered: "the answer takes an offer that the question does not make",
  modification_invalid: "the edited parameters are not ones of this action",
  modification_denied: "the policy denies the edited action",
  rate_limited: "the rate limit of the edited action's rule is used up",
  store_failed: "the store failed",
  audit_failed: "the audit log failed",
};

/**
 * The receipt of an answer that is not taken; its question stays as it was.
 *
 * @param reason - One line for the person; the code's own text where it is left out.
 */
export function refuseAnswer(code: RefusalCode, reason: string = REFUSALS[code]): AnswerReceipt {
  return { status: "refused", code, reason };
}

const ENDINGS: Readonly<Record<EndStatus, string>> = {
  approved: "it was approved",
  approved_with_modifications: "it was approved with changes",
  denied: "it was denied",
  expired: "nobody answered in time",
  cancelled: "it was withdrawn",
  failed: "a part failed",
  superseded: "a new question replaced it",
};

/** A refusal that says, of a question that is over, how it ended. */
export function refuseFor(record: PendingRecord | undefined, code: RefusalCode): AnswerReceipt {
  if (code !== "request_ended" || record === undefined) return refuseAnswer(code);
  // An end that is not in the log yet may still become another one.
  const how =
    record.end === undefined
      ? "its time is over"
      : record.end.recorded
        ? ENDINGS[record.end.status]
        : "it is being ended";
  return refuseAnswer(code, `${REFUSALS.request_ended}: ${how}`);
}
