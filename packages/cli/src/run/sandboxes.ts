/**
 * Sandboxes of a plan.
 */
import { createLinuxSandbox } from "@acp/sandbox-linux";
import type { LinuxSandbox, LinuxSandboxOptions } from "@acp/sandbox-linux";
import type { RunPlan } from "./plan.js";

/** What sandboxes need besides a plan. */
export interface SandboxesParts {
  /** What stays invisible. */
  readonly hidden: readonly string[];
  /** What runs outside, which no agent may change. */
  readonly programs: readonly string[];
  /** The home inside, where it stays. */
  readonly privateHome: string | undefined;
  /** Hears why a sandbox ended its agent. */
  readonly onNotice: (text: string) => void;
}

/** Makes them, one at a time, in the order in which they are to be tried. */
export function* makeSandboxes(
  plan: RunPlan,
  { hidden, programs, privateHome, onNotice }: SandboxesParts,
): Generator<LinuxSandbox, void> {
  const { sandboxes, workspace, readable, user, unixSockets, dns, memoryBytes } = plan;
  const given = {
    ...(workspace !== undefined && { workspace }),
    ...(user !== undefined && { user }),
    ...(memoryBytes !== undefined && { caps: { memoryBytes, processMemoryBytes: memoryBytes } }),
    ...(privateHome !== undefined && { home: privateHome }),
  };
  const options: LinuxSandboxOptions = {
    ...given,
    readable,
    hidden,
    programs,
    unixSockets,
    dns,
    onNotice,
  };
  for (const name of sandboxes) yield createLinuxSandbox(name, options);
}
