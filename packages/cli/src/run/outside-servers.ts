/**
 * Outside servers: MCP servers of `acp run` whose configuration says `sandbox: none` are started
 * outside of any sandbox. What they find by their working directory, their PATH or their
 * environment must be nothing that the agent could have written.
 */
import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { ConsentError } from "@acp/core";
import { trustedDirectories, trustedPath } from "@acp/host";
import type { CommandUpstream } from "@acp/proxy-mcp";
import type { Io } from "../command.js";
import { serverDirectory } from "../servers/server-directory.js";

/** What servers are started with. */
export interface OutsideParts {
  /** The home: each server has a directory of its own below it. */
  readonly homeDir: string;
  /** Where the agent writes. */
  readonly workspaces: readonly string[];
  readonly io: Pick<Io, "env" | "cwd">;
}

/**
 * Passed on besides `LC_…`: who and where a user is. The rest may come from `npm run` or a file of
 * the project; the configuration names it.
 */
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
 * A server as it is started outside.
 *
 * @throws ConsentError `config_invalid` for a working directory where the agent writes;
 *   `home_invalid`.
 */
export async function outsideServer(
  server: CommandUpstream,
  { homeDir, io, ...parts }: OutsideParts,
): Promise<CommandUpstream> {
  const workspaces = parts.workspaces.map((path) => realpathSync(path));
  const { name, command, limits, cwd = await serverDirectory(homeDir, name) } = server;
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
  return {
    name,
    command: [named, ...args],
    cwd,
    env: environment(server.env, { workspaces, io }),
    workspaces,
    ...(limits !== undefined && { limits }),
  };
}

function environment(
  own: CommandUpstream["env"] = {},
  { workspaces, io: { env } }: Pick<OutsideParts, "workspaces" | "io">,
): Readonly<Record<string, string>> {
  const passed = Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && (PASSED.includes(name) || name.startsWith("LC_"))
      ? [[name, value] as const]
      : [],
  );
  const path = trustedDirectories(own["PATH"] ?? env["PATH"] ?? SYSTEM_PATH, { workspaces });
  return {
    ...Object.fromEntries(passed),
    ...own,
    PATH: path.length === 0 ? SYSTEM_PATH : path.join(":"),
  };
}
