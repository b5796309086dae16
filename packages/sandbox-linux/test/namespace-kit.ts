/**
 * Namespace kit: starts agents in the real thing and reads what they print.
 */
import { execFileSync } from "node:child_process";
import { type HostNeed, hostNeed } from "@acp/testing";
import type { Socket } from "node:net";
import type { SandboxExit, SandboxReport, SandboxSpawnOptions } from "@acp/core";
import type { ConfinementOptions, LinuxSandboxedProcess } from "../src/parts.js";
import { createNamespaceSandbox } from "../src/namespace.js";
import { whyClosed } from "./checkout.js";

/** PATH inside. */
export const PATH = "/usr/local/bin:/usr/bin:/bin";

/** Whether namespaces can be made here. */
export const namespaces: HostNeed = hostNeed("bubblewrap and user namespaces", () => {
  const drop =
    process.getuid?.() === 0
      ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "bwrap"]
      : ["bwrap"];
  const [program = "", ...rest] = drop;
  execFileSync(
    program,
    [...rest, "--unshare-user", "--unshare-net", "--ro-bind", "/", "/", "true"],
    { stdio: "pipe" },
  );
  return whyClosed();
});

/** What an agent left behind. */
export interface Ran {
  readonly exit: SandboxExit;
  readonly output: string;
  readonly report: SandboxReport;
}

/** Starts an agent with its standard streams here. */
export function startAgent(
  argv: readonly string[],
  options: ConfinementOptions = {},
  spawnOptions: Partial<SandboxSpawnOptions<Socket>> = {},
): Promise<LinuxSandboxedProcess> {
  return createNamespaceSandbox(options).spawn(argv, {
    onConnection: (socket) => socket.destroy(),
    env: ({ home }) => ({ PATH, HOME: home }),
    stdio: "pipe",
    ...spawnOptions,
  });
}

/** Everything that an agent prints. */
export async function textOf(agent: LinuxSandboxedProcess): Promise<string> {
  let text = "";
  for await (const chunk of agent.stdout ?? []) text += String(chunk);
  return text;
}

/** Runs an agent to its end. */
export async function runAgent(
  argv: readonly string[],
  options: ConfinementOptions = {},
  spawnOptions: Partial<SandboxSpawnOptions<Socket>> = {},
): Promise<Ran> {
  const agent = await startAgent(argv, options, spawnOptions);
  agent.stdin?.end();
  const [output, exit] = await Promise.all([textOf(agent), agent.exited]);
  return { exit, output, report: agent.report };
}

/** The same, for a shell script. */
export function runShell(
  script: string,
  options: ConfinementOptions = {},
  spawnOptions: Partial<SandboxSpawnOptions<Socket>> = {},
): Promise<Ran> {
  return runAgent(["/bin/sh", "-c", script], options, spawnOptions);
}
