/**
 * Open servers: the MCP servers of a gate as its proxy takes them, each in a sandbox of its own or,
 * where that was said, outside of any. How each is held is said at the start and stands in the log.
 */
import { statSync } from "node:fs";
import { escapeText, isConsentError } from "@acp/core";
import type { SandboxReport } from "@acp/core";
import { homePaths } from "@acp/home";
import type { CommandServer, UpstreamServer, UrlServer } from "@acp/home";
import type { LocalUpstream, RemoteUpstream, UpstreamConfig } from "@acp/proxy-mcp";
import { systemPaths } from "@acp/sandbox-linux";
import { someoneAttached } from "../run/someone-attached.js";
import { serverAgentId } from "./agent-id.js";
import { askAboutChange } from "./ask-change.js";
import { changedByAgent } from "./changed-by-agent.js";
import { containedServer } from "./contained-server.js";
import type { ContainedParts } from "./contained-server.js";
import { pinnedServer, readServerCommand } from "./pinned-server.js";
import type { PinParts } from "./pinned-server.js";
import { createRightsDesk } from "./oauth/ask-for-rights.js";
import { hasOwnCredentials, serverAuthorization } from "./oauth/server-authorization.js";
import { openServerNetwork } from "./server-network.js";
import type { ServerNetworkParts } from "./server-network.js";
import { chooseServerSandbox } from "./server-sandbox.js";
import type { ServerSandbox } from "./server-sandbox.js";

/** What servers are opened with. */
export interface OpenServersParts
  extends Omit<ContainedParts, "sandbox" | "network" | "signal" | "io" | "running">,
    Omit<ServerNetworkParts, "hosts" | "isolation"> {
  /** With their variables opened. */
  readonly servers: readonly UpstreamServer[];
  /** Whether a server gets a sandbox that does not say `auto` or `none`. */
  readonly isContained: boolean;
  /** What holds the agent; left out where ACP did not start it. */
  readonly agents?: SandboxReport;
  /** Ends what is done before servers start. */
  readonly signal: AbortSignal;
  /** A server as it is started outside. */
  readonly outside: (server: CommandServer) => Promise<LocalUpstream>;
}

/** Servers that are open. */
export interface OpenServers extends AsyncDisposable {
  readonly upstreams: readonly UpstreamConfig[];
  /** Ends starts that are under way, and lets nothing start any more. */
  endStarts(): void;
  /** Ends what still runs in a sandbox; resolves when it is gone. */
  endAll(): Promise<void>;
}

/**
 * Opens them.
 *
 * @throws ConsentError `config_invalid` for a server that no sandbox could hold, or that works
 *   where it sees nothing.
 */
export async function openServers(parts: OpenServersParts): Promise<OpenServers> {
  const { servers, isContained } = parts;
  const held = servers.filter(
    (server) =>
      "command" in server && (server.sandbox ?? (isContained ? "auto" : "none")) === "auto",
  );
  const starts = new AbortController();
  const contained = held.length === 0 ? undefined : await openContained(held, parts, starts.signal);
  try {
    const upstreams: UpstreamConfig[] = [];
    for (const server of servers) {
      if (!("command" in server)) upstreams.push(withAuthorization(server, parts));
      else if (contained === undefined || !held.includes(server))
        upstreams.push(await openOutside(server, parts));
      else {
        upstreams.push(await openPinned(server, contained, parts));
        await say(server, heldText(server, contained), {
          inUse: parts.inUse,
          isolation: markOf(contained.sandbox),
        });
      }
    }
    return {
      upstreams,
      endStarts: () => starts.abort(new Error("the session is over")),
      async endAll() {
        await Promise.all([...(contained?.running ?? [])].map((server) => server.close()));
      },
      [Symbol.asyncDispose]: async () => contained?.network[Symbol.asyncDispose](),
    };
  } catch (error) {
    await contained?.network[Symbol.asyncDispose]();
    throw error;
  }
}

/** A server at an address gets the token of who signed in, unless it has credentials of its own. */
function withAuthorization(server: UrlServer, parts: OpenServersParts): RemoteUpstream {
  const { oauth: _, ...known } = server;
  if (hasOwnCredentials(server)) return known;
  const { homeDir, homeKeys, inUse, signal } = parts;
  const { log, notices } = inUse;
  const home = homePaths(homeDir);
  return {
    ...known,
    authorization: serverAuthorization({
      server,
      home,
      homeKeys,
      log,
      notices,
      signal,
      desk: createRightsDesk({ server: server.name, signal }),
    }),
  };
}

