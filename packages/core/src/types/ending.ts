/** Endings: how a question can end, and why an answer is not taken. Types only. */
import type { Decision } from "./words.js";

/** How a question ended. */
export type EndStatus = Decision | "expired" | "cancelled" | "failed" | "superseded";

/** Why an answer was not taken; the question stays as it was. */
export type RefusalCode =
  | "response_invalid"
  | "request_unknown"
  | "request_ended"
  | "nonce_mismatch"
  | "approver_unknown"
  | "approver_not_allowed"
  | "approver_too_early"
  | "already_answered"
  | "confirmation_required"
  | "question_not_shown"
  | "evidence_required"
  | "evidence_invalid"
  | "grant_not_offered"
  | "modification_invalid"
  | "modification_denied"
  | "rate_limited"
  | "store_failed"
  | "audit_failed";
