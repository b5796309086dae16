/**
 * Outside servers: the MCP servers of `acp run` are started outside of the agent's sandbox. What they find by their working directory, their PATH or
 * their environment must be nothing that the agent could have written.
 */
import { realpathSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { ConsentError } from "@acp/core";
import { trustedDirectories, trustedPath } from "@acp/host";
import { makePrivateDirectory } from "@acp/home";
import type { CommandUpstream, UpstreamConfig } from "@acp/proxy-mcp";
import type { Io } from "../command.js";

/** What servers are started with. */
export interface OutsideParts {
  /** The home: each server has a directory of its own below it. */
  readonly homeDir: string;
  /** Where the agent writes. */
  readonly workspaces: readonly string[];
  readonly io: Pick<Io, "env" | "cwd">;
}

/** Passed on besides `LC_…`: who and where a user is. The rest may come from `npm run` or a file of the project; the configuration names it. */
const PASSED = [
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "LANG",
  "LANGUAGE",
  "TZ",
  "TMPDIR",
  "XDG_CACHE_HOME",
  "XDG_CONFIG_HOME",
  "XDG_DATA_HOME",
];
const SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin";

/**
 * Servers as they are started outside.
 *
 * @throws ConsentError `config_invalid` for a working directory where the agent writes; `home_invalid`.
 */
export async function outsideServers(upstreams: readonly UpstreamConfig[], parts: OutsideParts): Promise<readonly UpstreamConfig[]> {
  const workspaces = parts.workspaces.map((path) => realpathSync(path));
  const made: UpstreamConfig[] = [];
  for (const server of upstreams) made.push("command" in server ? await outside(server, { ...parts, workspaces }) : server);
  return made;
}

async function outside(server: CommandUpstream, { homeDir, workspaces, io }: OutsideParts): Promise<CommandUpstream> {
  const { name, command, cwd = await ownDirectory(homeDir, name) } = server;
  const why = trustedPath(cwd, { workspaces });
  if (typeof why !== "string") {
    throw new ConsentError(
      "config_invalid",
      `Cannot start server "${name}": its working directory is not safe: ${why.reason}; leave out "cwd"`,
    );
  }
  const [program = "", ...args] = command;
  // As the person wrote it, in the directory where ACP was started.
  const named = program.includes("/") ? resolve(io.cwd, program) : program;
  return { name, command: [named, ...args], cwd, env: environment(server.env, { workspaces, io }), workspaces };
}

async function ownDirectory(homeDir: string, name: string): Promise<string> {
  const all = join(homeDir, "servers");
  await makePrivateDirectory(all);
  const own = join(all, name);
  await mkdir(own, { mode: 0o700, recursive: true });
  return own;
}

function environment(
  own: CommandUpstream["env"] = {},
  { workspaces, io: { env } }: Pick<OutsideParts, "workspaces" | "io">,
): Readonly<Record<string, string>> {
  const passed = Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && (PASSED.includes(name) || name.startsWith("LC_")) ? [[name, value] as const] : [],
  );
  const path = trustedDirectories(own["PATH"] ?? env["PATH"] ?? SYSTEM_PATH, { workspaces });
  return { ...Object.fromEntries(passed), ...own, PATH: path.length === 0 ? SYSTEM_PATH : path.join(":") };
}
