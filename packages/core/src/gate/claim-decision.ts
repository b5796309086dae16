/**
 * Claiming a decision: one yes or no serves one caller, whether it waited or called again. A
 * store's own mark (`adopted`) is not enough: one that was set back offers the decision again.
 * Format: spec/consent.md §8.
 */
import type { PendingRecord } from "../approval/pending-record.js";
import { DECISION_TTL_MS } from "../limits.js";
import type { Claims } from "../ports.js";

/**
 * True for the one who takes an ended question's decision.
 *
 * @throws What the claims throw.
 */
export function claimDecision(
  claims: Claims,
  record: PendingRecord,
  nowMs: number,
): Promise<boolean> {
  return claims.claimOnce(`adopted:${record.id}`, ttlOf(record, nowMs));
}

/**
 * True for the one who goes on with a decision that it had taken before its process died. Once: what
 * was in work at two crashes is not begun a third time.
 *
 * @throws What the claims throw.
 */
export function claimAgain(claims: Claims, record: PendingRecord, nowMs: number): Promise<boolean> {
  return claims.claimOnce(`again:${record.id}`, ttlOf(record, nowMs));
}

/**
 * Afterwards neither the decision nor the question it was given to is in time, whatever store they
 * come from.
 */
function ttlOf({ end, request }: PendingRecord, nowMs: number): number {
  const untilMs = Math.max(end?.validUntilMs ?? 0, request.expiresAtMs);
  return Math.max(0, untilMs - nowMs) + DECISION_TTL_MS;
}
