/**
 * Start an agent: in the sandbox that was chosen, with the environment of the inside; what runs is what was probed and what the log says, or nothing.
 */
import type { Socket } from "node:net";
import { ConsentError } from "@acp/core";
import type { LinuxSandboxedProcess } from "@acp/sandbox-linux";
import type { Io } from "../command.js";
import { makeAgentEnvironment } from "./agent-environment.js";
import type { ChosenSandbox } from "./choose-sandbox.js";
import { insideFiles } from "./inside-files.js";
import type { PassedSignals } from "./pass-signals.js";
import type { RunPlan } from "./plan.js";

/** What an agent is started with. */
export interface StartAgentParts {
  readonly invocation: { readonly io: Pick<Io, "env"> };
  readonly plan: RunPlan;
  readonly chosen: ChosenSandbox;
  readonly signals: PassedSignals;
}

/**
 * Starts it.
 *
 * @param onConnection - Takes its connections to the proxy's port.
 * @throws ConsentError `sandbox_unavailable`, `sandbox_failed`, `options_invalid`; the reason of a signal that came before. Nothing is left running.
 */
export async function startAgent(
  { invocation, plan, chosen, signals }: StartAgentParts,
  onConnection: (socket: Socket) => void,
  ports: ReadonlyMap<number, (socket: Socket) => void> = new Map(),
): Promise<LinuxSandboxedProcess> {
  const { sandbox, report } = chosen;
  const { env } = invocation.io;
  signals.stopped.throwIfAborted();
  const started = await sandbox.spawn(plan.argv, {
    onConnection,
    ports,
    env: (inside) => makeAgentEnvironment({ env, named: plan.env, sandbox: sandbox.name }, inside),
    files: insideFiles(),
    ...(plan.workspace !== undefined && { cwd: plan.workspace.path }),
    stdio: plan.speaksMcp ? "pipe" : "inherit",
    requiredLevel: report.level,
    signal: signals.stopped,
  });
  if (started.report.level === report.level) return started;
  await started.close();
  throw new ConsentError(
    "sandbox_failed",
    `Cannot run the command: sandbox "${sandbox.name}" is at level "${started.report.level}" now, not "${report.level}"`,
  );
}
