/**
 * RefusalStatus: the HTTP status that goes with a refused answer. The code in the body says more.
 */
import type { RefusalCode } from "@acp/core";

const STATUS: Readonly<Partial<Record<RefusalCode, number>>> = {
  response_invalid: 400,
  modification_invalid: 400,
  approver_unknown: 403,
  approver_not_allowed: 403,
  evidence_required: 403,
  evidence_invalid: 403,
  modification_denied: 403,
  request_unknown: 404,
  request_ended: 410,
  rate_limited: 429,
  store_failed: 503,
  audit_failed: 503,
};

/** 409 where the answer is well-formed and does not fit its question. */
export function refusalStatus(code: RefusalCode): number {
  return STATUS[code] ?? 409;
}
