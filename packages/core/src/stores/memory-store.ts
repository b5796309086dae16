/** All stores in memory: what a gate uses unless it is given others. */
import type { Store } from "../ports.js";
import { memoryClaims } from "./memory-claims.js";
import { memoryGrants } from "./memory-grants.js";
import { memoryLimits } from "./memory-limits.js";
import { memoryPending } from "./memory-pending.js";
import type { Clock } from "../types/clock.js";

/** A store whose parts live as long as the process. */
export function memoryStore(clock: Clock): Store {
  return {
    claims: memoryClaims(clock),
    limits: memoryLimits(clock),
    pending: memoryPending(),
    grants: memoryGrants(),
  };
}
