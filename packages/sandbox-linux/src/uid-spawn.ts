/**
 * UID spawn: the child that becomes the agent, and the agent in it.
 */
import type { ChildProcess } from "node:child_process";
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { basename, join } from "node:path";
import { ConsentError } from "@acp/core";
import type { SandboxExit } from "@acp/core";
import { coverInherited } from "./descriptors.js";
import type { AgentUser, FirstStageFindings, Session } from "./parts.js";
import { childrenOf, markProcess } from "./process-tree.js";
import type { ProcessMark } from "./process-tree.js";
import type { StandardStreams } from "./standard-streams.js";
import { startTool } from "./tools.js";

/** How to spawn the chain of uid-command.ts. */
export interface SpawnParts {
  readonly command: readonly string[];
  readonly session: Session;
  /** The filter of system calls, where the helper installs one. */
  readonly filter: Uint8Array | undefined;
  readonly streams: StandardStreams;
}

/** A child, and how it ends. */
export interface SpawnedChild {
  readonly child: ChildProcess;
  readonly exit: Promise<SandboxExit>;
}

/**
 * Spawns it with the descriptors that uid-command.ts counts on: 3 is an IPC channel, 4 the filter.
 * Without a filter it gets no terminal of ours: it could type into it.
 */
export function spawnChain({ command, session, filter, streams }: SpawnParts): SpawnedChild {
  const filterFd = filter === undefined ? undefined : openFilter(session, filter);
  try {
    const own = [...streams, "ipc" as const, ...(filterFd === undefined ? [] : [filterFd])];
    const child = coverInherited(own, (covered) =>
      startTool(command, { stdio: covered, isDetached: filter === undefined }),
    );
    return { child, exit: exitOf(child) };
  } finally {
    if (filterFd !== undefined) closeSync(filterFd);
  }
}

function openFilter({ directory }: Session, filter: Uint8Array): number {
  const path = join(directory, "filter.bpf");
  writeFileSync(path, filter, { mode: 0o600, flag: "wx" });
  return openSync(path, "r");
}

/** Every program of the chain ends as the one that it started. */
function exitOf(child: ChildProcess): Promise<SandboxExit> {
  return new Promise((resolve) => {
    child.once("exit", (code, signal) =>
      resolve(
        signal === null ? { code: code ?? 0, signal: undefined } : { code: undefined, signal },
      ),
    );
    child.once("error", () => resolve({ code: undefined, signal: "SIGKILL" }));
  });
}

/**
 * The process that the agent will be, while the first stage waits below it: nsenter's child, or
 * with the helper (which stays) that one's.
 *
 * @throws ConsentError `sandbox_failed` where something else runs there.
 */
export function findAgent({ pid = -1 }: ChildProcess, hasHelper: boolean): ProcessMark {
  const first = childrenOf(pid);
  const found = hasHelper ? first.flatMap((each) => childrenOf(each)) : first;
  const mark = found.length === 1 && found[0] !== undefined ? markProcess(found[0]) : undefined;
  if (mark === undefined)
    throw new ConsentError(
      "sandbox_failed",
      "Cannot start an agent: what runs there is not what was started",
    );
  return mark;
}

/** What the kernel must say of the process that becomes the agent. */
export interface ExpectedAgent {
  readonly user: AgentUser;
  readonly mark: ProcessMark;
  readonly hasFilter: boolean;
  /** Directories of the cgroups that it was put in. */
  readonly cgroups: readonly string[];
}

/**
 * Compares what was meant with what is.
 *
 * @throws ConsentError `sandbox_failed`.
 */
export function confirmAgent(
  { user, mark, hasFilter, cgroups }: ExpectedAgent,
  { privileges }: FirstStageFindings,
): void {
  const fail = (what: string): never => {
    throw new ConsentError("sandbox_failed", `Cannot start an agent: ${what}`);
  };
  if (privileges.uid !== user.uid) fail(`inside it has uid ${privileges.uid}, not ${user.uid}`);
  if (!privileges.hasNoCapabilities) fail("inside it still has capabilities");
  if (!privileges.hasNoNewPrivileges) fail("inside it could still get privileges");
  if (hasFilter && !privileges.hasSeccompFilter) fail("inside there is no filter of system calls");
  // Lines as `4:memory:/path`; a path may begin above what is mounted here, so its end is compared.
  const lines = readFileSync(`/proc/${mark.pid}/cgroup`, "utf8").split("\n");
  const missing = cgroups.find(
    (directory) => !lines.some((line) => line.endsWith(`/${basename(directory)}`)),
  );
  if (missing !== undefined) fail(`it is not in its cgroup "${missing}"`);
}

/**
 * A signal's name, checked.
 *
 * @throws ConsentError `options_invalid`.
 */
export function parseSignal(name: string): NodeJS.Signals {
  if (!isSignal(name))
    throw new ConsentError(
      "options_invalid",
      `Cannot send signal "${name}": there is no signal of that name`,
    );
  return name;
}

function isSignal(name: string): name is NodeJS.Signals {
  return Object.hasOwn(constants.signals, name);
}
