/**
 * Supervised child: the processes between a manager and an agent that has no namespaces around it.
 * With the native helper, its supervisor stands in between and ends everything; without it the
 * child is the agent itself, and what that leaves behind is nobody's.
 */
import type { ChildProcess, StdioOptions } from "node:child_process";
import { closeSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ConsentError } from "@acp/core";
import type { SandboxExit } from "@acp/core";
import { coverInherited } from "./descriptors.js";
import { CHANNEL_FD, firstStageCommand } from "./first-stage.js";
import type { NativeHelper } from "./native-helper.js";
import type { AgentUser, Session } from "./parts.js";
import { childrenOf, endTree, markProcess, type ProcessMark } from "./process-tree.js";
import type { StandardStreams } from "./standard-streams.js";
import { optionalTool, startTool } from "./tools.js";

/** What to spawn. */
export interface SupervisedCommand {
  readonly user: AgentUser;
  readonly helper: NativeHelper;
  readonly session: Session;
  /**
   * The file with the agent's environment: what runs before it may be root, and gets none of it.
   */
  readonly environment: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  /** Options of native/confine.c. */
  readonly confine: readonly string[];
  readonly filter: Uint8Array | undefined;
  /** Descriptors for native/confine.c beside a filter, from {@link PLACES_FD} on. */
  readonly places: readonly number[];
  readonly streams: StandardStreams;
  /** Comes before everything else. */
  readonly outside: readonly string[];
}

/** The child. */
export interface SupervisedChild {
  readonly process: ChildProcess;
  readonly hasSupervisor: boolean;
  readonly exit: Promise<SandboxExit>;
  /** Ends the agent and, with a supervisor, everything that it started. */
  end(): Promise<void>;
}

const FILTER_FD = 4;
/** The first descriptor of a place in the child. */
export const PLACES_FD = 5;
/** `$1`: the environment, `$2`: the working directory. */
const BEGIN = `. "$1" && cd -- "$2" || exit 125
shift 2
exec "$@"`;

/**
 * Spawns it; its first stage waits for orders.
 *
 * @throws ConsentError `sandbox_unavailable` where root's rights could not be given up.
 */
export function spawnSupervised(command: SupervisedCommand): SupervisedChild {
  const { helper, session, filter } = command;
  const filterFd = filter === undefined ? undefined : openFilter(session, filter);
  try {
    const stdio: Exclude<StdioOptions, string> = [...command.streams, "ipc"];
    if (filterFd !== undefined) stdio.push(filterFd, ...command.places);
    const child = coverInherited(stdio, (covered) =>
      startTool(wholeCommand(command), { stdio: covered }),
    );
    const exit = exitOf(child);
    return {
      process: child,
      hasSupervisor: helper.isAvailable,
      exit,
      end: () => end(child, helper.isAvailable, exit),
    };
  } finally {
    if (filterFd !== undefined) closeSync(filterFd);
  }
}

/**
 * The process that the agent will be, while the first stage waits below it.
 *
 * @throws ConsentError `sandbox_failed` where something else runs there.
 */
export function findAgent({ process: { pid = -1 }, hasSupervisor }: SupervisedChild): ProcessMark {
  const found = hasSupervisor ? childrenOf(pid) : [pid];
  const mark = found.length === 1 && found[0] !== undefined ? markProcess(found[0]) : undefined;
  if (mark === undefined)
    throw new ConsentError(
      "sandbox_failed",
      "Cannot start an agent: what runs there is not what was started",
    );
  return mark;
}

function wholeCommand({
  user,
  helper,
  session,
  environment,
  argv,
  cwd,
  confine,
  filter,
  outside,
}: SupervisedCommand): readonly string[] {
  const stage = join(session.inside, "first-stage.cjs");
  // the helper closes all
  const paths = {
    node: process.execPath,
    stage,
    name: session.id,
    ...(helper.isAvailable && { closing: [] }),
  };
  return [
    ...outside,
    ...(helper.isAvailable
      ? [helper.path, ...helperOptions(user, filter !== undefined), ...confine, "--"]
      : withoutHelper(user)),
    "/usr/bin/env",
    "-i",
    "/bin/sh",
    "-c",
    BEGIN,
    "sh",
    environment,
    cwd,
    ...firstStageCommand(paths, argv),
  ];
}

function helperOptions({ uid, gid }: AgentUser, hasFilter: boolean): readonly string[] {
  return [
    "--parent",
    `${process.pid}`,
    "--keep",
    `${CHANNEL_FD}`,
    ...(process.getuid?.() === uid ? [] : ["--uid", `${uid}`, "--gid", `${gid}`]),
    ...(hasFilter ? ["--seccomp", `${FILTER_FD}`] : []),
  ];
}

/** As much of it as util-linux can do: the agent itself ends with the manager. */
function withoutHelper({ uid, gid }: AgentUser): readonly string[] {
  const setpriv = optionalTool("setpriv");
  const isOther = process.getuid?.() !== uid;
  if (setpriv === undefined && isOther) {
    throw new ConsentError(
      "sandbox_unavailable",
      "Cannot start an agent as another user: there is no setpriv (package util-linux)",
    );
  }
  const drop = isOther
    ? [
        `--reuid=${uid}`,
        `--regid=${gid}`,
        "--clear-groups",
        "--inh-caps=-all",
        "--bounding-set=-all",
      ]
    : [];
  return setpriv === undefined
    ? []
    : [setpriv, ...drop, "--no-new-privs", "--pdeathsig=KILL", "--"];
}

function openFilter({ directory }: Session, filter: Uint8Array): number {
  const path = join(directory, "filter.bpf");
  writeFileSync(path, filter, { mode: 0o600, flag: "wx" });
  return openSync(path, "r");
}

/** The supervisor ends as the agent ended. */
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

/** SIGTERM is the supervisor's order to end everything; a stopped one has to go on to hear it. */
async function end(
  child: ChildProcess,
  hasSupervisor: boolean,
  exit: Promise<SandboxExit>,
): Promise<void> {
  const mark = child.pid === undefined ? undefined : markProcess(child.pid);
  if (hasSupervisor) {
    child.kill("SIGTERM");
    child.kill("SIGCONT");
  } else if (mark !== undefined) await endTree(mark);
  await exit;
}
