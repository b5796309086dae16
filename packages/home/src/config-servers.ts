/** Config, servers: the MCP servers to stand in front of. */
import { type Spot, invalid, readList, readMap, readOneOf, readText } from "@acp/core/yaml";
import { readHosts } from "./config-hosts.js";
import { ifGiven, readOpaque, readPath, readUrl, required } from "./config-values.js";
import type { PathOrigins } from "./paths.js";
import { splitWords } from "./words.js";

/** What a server may see and reach in its sandbox. Format: spec/home.md §3. */
export interface ServerReach {
  /**
   * `none` starts the server outside of any sandbox. Absent: in a sandbox if `acp run` starts it.
   */
  readonly sandbox?: "auto" | "none";
  /** Whether the server may read or change the agent's workspace. Absent: neither. */
  readonly workspace?: "read" | "write";
  /** More directories that the server may read. */
  readonly read?: readonly string[];
  /** More directories that the server may change. */
  readonly write?: readonly string[];
  /** Hosts that the server may reach, as `host` (ports 443 and 80) or `host:port`. Absent: none. */
  readonly network?: readonly string[];
}

/** An MCP server that is started as a process. Format: spec/home.md §3. */
export interface CommandServer extends ServerReach {
  /** What policies, questions and logs call the server; 1 to 64 of `a-z 0-9 - _`. */
  readonly name: string;
  /** Program and arguments; no shell reads them. */
  readonly command: readonly string[];
  /** Variables added to the server's environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Working directory. In a sandbox, it must be one that the server sees. */
  readonly cwd?: string;
}

/** An MCP server that is running already. Not supported yet. */
export interface UrlServer {
  /** What policies, questions and logs call the server. */
  readonly name: string;
  /** Where the server listens. */
  readonly url: string;
}

/** An MCP server of the configuration. */
export type UpstreamServer = CommandServer | UrlServer;

/** What goes with a command only; the last five are {@link ServerReach}. */
const OF_COMMANDS = [
  "command",
  "args",
  "env",
  "cwd",
  "sandbox",
  "workspace",
  "read",
  "write",
  "network",
];
const PATHS_MAX = 64;
const NAME = /^[a-z0-9_-]{1,64}$/;
const COMMAND_CHARS_MAX = 8_192;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** The list `upstream_servers`. */
export function readServers(spot: Spot, origins: PathOrigins): readonly UpstreamServer[] {
  const names = new Set<string>();
  return readList(spot).map((each) => {
    const entries = readMap(each, ["name", "url", ...OF_COMMANDS]);
    const name = readName(required(each, entries, "name"), names);
    const url = entries.get("url");
    const command = entries.get("command");
    if (command !== undefined && url === undefined)
      return { name, ...readCommand(command, entries, origins) };
    if (command !== undefined || url === undefined)
      throw invalid(each, 'it needs either "command" or "url"');
    const misplaced = OF_COMMANDS.find((key) => entries.has(key));
    if (misplaced !== undefined)
      throw invalid(entries.get(misplaced) ?? each, `"${misplaced}" goes with "command" only`, {
        part: "key",
      });
    return { name, url: readUrl(url) };
  });
}

/** Names stand before `__` in the names of tools, and in policies. */
function readName(spot: Spot, names: Set<string>): string {
  const name = readText(spot, 64);
  if (!NAME.test(name) || name.includes("__"))
    throw invalid(spot, "a server's name has small letters, digits, dashes and single underscores");
  if (names.has(name)) throw invalid(spot, `another server is called "${name}"`);
  names.add(name);
  return name;
}

function readCommand(
  spot: Spot,
  entries: ReadonlyMap<string, Spot>,
  origins: PathOrigins,
): Omit<CommandServer, "name"> {
  const split = splitWords(readText(spot, COMMAND_CHARS_MAX));
  if ("problem" in split) throw invalid(spot, `the command ${split.problem}`);
  const args = ifGiven(entries.get("args"), readList) ?? [];
  const env = ifGiven(entries.get("env"), readEnvironment);
  const cwd = ifGiven(entries.get("cwd"), (each) => readPath(each, origins));
  return {
    command: [...split.words, ...args.map(readOpaque)],
    ...(env === undefined ? {} : { env }),
    ...(cwd === undefined ? {} : { cwd }),
    ...readReach(entries, origins),
  };
}

function readReach(entries: ReadonlyMap<string, Spot>, origins: PathOrigins): ServerReach {
  const paths = (each: Spot): readonly string[] => readPaths(each, origins);
  const sandbox = ifGiven(entries.get("sandbox"), (each) => readOneOf(each, ["auto", "none"]));
  const workspace = ifGiven(entries.get("workspace"), (each) => readOneOf(each, ["read", "write"]));
  const read = ifGiven(entries.get("read"), paths);
  const write = ifGiven(entries.get("write"), paths);
  const network = ifGiven(entries.get("network"), readHosts);
  const idle =
    sandbox === "none"
      ? ["workspace", "read", "write", "network"].find((key) => entries.has(key))
      : undefined;
  const spot = idle === undefined ? undefined : entries.get(idle);
  if (spot !== undefined)
    throw invalid(
      spot,
      `"${idle}" limits a sandbox, and "sandbox: none" has none; leave one of them out`,
      { part: "key" },
    );
  return {
    ...(sandbox === undefined ? {} : { sandbox }),
    ...(workspace === undefined ? {} : { workspace }),
    ...(read === undefined ? {} : { read }),
    ...(write === undefined ? {} : { write }),
    ...(network === undefined ? {} : { network }),
  };
}

function readPaths(spot: Spot, origins: PathOrigins): readonly string[] {
  const paths = readList(spot);
  if (paths.length > PATHS_MAX) throw invalid(spot, `there are more than ${PATHS_MAX} directories`);
  return paths.map((each) => readPath(each, origins));
}

function readEnvironment(spot: Spot): Readonly<Record<string, string>> {
  const variables = [...readMap(spot)].map(([name, each]) => {
    if (!VARIABLE.test(name))
      throw invalid(each, "a variable's name has letters, digits and underscores", { part: "key" });
    return [name, readOpaque(each)] as const;
  });
  return Object.fromEntries(variables);
}
