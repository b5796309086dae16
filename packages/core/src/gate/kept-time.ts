/** Kept time: how much is left of what a gate keeps, by the clocks of the machine. */
import type { Grant } from "../approval/grants.js";
import type { PendingRecord } from "../approval/pending-record.js";
import { timeLeftMs } from "../boot-time.js";
import type { KeptParts } from "./gate-parts.js";

type LeftParts = Pick<KeptParts, "clock" | "lastEventMs">;

/**
 * Milliseconds for which a question may still be answered. Nobody consents by leaving it open:
 * after another boot its own time is enough to go by.
 */
export function questionLeftMs(
  { clock }: Pick<KeptParts, "clock">,
  { request, asked }: PendingRecord,
): number {
  return timeLeftMs(
    { fromMs: request.createdAtMs, untilMs: request.expiresAtMs, began: asked },
    clock,
    request.createdAtMs,
  );
}

/** Milliseconds for which a kept decision may still be adopted; 0 where there is none. */
export function decisionLeftMs({ clock, lastEventMs }: LeftParts, { end }: PendingRecord): number {
  if (end === undefined) return 0;
  return timeLeftMs(
    { fromMs: end.atMs, untilMs: end.validUntilMs, began: end.ended },
    clock,
    lastEventMs(),
  );
}

/** Milliseconds for which a grant still holds, given out for `ttlMs` at most. */
export function grantLeftMs(
  { clock, lastEventMs }: LeftParts,
  { createdAtMs, expiresAtMs, created }: Grant,
  ttlMs: number = Infinity,
): number {
  const untilMs = Math.min(expiresAtMs, createdAtMs + ttlMs);
  return timeLeftMs({ fromMs: createdAtMs, untilMs, began: created }, clock, lastEventMs());
}
