/**
 * Choose a sandbox: the first of those asked for that holds the agent here at the level. Never a
 * weaker one.
 */
import { ConsentError, isConsentError } from "@acp/core";
import type { SandboxLevel, SandboxReport } from "@acp/core";
import { reachesLevel } from "@acp/sandbox-linux";
import type { HeldAgent, LinuxSandbox } from "@acp/sandbox-linux";

/**
 * Tries them in order: by holding the agent itself, so that what is said of it is true of it. Why
 * one does not, its probe says.
 *
 * @param hold - Holds the agent in a sandbox, at the required level.
 * @throws ConsentError `sandbox_unavailable` with the reason and the fix of each; what a hold
 *   throws in a sandbox that can start.
 */
export async function chooseSandbox(
  sandboxes: Iterable<LinuxSandbox>,
  requiredLevel: SandboxLevel | undefined,
  hold: (sandbox: LinuxSandbox) => Promise<HeldAgent>,
): Promise<HeldAgent> {
  const refused: SandboxReport[] = [];
  for (const sandbox of sandboxes) {
    try {
      return await hold(sandbox);
    } catch (error) {
      if (
        !isConsentError(error) ||
        (error.code !== "sandbox_unavailable" && error.code !== "sandbox_failed")
      )
        throw error;
      const report = await sandbox.probe();
      if (report.isAvailable && reachesLevel(report.level, requiredLevel ?? "none")) throw error;
      refused.push(report);
    }
  }
  const needs =
    requiredLevel === undefined || requiredLevel === "none"
      ? "can start here"
      : `reaches level "${requiredLevel}" here`;
  throw new ConsentError(
    "sandbox_unavailable",
    `Cannot run the command: no sandbox asked for ${needs}: ${refused.map(explain).join("; ")}`,
  );
}

function explain({ sandbox, isAvailable, level, reason, fix }: SandboxReport): string {
  return `${sandbox} ${isAvailable ? `has level "${level}"` : "cannot start"} (${reason}${fix === undefined ? "" : `; ${fix}`})`;
}
