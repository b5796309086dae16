/** Sliding-window limits in memory: one window of uses for each key. */
import type { Limits } from "../ports.js";
import { createUseWindow } from "./use-window.js";
import type { Use, UseWindow } from "./use-window.js";
import type { Clock } from "../types/clock.js";
import type { LimitClaim } from "../types/limit-claim.js";

/** A use and the key that it counts for. */
interface KeyedUse {
  readonly key: string;
  readonly use: Use;
}

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

/** With fewer keys than this nobody looks for those that are over. */
const FORGET_MIN = 64;

/**
 * Limits that live as long as the process. A key all of whose uses have left their window is forgotten:
 * an agent that ended would otherwise be kept.
 *
 * @param windows - Where keys are kept; unless given, none has been used.
 */
export function memoryLimits(clock: Clock, windows: Map<string, UseWindow> = new Map()): Limits {
  let forgetAt = FORGET_MIN;
  const open = new Map<string, readonly KeyedUse[]>();
  let count = 0;

  /** Twice as many keys as were left the last time: a use costs as much, however many there are. */
  const forgetOver = (nowMs: number): void => {
    if (windows.size < forgetAt) return;
    for (const [key, window] of windows) if (window.isOver(nowMs)) windows.delete(key);
    forgetAt = FORGET_MIN + 2 * windows.size;
  };
  const windowOf = (key: string): UseWindow => {
    const known = windows.get(key) ?? createUseWindow();
    windows.set(key, known);
    return known;
  };

  /** How long until enough uses leave the window; 0 where the claim fits now. */
  const waitMs = (claim: LimitClaim, nowMs: number): number => {
    // A claim with NaN or a negative bound compares as if it fitted; it never does.
    if (!isSound(claim) || claim.amount > claim.max) return Number.MAX_SAFE_INTEGER;
    return windows.get(claim.key)?.waitMs(claim, nowMs) ?? 0;
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
      forgetOver(nowMs);
      const id = `rs_${++count}`;
      open.set(
        id,
        claims.map((claim) => ({ key: claim.key, use: windowOf(claim.key).add(claim, nowMs) })),
      );
      return Promise.resolve({ ok: true, id });
    },
    settle(id, used) {
      const reserved = open.get(id);
      open.delete(id);
      if (reserved === undefined || used) return Promise.resolve();
      for (const { key, use } of reserved) {
        windows.get(key)?.drop(use);
      }
      return Promise.resolve();
    },
  };
}
