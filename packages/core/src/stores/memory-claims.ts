/** Claims in memory. */
import type { Claims } from "../ports.js";
import type { Clock } from "../types/clock.js";

/** Claims that live as long as the process. */
export function memoryClaims(clock: Clock): Claims {
  const endsAtMs = new Map<string, number>();
  const prune = (nowMs: number): void => {
    for (const [key, endMs] of endsAtMs) if (endMs <= nowMs) endsAtMs.delete(key);
  };
  // Monotonic time: a wall clock set back must not free a claim early, nor one set forward.
  const isLive = (key: string, nowMs: number): boolean =>
    nowMs < (endsAtMs.get(key) ?? Number.NEGATIVE_INFINITY);
  let pruneAtSize = 1_024;
  return {
    claimOnce(key, ttlMs) {
      const nowMs = clock.monotonic();
      if (isLive(key, nowMs)) return Promise.resolve(false);
      if (endsAtMs.size >= pruneAtSize) {
        prune(nowMs);
        pruneAtSize = Math.max(1_024, endsAtMs.size * 2);
      }
      endsAtMs.set(key, nowMs + ttlMs);
      return Promise.resolve(true);
    },
    isClaimed: (key) => Promise.resolve(isLive(key, clock.monotonic())),
  };
}
