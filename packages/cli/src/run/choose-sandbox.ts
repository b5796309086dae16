/**
 * Choose a sandbox: the first of those asked for that can start here and reaches the level. Never a weaker one.
 */
import { ConsentError } from "@acp/core";
import type { SandboxLevel, SandboxReport } from "@acp/core";
import { reachesLevel } from "@acp/sandbox-linux";
import type { LinuxSandbox } from "@acp/sandbox-linux";

/** A sandbox, and what it can enforce here. */
export interface ChosenSandbox {
  readonly sandbox: LinuxSandbox;
  readonly report: SandboxReport;
}

/**
 * Probes them in order.
 *
 * @throws ConsentError `sandbox_unavailable` with the reason and the fix of each.
 */
export async function chooseSandbox(
  sandboxes: Iterable<LinuxSandbox>,
  requiredLevel: SandboxLevel | undefined = "none",
): Promise<ChosenSandbox> {
  const refused: SandboxReport[] = [];
  for (const sandbox of sandboxes) {
    const report = await sandbox.probe();
    if (report.isAvailable && reachesLevel(report.level, requiredLevel)) return { sandbox, report };
    refused.push(report);
  }
  const needs = requiredLevel === "none" ? "can start here" : `reaches level "${requiredLevel}" here`;
  throw new ConsentError(
    "sandbox_unavailable",
    `Cannot run the command: no sandbox asked for ${needs}: ${refused.map(explain).join("; ")}`,
  );
}

function explain({ sandbox, isAvailable, level, reason, fix }: SandboxReport): string {
  return `${sandbox} ${isAvailable ? `has level "${level}"` : "cannot start"} (${reason}${fix === undefined ? "" : `; ${fix}`})`;
}
