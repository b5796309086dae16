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
  { id, end, request }: PendingRecord,
  nowMs: number,
): Promise<boolean> {
  // Afterwards neither the decision nor the question it was given to is in time, whatever store
  // they come from.
  const untilMs = Math.max(end?.validUntilMs ?? 0, request.expiresAtMs);
  return claims.claimOnce(`adopted:${id}`, Math.max(0, untilMs - nowMs) + DECISION_TTL_MS);
}
