/**
 * Namespace child: starts bubblewrap with the first stage in it. What must not be seen on a command line goes through descriptors.
 */
import type { ChildProcess, StdioOptions } from "node:child_process";
import { Socket } from "node:net";
import { join } from "node:path";
import { isatty } from "node:tty";
import { ConsentError, type SandboxSpawnOptions } from "@acp/core";
import { coverInherited } from "./descriptors.js";
import { CHANNEL_FD, firstStageCommand } from "./first-stage.js";
import { makeArguments } from "./namespace-arguments.js";
import { bwrapCommand, canIgnoreSignals, DEFAULT_SIGNALS, IGNORE_SIGNALS, insideCommand } from "./namespace-host.js";
import type { NamespacePreparation } from "./namespace-prepare.js";
import { INSIDE, makeRoot, writeEtc } from "./namespace-root.js";
import type { Session } from "./parts.js";
import { rlimitCommand } from "./resource-caps.js";
import { startTool } from "./tools.js";

/** The proxy's port inside: any would do, the agent has all of them to itself. */
export const PORT_INSIDE = 18_443;

const SECCOMP_FD = 4;
const ARGS_FD = 5;

/** What to start. */
export interface NamespaceStart {
  readonly prepared: NamespacePreparation;
  readonly session: Session;
  readonly argv: readonly string[];
  readonly options: SandboxSpawnOptions<Socket>;
}

/**
 * Starts the child; its first stage waits for orders.
 *
 * @throws ConsentError `options_invalid` for an environment that cannot be given.
 */
export async function startNamespaceChild({ prepared, session, argv, options }: NamespaceStart): Promise<ChildProcess> {
  const { host, user, places, caps, node, filter } = prepared;
  const etc = join(session.directory, "etc");
  await writeEtc(etc, user);
  const hasTerminal = options.stdio !== "pipe" && isatty(0);
  const keepsSignals = hasTerminal && (await canIgnoreSignals());
  const args = makeArguments({
    host,
    root: makeRoot({ places, inside: session.inside, etc, node, scratchBytes: caps.scratchBytes, isAgents: host.variant !== "rooted" }),
    env: options.env({ port: PORT_INSIDE, files: INSIDE.files, home: INSIDE.home }),
    cwd: options.cwd ?? places.workspace?.path ?? INSIDE.home,
    hasTerminal,
    seccompFd: SECCOMP_FD,
    channelFd: CHANNEL_FD,
  });
  const command = [
    ...(keepsSignals ? IGNORE_SIGNALS : []),
    ...bwrapCommand(host, user),
    "--args",
    String(ARGS_FD),
    "--",
    ...(keepsSignals ? DEFAULT_SIGNALS : []),
    ...insideCommand(host, user),
    ...rlimitCommand(caps),
    ...firstStageCommand({ node, stage: `${INSIDE.files}/first-stage.cjs`, name: session.id }, argv),
  ];
  const [input, output] = options.stdio === "pipe" ? (["pipe", "pipe"] as const) : (["inherit", "inherit"] as const);
  const stdio: Exclude<StdioOptions, string> = [input, output, "inherit", "ipc", "pipe", "pipe"];
  const child = coverInherited(stdio, (covered) => startTool(command, { stdio: covered, env: {} }));
  feed(child, SECCOMP_FD, filter);
  feed(child, ARGS_FD, args);
  return child;
}

/** A child that is gone before it has read is told apart by its exit. */
function feed(child: ChildProcess, fd: number, bytes: Uint8Array): void {
  const pipe = child.stdio[fd];
  if (!(pipe instanceof Socket)) throw new ConsentError("sandbox_failed", "Cannot start an agent: bubblewrap could not be started");
  pipe.on("error", () => {});
  pipe.end(bytes);
}
