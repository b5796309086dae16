/**
 * Hold an agent: in one sandbox, with the environment of the inside, up to the moment before its
 * command begins. What is held is what runs, and its report is what the log says.
 */
import type { HeldAgent, LinuxSandbox } from "@acp/sandbox-linux";
import type { Io } from "../command.js";
import { makeAgentEnvironment } from "./agent-environment.js";
import { insideFiles } from "./inside-files.js";
import type { PassedSignals } from "./pass-signals.js";
import type { RunPlan } from "./plan.js";

/** What an agent is held with. */
export interface HoldAgentParts {
  readonly invocation: { readonly io: Pick<Io, "env"> };
  readonly plan: RunPlan;
  readonly signals: PassedSignals;
  /** Hears when the processes of the sandbox are about to start. */
  readonly onStart?: () => void;
}

/**
 * Holds it.
 *
 * @throws ConsentError `sandbox_unavailable`, `sandbox_failed`, `options_invalid`; the reason of a
 *   signal that came before. Nothing is left running.
 */
export async function holdAgent(
  { invocation, plan, signals, onStart }: HoldAgentParts,
  sandbox: LinuxSandbox,
): Promise<HeldAgent> {
  const { env } = invocation.io;
  signals.stopped.throwIfAborted();
  return await sandbox.hold(plan.argv, {
    ports: plan.hostPorts,
    env: (inside) => {
      onStart?.();
      return makeAgentEnvironment({ env, named: plan.env, sandbox: sandbox.name }, inside);
    },
    files: insideFiles(),
    ...(plan.workspace !== undefined && { cwd: plan.workspace.path }),
    stdio: plan.speaksMcp ? "pipe" : "inherit",
    ...(plan.requiredLevel !== undefined && { requiredLevel: plan.requiredLevel }),
    signal: signals.stopped,
  });
}
