/**
 * Contained server: an MCP server in a sandbox of its own. It sees the system, a private home that
 * it finds again at its next start, and what its configuration names; it has its own variables and
 * no others, and of the network what its list names.
 */
import { dirname, isAbsolute, resolve } from "node:path";
import { ConsentError } from "@acp/core";
import type { SandboxInside } from "@acp/core";
import type { CommandServer } from "@acp/home";
import type { ServerProcess, StartedUpstream } from "@acp/proxy-mcp";
import { createLinuxSandbox } from "@acp/sandbox-linux";
import type { AgentView, LinuxSandboxedProcess, Workspace } from "@acp/sandbox-linux";
import type { Io } from "../command.js";
import { makeAgentEnvironment } from "../run/agent-environment.js";
import { insideFiles } from "../run/inside-files.js";
import { serverHome } from "./server-directory.js";
import type { ServerNetwork } from "./server-network.js";
import type { ServerSandbox } from "./server-sandbox.js";
import { checkContainable } from "./uncontainable.js";

/** What contained servers share. */
export interface ContainedParts {
  readonly homeDir: string;
  /** The agent's; left out: there is none. */
  readonly workspace?: Workspace;
  /** Where the agent works in an overlay: what it sees. */
  readonly view?: AgentView;
  /** What stays invisible. */
  readonly hidden: readonly string[];
  /** What runs outside, which no server may change. */
  readonly programs: readonly string[];
  /** What the server is pinned to; left out: it is not. */
  readonly packages?: string;
  /** Who servers run as where we are root; left out: as a sandbox chooses. */
  readonly user?: string;
  readonly sandbox: ServerSandbox;
  readonly network: ServerNetwork;
  readonly io: Pick<Io, "env" | "cwd" | "umask">;
  /** Ends starts that are under way. */
  readonly signal: AbortSignal;
  /** Every server that runs. */
  readonly running: Set<Pick<LinuxSandboxedProcess, "close">>;
}

/**
 * In its own home, unless it is told otherwise: never in a folder where an agent could have left
 * packages for it.
 */
const IN_HOME = ["/bin/sh", "-c", 'cd -- "$HOME" && exec "$@"', "sh"];
/** What it writes is as readable as if whoever wants it had started it: a resident has another one. */
const UMASKED = ["/bin/sh", "-c", 'umask "$0" && exec "$@"'];
const SYSTEM_PATH = `/usr/local/bin:/usr/bin:/bin:${dirname(process.execPath)}`;

/**
 * A server as the proxy starts it, once a session.
 *
 * @throws ConsentError `config_invalid` where no sandbox could hold it, or it works where it sees
 *   nothing.
 */
export function containedServer(server: CommandServer, parts: ContainedParts): StartedUpstream {
  const { name, cwd } = server;
  checkContainable(name, server.command);
  const workspace = workspaceOf(server, parts);
  const { read = [], write = [] } = server;
  const seen = [...read, ...write, ...(workspace === undefined ? [] : [workspace.path])];
  if (cwd !== undefined && !seen.some((each) => cwd === each || cwd.startsWith(`${each}/`))) {
    const remedy = 'add it to "read" or "write" of the server, or leave out "cwd"';
    throw new ConsentError(
      "config_invalid",
      `Cannot start server "${name}": its sandbox does not show its working directory; ${remedy}`,
    );
  }
  return {
    name,
    ...(server.limits !== undefined && { limits: server.limits }),
    async start() {
      const started = await start(server, parts, workspace);
      parts.running.add(started);
      void started.exited.then(() => parts.running.delete(started));
      return processOf(started);
    },
  };
}

/**
 * As much of the agent's workspace as the server is given. Never more than the agent has: what is
 * read-only for it stays so, and what is an overlay is that overlay.
 *
 * @throws ConsentError `options_invalid` where the agent works in an overlay that cannot be shown:
 *   nothing of the server may reach what lies below.
 */
