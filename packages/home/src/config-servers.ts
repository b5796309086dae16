/** Config, servers: the MCP servers to stand in front of. */
import { type Spot, invalid, readList, readMap, readText } from "@acp/core/yaml";
import { ifGiven, readOpaque, readPath, readUrl, required } from "./config-values.js";
import type { PathOrigins } from "./paths.js";
import { splitWords } from "./words.js";

/** A server that is started. */
export interface CommandServer {
  readonly name: string;
  /** Program and arguments; never given to a shell. */
  readonly command: readonly string[];
  /** What its environment has besides that of acp. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** A server that runs already. */
export interface UrlServer {
  readonly name: string;
  readonly url: string;
}

/** An MCP server of the config. */
export type UpstreamServer = CommandServer | UrlServer;

const NAME = /^[a-z0-9_-]{1,64}$/;
const COMMAND_CHARS_MAX = 8_192;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** The list `upstream_servers`. */
export function readServers(spot: Spot, origins: PathOrigins): readonly UpstreamServer[] {
  const names = new Set<string>();
  return readList(spot).map((each) => {
    const entries = readMap(each, ["name", "command", "args", "env", "cwd", "url"]);
    const name = readName(required(each, entries, "name"), names);
    const url = entries.get("url");
    const command = entries.get("command");
    if (command !== undefined && url === undefined) return { name, ...readCommand(command, entries, origins) };
    if (command !== undefined || url === undefined) throw invalid(each, 'it needs either "command" or "url"');
    const misplaced = ["args", "env", "cwd"].find((key) => entries.has(key));
    if (misplaced !== undefined) throw invalid(entries.get(misplaced) ?? each, `"${misplaced}" goes with "command" only`, { part: "key" });
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

function readCommand(spot: Spot, entries: ReadonlyMap<string, Spot>, origins: PathOrigins): Omit<CommandServer, "name"> {
  const split = splitWords(readText(spot, COMMAND_CHARS_MAX));
  if ("problem" in split) throw invalid(spot, `the command ${split.problem}`);
  const args = ifGiven(entries.get("args"), readList) ?? [];
  const env = ifGiven(entries.get("env"), readEnvironment);
  const cwd = ifGiven(entries.get("cwd"), (each) => readPath(each, origins));
  return {
    command: [...split.words, ...args.map(readOpaque)],
    ...(env === undefined ? {} : { env }),
    ...(cwd === undefined ? {} : { cwd }),
  };
}

function readEnvironment(spot: Spot): Readonly<Record<string, string>> {
  const variables = [...readMap(spot)].map(([name, each]) => {
    if (!VARIABLE.test(name)) throw invalid(each, "a variable's name has letters, digits and underscores", { part: "key" });
    return [name, readOpaque(each)] as const;
  });
  return Object.fromEntries(variables);
}
