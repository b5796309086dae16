/**
 * Run an agent: what holds it on one side, its gate on the other, until it has ended and nothing of
 * it is left to look at.
 */
import { systemClock } from "@acp/core";
import type { Agent } from "@acp/core";
import type { Home, UpstreamServer } from "@acp/home";
import type { ConnectionTakers, HeldAgent, LinuxSandboxedProcess } from "@acp/sandbox-linux";
import type { Invocation, Outcome } from "../command.js";
import { reviewAtEnd } from "../review/at-end.js";
import type { AtEndParts } from "../review/at-end.js";
import type { OpenedReview } from "../review/store.js";
import { codeOfExit } from "./exit-code.js";
import { openHostPorts } from "./host-ports.js";
import type { HostPorts } from "./host-ports.js";
import type { PassedSignals } from "./pass-signals.js";
import type { RunPlan } from "./plan.js";
import type { PortGuard } from "./port-guard.js";
import { pipesOf } from "./run-gate.js";
import type { RunGate } from "./run-gate.js";
import { watchFolders } from "./watch-folders.js";
import type { WatchedFolders } from "./watch-folders.js";

/** What an agent is run with. */
export interface RunAgentParts {
  readonly invocation: Invocation;
  readonly plan: RunPlan;
  readonly signals: PassedSignals;
  /** Let go here; ended by the caller where it was not. */
  readonly held: HeldAgent;
  readonly home: Home;
  /** What they write is looked at. */
  readonly servers: readonly UpstreamServer[];
  readonly agent: Agent;
  /** Where its workspace is an overlay. */
  readonly review: OpenedReview | undefined;
  /** Of the ports in the plan. */
  readonly portGuard: PortGuard;
}

/**
 * Runs it to its end.
 *
 * @returns The agent's exit code.
 * @throws ConsentError `sandbox_failed`, `options_invalid`, `config_invalid`.
 */
export async function runAgent(parts: RunAgentParts, gate: RunGate): Promise<Outcome> {
  const hostPorts = openPorts(parts, gate);
  try {
    await gate.ready();
    const watched = await watchRun(parts, gate);
    const started = await letGo(parts.held, watched, {
      onConnection: (socket) => gate.attach(socket),
      ports: hostPorts.takers,
    });
    parts.signals.to(started);
    try {
      return { exitCode: await exitOf(started, parts, gate) };
    } finally {
      await started.close();
      await gate.endServers();
      await watched.end();
      if (parts.review !== undefined) await reviewAtEnd(parts.review, endPartsOf(parts, gate));
    }
  } finally {
    hostPorts.close();
  }
}

/** The command's exit code, once it has ended. */
async function exitOf(
  started: LinuxSandboxedProcess,
  { plan, invocation }: RunAgentParts,
  gate: RunGate,
): Promise<number> {
  const speak = async (): Promise<void> => {
    const why = await gate.speakMcp(pipesOf(started));
    if (why === undefined) return;
    if (!invocation.io.stderr.isTTY) invocation.print.notice(why);
    started.kill("SIGTERM");
  };
  const [exit] = await Promise.all([started.exited, plan.speaksMcp ? speak() : undefined]);
  const failure = started.failure?.();
  if (failure !== undefined) throw failure;
  return codeOfExit(exit);
}

function openPorts({ plan, home, agent, portGuard }: RunAgentParts, gate: RunGate): HostPorts {
  return openHostPorts(plan.hostPorts, {
    home,
    agentId: agent.id,
    clock: systemClock,
    guard: portGuard,
    refused: (port, why) =>
      void gate
        .say("host_ports", `Connections of the command to port ${port} are refused: ${why}`)
        .catch(() => {}),
  });
}

/** The workspace and the folders of servers, until all of the run has ended. */
function watchRun(parts: RunAgentParts, gate: RunGate): Promise<WatchedFolders> {
  return watchFolders({
    ...parts,
    workspace: parts.plan.workspace,
    say: (notice) => gate.say("left_behind", notice),
    tell: (text) => gate.tell("held_replaced", text),
  });
}

/** Lets the command begin. */
async function letGo(
  held: HeldAgent,
  watched: WatchedFolders,
  takers: ConnectionTakers,
): Promise<LinuxSandboxedProcess> {
  try {
    return await held.go(takers);
  } catch (error) {
    await watched.forget(); // it has never begun
    throw error;
  }
}

/** What a person took or dropped at the end stands in the run's own log, where there is one. */
function endPartsOf({ invocation, home }: RunAgentParts, gate: RunGate): AtEndParts {
  return {
    invocation,
    home,
    io: invocation.io,
    ...(gate.log !== undefined && { log: gate.log }),
    say: (text) => gate.say("review", text),
  };
}
