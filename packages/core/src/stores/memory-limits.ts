/** Sliding-window limits in memory: one window of uses for each key. */
import type { Limits } from "../ports.js";
import { createUseWindows } from "./use-windows.js";
import type { KeyedUse } from "./use-windows.js";
import type { Clock } from "../types/clock.js";
import type { LimitClaim } from "../types/limit-claim.js";

const isSound = ({ amount, max, windowMs }: LimitClaim): boolean =>
  amount >= 0 && max >= 0 && windowMs > 0;

/** Two claims on one key count together, against the tighter bound. */
function joinClaims(claims: readonly LimitClaim[]): readonly LimitClaim[] {
  const joined = new Map<string, LimitClaim>();
  for (const claim of claims) {
    const other = joined.get(claim.key);
    const tighter =
      other === undefined
        ? claim
        : {
            ...claim,
            amount: other.amount + claim.amount,
            max: Math.min(other.max, claim.max),
            windowMs: Math.max(other.windowMs, claim.windowMs),
          };
    joined.set(claim.key, tighter);
  }
  return [...joined.values()];
}

/** Limits that live as long as the process. */
export function memoryLimits(clock: Clock): Limits {
  const windows = createUseWindows();
  const open = new Map<string, readonly KeyedUse[]>();
  let count = 0;

  /** How long until enough uses leave the window; 0 where the claim fits now. */
  const waitMs = (claim: LimitClaim, nowMs: number): number => {
    // A claim with NaN or a negative bound compares as if it fitted; it never does.
    if (!isSound(claim) || claim.amount > claim.max) return Number.MAX_SAFE_INTEGER;
    return windows.waitMs(claim, nowMs);
  };

  return {
    reserve(given) {
      const claims = joinClaims(given);
      const nowMs = clock.monotonic();
      let worst = { key: "", retryAfterMs: 0 };
      for (const claim of claims) {
        const retryAfterMs = waitMs(claim, nowMs);
        if (retryAfterMs > worst.retryAfterMs) worst = { key: claim.key, retryAfterMs };
      }
      if (worst.retryAfterMs > 0) return Promise.resolve({ ok: false, ...worst });
      const id = `rs_${++count}`;
      open.set(
        id,
        claims.map((claim) => windows.add(claim, nowMs)),
      );
      return Promise.resolve({ ok: true, id });
    },
    settle(id, used) {
      const reserved = open.get(id);
      open.delete(id);
      if (reserved === undefined || used) return Promise.resolve();
      for (const use of reserved) windows.drop(use, clock.monotonic());
      return Promise.resolve();
    },
  };
}
