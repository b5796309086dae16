/** Endings: how a question can end, and why an answer is not taken. */

/** Every way in which a question ends: by a person's decision first, then without one. */
export const END_STATUSES = [
  "approved",
  "denied",
  "approved_with_modifications",
  "expired",
  "cancelled",
  "failed",
  "superseded",
] as const;

/** How a question ended. */
export type EndStatus = (typeof END_STATUSES)[number];

/** Every reason why an answer is refused. */
export const REFUSAL_CODES = [
  "response_invalid",
  "request_unknown",
  "request_ended",
  "nonce_mismatch",
  "approver_unknown",
  "approver_not_allowed",
  "approver_too_early",
  "already_answered",
  "confirmation_required",
  "question_not_shown",
  "evidence_required",
  "evidence_invalid",
  "grant_not_offered",
  "modification_invalid",
  "modification_denied",
  "rate_limited",
  "store_failed",
  "audit_failed",
] as const;

/** Why an answer was refused; the question stays as it was. */
export type RefusalCode = (typeof REFUSAL_CODES)[number];
