/**
 * Stat, where it is no matter why there is nothing to see.
 */
import { type Stats, statSync } from "node:fs";

/**
 * What is at a path, links followed; `undefined` where there is nothing, or nothing that this user
 * may look at.
 */
export function statOptional(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}
