/** Ids that are the same in every run. */
import type { IdPrefix, Ids } from "@acp/core";

/**
 * Makes ids that count up from a seed: unique, in the form of real ids, and the same in every run.
 */
export function seededIds(seed: number = 0): Ids {
  let count = seed * 1_000_000;
  return {
    next(prefix: IdPrefix): string {
      count++;
      return `${prefix}_00000000-0000-4000-8000-${count.toString(16).padStart(12, "0")}`;
    },
  };
}
