/**
 * ReplaySet: the ids of messages that were taken, each for its time. When it is full it refuses
 * instead of forgetting.
 */
import { type Claims, type Clock, ConsentError } from "@acp/core";

/** Ids kept at once, some 30 MB: 300 signed messages a second for eleven minutes. */
const IDS_MAX = 200_000;

/** Ids that live as long as the process. All claims of one set must have the same `ttlMs`. */
export function replaySet(clock: Clock, idsMax: number = IDS_MAX): Pick<Claims, "claimOnce"> {
  // In the order of their ends, since all live equally long. Monotonic: a wall clock that jumps
  // frees no id.
  const endsAtMs = new Map<string, number>();
  const forgetOld = (nowMs: number): void => {
    for (const [id, endMs] of endsAtMs) {
      if (endMs > nowMs) return;
      endsAtMs.delete(id);
    }
  };
  return {
    async claimOnce(id, ttlMs) {
      const nowMs = clock.monotonic();
      forgetOld(nowMs);
      if (endsAtMs.has(id)) return false;
      if (endsAtMs.size >= idsMax)
        throw new ConsentError(
          "channel_failed",
          `Cannot accept another message: ${idsMax} IDs are remembered, and none of them has expired yet`,
        );
      endsAtMs.set(id, nowMs + ttlMs);
      return true;
    },
  };
}
