/**
 * Server sandbox: which kind of sandbox holds MCP servers here. That of the agent, where it shows
 * its own files; else the better one that this machine has.
 */
import type { SandboxReport } from "@acp/core";
import { createLinuxSandbox, reachesLevel } from "@acp/sandbox-linux";
import type { LinuxSandboxName } from "@acp/sandbox-linux";
import { isolationMark } from "../gate/notices.js";

/** The kind, and its mark in the log; or why there is none. */
export type ServerSandbox =
  | { readonly kind: LinuxSandboxName; readonly level: string; readonly mark: string }
  | { readonly problem: string };

/** Sandboxes with files of the agent's own, strongest first. */
const KINDS: readonly LinuxSandboxName[] = ["namespace", "landlock"];

/**
 * Chooses it.
 *
 * @param agents - What holds the agent; left out where ACP did not start it.
 */
export async function chooseServerSandbox(
  agents: SandboxReport | undefined,
): Promise<ServerSandbox> {
  const problems: string[] = [];
  const agentsKind = KINDS.filter((kind) => kind === agents?.sandbox);
  for (const kind of agentsKind.length === 0 ? KINDS : agentsKind) {
    const report = agents?.sandbox === kind ? agents : await createLinuxSandbox(kind).probe();
    if (report.isAvailable && reachesLevel(report.level, "partial"))
      return { kind, level: report.level, mark: isolationMark(report) };
    problems.push(`${kind} cannot start (${report.reason})`);
  }
  return { problem: `Cannot hold the server: ${problems.join("; ")}` };
}
