/** Sliding-window limits in memory: an exact log of uses, no fixed windows that let two bursts through at a border. */
import type { Clock, LimitClaim, Limits } from "../ports.js";

interface Use {
  readonly atMs: number;
  readonly amount: number;
  readonly reservation: string;
}

const isSound = ({ amount, max, windowMs }: LimitClaim): boolean => amount >= 0 && max >= 0 && windowMs > 0;

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
  const uses = new Map<string, Use[]>();
  const open = new Map<string, readonly LimitClaim[]>();
  let count = 0;

  const current = ({ key, windowMs }: LimitClaim, nowMs: number): Use[] =>
    (uses.get(key) ?? []).filter((use) => nowMs - use.atMs < windowMs);

  /** How long until enough uses leave the window; 0 where the claim fits now. */
  const waitMs = (claim: LimitClaim, nowMs: number): number => {
    // A claim with NaN or a negative bound compares as if it fitted; it never does.
    if (!isSound(claim) || claim.amount > claim.max) return Number.MAX_SAFE_INTEGER;
    const live = current(claim, nowMs);
    let excess = live.reduce((sum, use) => sum + use.amount, 0) + claim.amount - claim.max;
    if (excess <= 0) return 0;
    for (const use of live) {
      excess -= use.amount;
      if (excess <= 0) return Math.max(1, Math.ceil(use.atMs + claim.windowMs - nowMs));
    }
    return Math.ceil(claim.windowMs);
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
      for (const claim of claims) uses.set(claim.key, [...current(claim, nowMs), { atMs: nowMs, amount: claim.amount, reservation: id }]);
      open.set(id, claims);
      return Promise.resolve({ ok: true, id });
    },
    settle(id, used) {
      const claims = open.get(id);
      open.delete(id);
      if (claims === undefined || used) return Promise.resolve();
      for (const { key } of claims) {
        const left = (uses.get(key) ?? []).filter((use) => use.reservation !== id);
        if (left.length === 0) uses.delete(key);
        else uses.set(key, left);
      }
      return Promise.resolve();
    },
  };
}
