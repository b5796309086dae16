/**
 * Levels: which of two is more, and what happens where a sandbox has less than was asked for.
 */
import { ConsentError, type SandboxLevel, type SandboxReport } from "@acp/core";

const WEAKEST_FIRST: readonly SandboxLevel[] = ["none", "advisory", "partial", "uid", "full"];

/** Whether a level is at least the required one; `none` is the weakest, `full` the strongest. */
export function reachesLevel(level: SandboxLevel, required: SandboxLevel): boolean {
  return WEAKEST_FIRST.indexOf(level) >= WEAKEST_FIRST.indexOf(required);
}

/**
 * Lets a sandbox go on only where it can start and has the level; no level asked for is any level.
 *
 * @throws ConsentError `sandbox_unavailable`, with the report's reason and fix.
 */
export function requireLevel(
  { sandbox, isAvailable, level, reason, fix }: SandboxReport,
  required: SandboxLevel = "none",
): void {
  const hint = fix === undefined ? "" : `; ${fix}`;
  if (!isAvailable)
    throw new ConsentError(
      "sandbox_unavailable",
      `Cannot start an agent in "${sandbox}": ${reason}${hint}`,
    );
  if (!reachesLevel(level, required)) {
    const text = `Cannot start an agent in "${sandbox}" at level "${required}": it has "${level}" here (${reason})${hint}`;
    throw new ConsentError("sandbox_unavailable", text);
  }
}
