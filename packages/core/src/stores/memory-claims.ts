/** Claims in memory. */
import type { Claims, Clock } from "../ports.js";

/** Claims that live as long as the process. */
export function memoryClaims(clock: Clock): Claims {
  const endsAtMs = new Map<string, number>();
  const prune = (nowMs: number): void => {
    for (const [key, endMs] of endsAtMs) if (endMs <= nowMs) endsAtMs.delete(key);
  };
  let pruneAtSize = 1_024;
  return {
    claimOnce(key, ttlMs) {
      // Monotonic time: a wall clock set back must not free a claim early, nor one set forward.
      const nowMs = clock.monotonic();
      const endMs = endsAtMs.get(key);
      if (endMs !== undefined && nowMs < endMs) return Promise.resolve(false);
      if (endsAtMs.size >= pruneAtSize) {
        prune(nowMs);
        pruneAtSize = Math.max(1_024, endsAtMs.size * 2);
      }
      endsAtMs.set(key, nowMs + ttlMs);
      return Promise.resolve(true);
    },
  };
}
