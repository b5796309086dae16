/**
 * Namespace agent: an agent that runs, from the word to go until nothing of it is left.
 */
import type { ChildProcess } from "node:child_process";
import type { Server } from "node:net";
import { constants } from "node:os";
import { ConsentError, type SandboxExit, type SandboxReport } from "@acp/core";
import type { HeldNames } from "./held-names.js";
import { findName, type JobControl } from "./job-control.js";
import type { LinuxSandboxedProcess, Session } from "./parts.js";
import { childrenOf, gone, markProcess, type ProcessMark, signalProcess } from "./process-tree.js";
import type { CapGroups } from "./resource-caps.js";

/** The processes of one sandbox that the manager has to do with. */
export interface NamespaceProcesses {
  /** The first process of the pid namespace: when it goes, all in it go. */
  readonly init: ProcessMark;
  /** The agent, which is still the first stage's shell when this is found out. */
  readonly agent: ProcessMark;
}

/** What an agent that runs holds. */
export interface AgentParts {
  readonly child: ChildProcess;
  /** Left out: without native/init.c there is none. */
  readonly control: JobControl | undefined;
  readonly names: HeldNames | undefined;
  readonly processes: NamespaceProcesses;
  readonly listeners: readonly Server[];
  readonly groups: CapGroups;
  readonly session: Session;
  /** Where its workspace is an overlay. */
  readonly view: Disposable | undefined;
  readonly report: SandboxReport;
  readonly signal: AbortSignal | undefined;
}

/**
 * Finds the processes while all of them wait for the word to go: bubblewrap, its init and the shell
 * are then one line of descent.
 *
 * @throws ConsentError `sandbox_failed` where there is something else.
 */
export function findProcesses(child: ChildProcess): NamespaceProcesses {
  const inits = childrenOf(child.pid ?? -1);
  const shells = inits.flatMap((pid) => childrenOf(pid));
  const [init, agent] = [inits, shells].map(([pid, ...others]) =>
    pid === undefined || others.length > 0 ? undefined : markProcess(pid),
  );
  if (init === undefined || agent === undefined) {
    throw new ConsentError(
      "sandbox_failed",
      "Cannot start an agent: what runs in its namespace is not what was started there",
    );
  }
  return { init, agent };
}

/** Looks after an agent; its exit cleans up, whether anybody asks or not. */
export function superviseAgent(parts: AgentParts): LinuxSandboxedProcess {
  const { child, control, names, processes, report, signal } = parts;
  const ended = new Promise<SandboxExit>((resolve) => {
    child.once("exit", (code, name) => resolve(readExit(code, name)));
    if (child.exitCode !== null || child.signalCode !== null)
      resolve(readExit(child.exitCode, child.signalCode));
  });
  let isOurs = false;
  let lost: ConsentError | undefined;
  const exited = ended.then(async (exit) => {
    signal?.removeEventListener("abort", end);
    const seen = await control?.ended;
    if (control !== undefined && seen === undefined && !isOurs) lost = silentEnd();
    await cleanUp(parts);
    return seen ?? (lost === undefined ? exit : unlikeSuccess(exit));
  });
  const end = (): void => {
    isOurs = true;
    signalProcess(processes.init, "SIGKILL");
  };
  signal?.addEventListener("abort", end);
  if (signal?.aborted === true) end();
  return {
    report,
    pid: processes.agent.pid,
    stdin: child.stdin ?? undefined,
    stdout: child.stdout ?? undefined,
    stderr: child.stderr ?? undefined,
    exited,
    failure: () => names?.failure() ?? lost,
    kill: (name) => {
      if (!isSignal(name))
        throw new ConsentError(
          "options_invalid",
          `Cannot send the signal "${name}": there is no such signal`,
        );
      if (control?.pass(name) !== true) signalProcess(processes.agent, name);
    },
    close: async () => {
      end();
      await exited;
    },
  };
}

/**
 * The first process says how the agent ended before it ends itself. Where it did not, and we did
 * not end it, somebody else killed it or it failed: nobody watched over the agent to the end.
 */
function silentEnd(): ConsentError {
  return new ConsentError(
    "sandbox_failed",
    "Cannot tell how the agent ended: the first process of its sandbox was killed or failed; look for what ends processes of this user, such as the kernel when memory runs out",
  );
}

function unlikeSuccess(exit: SandboxExit): SandboxExit {
  return exit.code === 0 ? { code: undefined, signal: "SIGKILL" } : exit;
}

/**
 * Bubblewrap goes when the agent does; without native/init.c, what the agent started goes with the
 * namespace's init, a moment later.
 */
async function cleanUp({ processes, listeners, groups, session, view }: AgentParts): Promise<void> {
  view?.[Symbol.dispose]();
  signalProcess(processes.init, "SIGKILL");
  await gone(processes.init);
  for (const each of listeners) each.close();
  // What cannot be removed stays in the session's record, for the next start.
  await quietly(() => groups.remove());
  await quietly(() => session[Symbol.asyncDispose]());
}

async function quietly(act: () => PromiseLike<void>): Promise<void> {
  try {
    await act();
  } catch {
    // said where the next start fails to clean it up
  }
}

/**
 * Bubblewrap says a signal as a shell does, 128 and its number, so an exit code above 128 that is a
 * signal's is taken for one.
 */
function readExit(code: number | null, name: string | null): SandboxExit {
  const signal = name ?? findName((code ?? 0) - 128);
  return signal === undefined
    ? { code: code ?? 0, signal: undefined }
    : { code: undefined, signal };
}

function isSignal(name: string): name is NodeJS.Signals {
  return Object.hasOwn(constants.signals, name);
}
