/**
 * Known claims: the claims that this process has read or made, and when each one ends by the
 * monotonic clock.
 */
import type { Clock } from "@acp/core";
import type { Claim } from "./claim-line.js";

/** A claim of which this process knows when it ends by the monotonic clock. */
interface KnownClaim extends Claim {
  readonly endMonotonicMs: number;
}

/** The claims of one file. A claim stays known even if the file is put back to an older one. */
export interface KnownClaims {
  /** Takes in a claim that was read; nothing changes if it is known with the same end. */
  learn(claim: Claim): void;
  /** Takes in a claim that was just made. */
  add(claim: Claim): void;
  /** True if the key is claimed and the claim's time is not over. */
  isLive(key: string): boolean;
  /** The claims whose time is not over; the others are forgotten. */
  live(): readonly Claim[];
}

/** Returns a table without claims. */
export function createKnownClaims(clock: Clock): KnownClaims {
  const known = new Map<string, KnownClaim>();
  const isLive = (claim: KnownClaim): boolean => clock.monotonic() < claim.endMonotonicMs;
  const add = (claim: Claim): void => {
    const leftMs = Math.min(claim.ttlMs, claim.endMs - clock.now());
    known.set(claim.key, { ...claim, endMonotonicMs: clock.monotonic() + leftMs });
  };
  return {
    add,
    learn(claim) {
      if (known.get(claim.key)?.endMs !== claim.endMs) add(claim);
    },
    isLive(key) {
      const claim = known.get(key);
      return claim !== undefined && isLive(claim);
    },
    live() {
      for (const [key, claim] of known) if (!isLive(claim)) known.delete(key);
      return [...known.values()];
    },
  };
}
