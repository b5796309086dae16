/**
 * Tools: the programs of the host that a sandbox is made with, each found where no agent could have
 * put it, and started with nothing of our environment.
 */
import type { ChildProcess, StdioOptions } from "node:child_process";
import { ConsentError } from "@acp/core";
import {
  type AgentReach,
  type Distrust,
  type ProgramResult,
  runProgram,
  type RunOptions,
  startProgram,
  trustedProgram,
  type TrustedProgram,
} from "@acp/host";

/** What root's tools get: they look for their own helpers there. */
export const TOOL_ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
  LC_ALL: "C",
};

/** The absolute path of a tool, or why there is none. */
export function findTool(name: string, reach?: AgentReach): string | Distrust {
  const found = trustedProgram(name, reach);
  return "reason" in found ? found : found.path;
}

/** The absolute path of a tool, where its absence needs no explanation. */
export function optionalTool(name: string): string | undefined {
  const found = findTool(name);
  return typeof found === "string" ? found : undefined;
}

/**
 * The absolute path of a tool that has to be there.
 *
 * @throws ConsentError `sandbox_unavailable`, saying why it cannot be used.
 */
export function requireTool(name: string): string {
  return known(name).path;
}

/** How a command line is started. */
export interface StartTool {
  readonly stdio: StdioOptions;
  readonly env?: Readonly<Record<string, string>>;
  readonly isDetached?: boolean;
}

/**
 * Starts a command line whose first word is a tool.
 *
 * @throws ConsentError `sandbox_unavailable` where the first word may not be started.
 */
export function startTool(
  [name = "", ...args]: readonly string[],
  { stdio, env = TOOL_ENVIRONMENT, isDetached = false }: StartTool,
): ChildProcess {
  const list = Array.isArray(stdio) ? stdio.map((each) => each ?? null) : [stdio, stdio, stdio];
  return startProgram(known(name), args, { env, stdio: list, isDetached });
}

/**
 * Runs a command line whose first word is a tool.
 *
 * @throws ConsentError `sandbox_unavailable` where the first word may not be started.
 */
export function runTool(
  [name = "", ...args]: readonly string[],
  options: Partial<RunOptions> = {},
): Promise<ProgramResult> {
  return runProgram(known(name), args, { env: TOOL_ENVIRONMENT, ...options });
}

function known(name: string): TrustedProgram {
  const found = trustedProgram(name);
  if (!("reason" in found)) return found;
  throw new ConsentError("sandbox_unavailable", `Cannot use "${name}": ${found.reason}`);
}