async function openContained(
  held: readonly UpstreamServer[],
  parts: OpenServersParts,
  signal: AbortSignal,
): Promise<ContainedParts> {
  const sandbox = await chooseServerSandbox(parts.agents);
  const hosts = new Map(
    held.map((server) => [server.name, "command" in server ? (server.network ?? []) : []]),
  );
  const network = await openServerNetwork({ ...parts, hosts, isolation: markOf(sandbox) });
  return { ...parts, io: parts.invocation.io, sandbox, network, signal, running: new Set() };
}

/**
 * A server of npx starts from what it is pinned to. Where that cannot be had it does not start, and
 * others do.
 */
async function openPinned(
  server: CommandServer,
  contained: ContainedParts,
  parts: OpenServersParts,
): Promise<LocalUpstream> {
  readServerCommand(server.name, server.command);
  // What no sandbox could hold is a fault of the configuration, and is told as one.
  const unpinned = containedServer(server, contained);
  try {
    const pinned = await pinnedServer(server.name, server.command, pinParts(parts));
    if (pinned === undefined) return unpinned;
    return containedServer(
      { ...server, command: pinned.argv },
      { ...contained, packages: pinned.packages },
    );
  } catch (error) {
    if (!isConsentError(error) || parts.signal.aborted) throw error;
    await parts.inUse.notices.say(
      "server_packages",
      `${error.message} [${error.code}]; it does not start`,
      {
        agent: serverAgentId(server.name),
        isolation: "none",
      },
    );
    return { name: server.name, start: () => Promise.reject(error) };
  }
}

function pinParts({
  invocation: { io },
  homeDir,
  workspace,
  inUse,
  agentId,
  signal,
}: OpenServersParts): PinParts {
  return {
    homeDir,
    userHome: io.userHome,
    env: io.env,
    workspaces: workspace === undefined ? [] : [workspace.path],
    signal,
    say: (text) => inUse.notices.say("server_packages", text),
    async ask(change) {
      await someoneAttached(() => inUse.attached(), signal);
      return askAboutChange(change, { gate: inUse.gate, agent: { id: agentId }, signal });
    },
  };
}

/** Where servers are contained otherwise, or a person has chosen, it is said of each. */
async function openOutside(
  server: CommandServer,
  { isContained, inUse, outside }: OpenServersParts,
): Promise<LocalUpstream> {
  const text = `No isolation: MCP server "${server.name}" is started outside any sandbox, with your rights`;
  if (isContained || server.sandbox !== undefined)
    await say(server, text, { inUse, isolation: "none" });
  return outside(server);
}

function say(
  { name }: CommandServer,
  text: string,
  { inUse, isolation }: Pick<ServerNetworkParts, "inUse" | "isolation">,
): Promise<void> {
  return inUse.notices.say("server_isolation", text, { agent: serverAgentId(name), isolation });
}

function markOf(sandbox: ServerSandbox): string {
  return "problem" in sandbox ? "none" : sandbox.mark;
}

function heldText(server: CommandServer, { sandbox, workspace }: ContainedParts): string {
  const { name, network = [] } = server;
  if ("problem" in sandbox)
    return `MCP server "${name}" cannot start: no sandbox is available for it here; "sandbox: none" starts it outside`;
  const unseen = unseenOf(server, workspace?.path);
  const hint =
    unseen.length === 0
      ? ""
      : `; it does not see ${unseen.join(", ")}, which its command names: add that to its "read" or "write"`;
  const changeable = changedByAgent(server, workspace).map((path) => escapeText(path));
  const warning =
    changeable.length === 0
      ? ""
      : `; the agent can change ${changeable.join(", ")}: if the server runs that, the agent can use its variables and network`;
  const reach = network.length === 0 ? "no network" : `of the network ${network.join(", ")}`;
  return `MCP server "${name}" runs in sandbox "${sandbox.kind}", level ${sandbox.level}, with ${reach}${hint}${warning}`;
}

/** Paths of its command that are there and not shown: a server says little about what it misses. */
function unseenOf(
  { command, read = [], write = [], workspace }: CommandServer,
  work: string | undefined,
): readonly string[] {
  const shown = [
    ...systemPaths(),
    ...read,
    ...write,
    ...(workspace === undefined || work === undefined ? [] : [work]),
  ];
  const isSeen = (path: string): boolean =>
    shown.some((each) => path === each || path.startsWith(`${each}/`));
  const paths = command.filter(
    (word) =>
      word.startsWith("/") &&
      !isSeen(word) &&
      statSync(word, { throwIfNoEntry: false }) !== undefined,
  );
  return paths.map((path) => escapeText(path));
}
