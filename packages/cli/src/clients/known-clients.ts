/**
 * Known clients: where MCP clients keep the servers that they start, on each platform. Pure. Sources:
 * the clients' own documentation, as docs/how-to/proxy-clients.md names it.
 */
import { posix, win32 } from "node:path";
import type { SettingsFormat } from "./settings-text.js";

/** The clients that are known. */
export const CLIENT_IDS = [
  "claude-desktop",
  "claude-code",
  "cursor",
  "vscode",
  "gemini",
  "codex",
  "windsurf",
  "zed",
] as const;

/** The name of a client: its agent's ID in policy, questions and log, too. */
export type ClientId = (typeof CLIENT_IDS)[number];

/** What decides where files are. */
export interface Place {
  readonly platform: NodeJS.Platform;
  /** The user's home directory. */
  readonly userHome: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Where in the settings servers are, each below its name. `*` stands for every key. */
export type ServersAt = readonly string[];

/** A file of a client. Plain JSON data. */
export interface ClientPlace {
  readonly client: ClientId;
  readonly path: string;
  /** A project's file is shared with whoever else works there. */
  readonly isProjects: boolean;
  readonly format: SettingsFormat;
  readonly servers: readonly ServersAt[];
}

interface KnownClient {
  /** The file of the user, from the folder where programs of this platform keep such. */
  user(at: Folders): readonly string[];
  /** The file of a project, from its root; left out: there is none. */
  readonly project?: readonly string[];
  readonly format?: "toml";
  readonly servers: readonly ServersAt[];
  /** In the project's file, where it is another. */
  readonly serversOfProject?: readonly ServersAt[];
}

interface Folders {
  readonly home: string;
  /** Of programs with windows: `~/Library/Application Support`, `%APPDATA%`, `~/.config`. */
  readonly config: string;
  /** Of programs that use `~/.config` on macOS, too. */
  readonly xdg: string;
  readonly env: Place["env"];
}

const MCP_SERVERS: readonly ServersAt[] = [["mcpServers"]];

const CLIENTS: Readonly<Record<ClientId, KnownClient>> = {
  "claude-desktop": {
    user: ({ config }) => [config, "Claude", "claude_desktop_config.json"],
    servers: MCP_SERVERS,
  },
  "claude-code": {
    user: ({ home, env }) => [given(env["CLAUDE_CONFIG_DIR"]) ?? home, ".claude.json"],
    project: [".mcp.json"],
    // Its own file also has the servers that a person added in one project.
    servers: [["mcpServers"], ["projects", "*", "mcpServers"]],
    serversOfProject: MCP_SERVERS,
  },
  cursor: {
    user: ({ home }) => [home, ".cursor", "mcp.json"],
    project: [".cursor", "mcp.json"],
    servers: MCP_SERVERS,
  },
  vscode: {
    user: ({ config }) => [config, "Code", "User", "mcp.json"],
    project: [".vscode", "mcp.json"],
    servers: [["servers"]],
  },
  gemini: {
    user: ({ home }) => [home, ".gemini", "settings.json"],
    project: [".gemini", "settings.json"],
    servers: MCP_SERVERS,
  },
  codex: {
    user: ({ home, env }) => [given(env["CODEX_HOME"]) ?? `${home}/.codex`, "config.toml"],
    project: [".codex", "config.toml"],
    format: "toml",
    servers: [["mcp_servers"]],
  },
  windsurf: {
    user: ({ home }) => [home, ".codeium", "windsurf", "mcp_config.json"],
    servers: MCP_SERVERS,
  },
  zed: {
    user: ({ xdg }) => [xdg, "settings.json"],
    project: [".zed", "settings.json"],
    servers: [["context_servers"]],
  },
};

const given = (text: string | undefined): string | undefined => (text === "" ? undefined : text);

function foldersOf({ platform, userHome: home, env }: Place): Folders {
  const { join } = platform === "win32" ? win32 : posix;
  const roaming = given(env["APPDATA"]) ?? join(home, "AppData", "Roaming");
  const xdgHome = given(env["XDG_CONFIG_HOME"]) ?? join(home, ".config");
  switch (platform) {
    case "win32":
      return { home, config: roaming, xdg: join(roaming, "Zed"), env };
    case "darwin":
      return {
        home,
        config: join(home, "Library", "Application Support"),
        xdg: join(home, ".config", "zed"),
        env,
      };
    default:
      return { home, config: xdgHome, xdg: join(xdgHome, "zed"), env };
  }
}

/** The files of the user's clients, whether they are there or not. */
export function placesOfUser(place: Place): readonly ClientPlace[] {
  const { join } = place.platform === "win32" ? win32 : posix;
  const folders = foldersOf(place);
  return CLIENT_IDS.map((client) => {
    const { user, format = "json", servers } = CLIENTS[client];
    return { client, path: join(...user(folders)), isProjects: false, format, servers };
  });
}

/** Those of a project. */
export function placesOfProject(root: string, platform: NodeJS.Platform): readonly ClientPlace[] {
  const { join } = platform === "win32" ? win32 : posix;
  return CLIENT_IDS.flatMap((client) => {
    const { project, format = "json", servers, serversOfProject = servers } = CLIENTS[client];
    return project === undefined
      ? []
      : [
          {
            client,
            path: join(root, ...project),
            isProjects: true,
            format,
            servers: serversOfProject,
          },
        ];
  });
}