function workspaceOf(
  { name, workspace: wanted }: CommandServer,
  { workspace, view }: ContainedParts,
): Workspace | undefined {
  if (workspace?.access === "overlay" && view === undefined) {
    const remedy = "work without a review, or leave out the servers";
    throw new ConsentError(
      "options_invalid",
      `Cannot start server "${name}": what the agent sees of its workspace cannot be shown; ${remedy}`,
    );
  }
  if (wanted === undefined || workspace === undefined) return undefined;
  if (workspace.access === "overlay")
    return { path: workspace.path, access: wanted === "read" ? "read-only" : "read-write" };
  return wanted === "read" ? { path: workspace.path, access: "read-only" } : workspace;
}

async function start(
  server: CommandServer,
  parts: ContainedParts,
  workspace: Workspace | undefined,
): Promise<LinuxSandboxedProcess> {
  const { name, command, cwd, env = {}, read = [], write = [] } = server;
  const { sandbox, homeDir, view, hidden, programs, packages, user, network, io, signal } = parts;
  if ("problem" in sandbox)
    throw new ConsentError(
      "sandbox_unavailable",
      `${sandbox.problem}; or give it "sandbox: none" to start it outside`,
    );
  const home = await serverHome(homeDir, name);
  const given = {
    ...(workspace !== undefined && { workspace }),
    ...(view !== undefined && { view }),
    ...(user !== undefined && { user }),
    ...(packages !== undefined && { packages }),
  };
  const holder = createLinuxSandbox(sandbox.kind, {
    ...given,
    readable: read,
    writable: write,
    home,
    hidden,
    programs,
  });
  const [program = "", ...args] = command;
  // As the person wrote it, in the directory where ACP was started.
  const named = program.includes("/") && !isAbsolute(program) ? resolve(io.cwd, program) : program;
  return whileStarting(signal, (stop) =>
    holder.spawn([...umasked(io), ...(cwd === undefined ? IN_HOME : []), named, ...args], {
      onConnection: (socket) => network.attach(socket, name),
      env: (inside) =>
        makeEnvironment(
          env,
          makeAgentEnvironment({ env: io.env, named: [], sandbox: sandbox.kind }, inside),
          inside,
        ),
      files: insideFiles(),
      ...(cwd !== undefined && { cwd }),
      stdio: "pipe",
      stderr: "pipe",
      requiredLevel: "partial",
      signal: stop,
    }),
  );
}

const umasked = ({ umask }: Pick<Io, "umask">): readonly string[] =>
  umask === undefined ? [] : [...UMASKED, umask.toString(8).padStart(3, "0")];

type Variables = Readonly<Record<string, string>>;

/** What reaches the proxy, and what the configuration names; nothing else of ours. */
function makeEnvironment(own: Variables, base: Variables, { home }: SandboxInside): Variables {
  const patches = [base["NODE_OPTIONS"], own["NODE_OPTIONS"]].filter(
    (each) => each !== undefined && each !== "",
  );
  return { ...base, PATH: SYSTEM_PATH, ...own, NODE_OPTIONS: patches.join(" "), HOME: home };
}

/** A start can be ended by the signal; what has started ends as servers end. */
async function whileStarting<T>(
  signal: AbortSignal,
  begin: (stop: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const end = (): void => stop.abort(signal.reason);
  signal.addEventListener("abort", end);
  if (signal.aborted) end();
  try {
    return await begin(stop.signal);
  } finally {
    signal.removeEventListener("abort", end);
  }
}

/** @throws ConsentError `sandbox_failed` where the sandbox gives no pipes. */
function processOf(started: LinuxSandboxedProcess): ServerProcess {
  const { stdin, stdout, stderr, exited } = started;
  const kill = (): void => void started.close();
  if (stdin === undefined || stdout === undefined || stderr === undefined) {
    kill();
    throw new ConsentError(
      "sandbox_failed",
      "Cannot speak with the server: its sandbox has no pipes",
    );
  }
  return { stdin, stdout, stderr, exited, stop: () => started.kill("SIGTERM"), kill };
}
