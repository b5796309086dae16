/**
 * `acp mcp --alone`, and what a resident does for its clients: a gate between an MCP client, which
 * started this process as its server, and the real servers. Standard output is MCP's. Where
 * config.yml has a port for it, the HTTP proxy runs beside it, behind the same gate.
 */
import { isConsentError } from "@acp/core";
import type { Agent, ConsentGate } from "@acp/core";
import type { CommandServer, Home } from "@acp/home";
import { createMcpProxy, refuseMcp } from "@acp/proxy-mcp";
import type { LocalUpstream, McpProxyOptions, ProxyExit, RequestRoom } from "@acp/proxy-mcp";
import type { Invocation } from "../command.js";
import type { Exit } from "../exit-codes.js";
import { failureOf } from "../failure.js";
import { ownHomePath } from "../home/home-source.js";
import { answerAddressOf } from "../inbox/answer-address.js";
import { openHttpBeside } from "../http/open-http-proxy.js";
import { hostOffers } from "../http/settings.js";
import { lookAtAgent } from "../gate/agent-process.js";
import { chooseServers, openEnvironments, readHomeConfig } from "../gate/config.js";
import { openHomeKeys } from "../gate/home-keys.js";
import type { HomeKeys } from "../gate/home-keys.js";
import type { WithGateParts } from "../gate/shared-gate.js";
import { ownPackages } from "../run/own-packages.js";
import { ownPaths } from "../run/own-paths.js";
import { openServers } from "../servers/open-servers.js";
import type { OpenServers, OpenServersParts } from "../servers/open-servers.js";
import { liveSource, openLiveServers } from "../servers/live-servers.js";
import type { LiveServers, LiveServersParts, ServersDesk } from "../servers/live-servers.js";
import { checkAgentId } from "../servers/agent-id.js";
import { hiddenIn } from "../pins/home-pins.js";
import { makeHome } from "../home/make-home.js";
import { withGate } from "../gate/with-gate.js";
import type { GateInUse } from "../gate/with-gate.js";

/** Who acts, where nobody says so: a client does not give its name before it has started us. */
export const AGENT_ID = "mcp-client";

/** Where a client gets its gate: a process of its own opens one, the resident has them. */
export interface GatesOfHome {
  /** Opens the home's keys. */
  keys(home: Home, invocation: Invocation): Promise<HomeKeys>;
  /** Opens a gate for one client, and closes it. */
  withGate<T>(parts: WithGateParts, use: (inUse: GateInUse) => Promise<T>): Promise<T>;
  /** A server of this client as it is started outside of any sandbox. */
  outside(server: CommandServer): LocalUpstream;
  /** Whether clients share the servers that say so. */
  readonly shares?: boolean;
  /**
   * What the requests of one of the client's agents need a place of; a process of its own has no
   * other client.
   */
  readonly roomOf?: (agentId: string) => RequestRoom;
  /** What stands before each gate that judges the requests of programs. */
  readonly around?: (gate: ConsentGate) => ConsentGate;
  /** Ids of the client's tool calls, where it gives them some. */
  readonly callOf?: McpProxyOptions["callOf"];
  /** Where its servers are known, if anybody asks. */
  readonly desk?: ServersDesk;
  /** Tells the client why it has no gate, until the client goes; {@link tellClient} unless given. */
  readonly tellClient?: typeof tellClient;
}

/** A process of its own. */
export const ALONE: GatesOfHome = { keys: openHomeKeys, withGate, outside: (server) => server };

/** Serves the client of an invocation, or tells it why not. */
export async function serveMcp(invocation: Invocation, gates: GatesOfHome): Promise<Exit> {
  const signal = invocation.io.onStop();
  const start = { isServing: false };
  try {
    return await serve(invocation, { signal, start, gates });
  } catch (error) {
    if (!start.isServing) await (gates.tellClient ?? tellClient)(error, invocation, signal);
    throw error;
  }
}

/**
 * A client shows its user nothing of a server that just ends: it is told what is missing, for as
 * long as it stays. A person at a terminal reads the error.
 */
export async function tellClient(
  error: unknown,
  { io, print }: Invocation,
  signal: AbortSignal,
): Promise<void> {
  if (!isConsentError(error) || io.stdin.isTTY || signal.aborted) return;
  const { code, message } = failureOf(error);
  // Now, for whoever reads along: this may last as long as the client does.
  io.stdin.once("data", () =>
    print.notice(`${message} [${code}]; the client gets this message, and nothing is forwarded`),
  );
  const text = `The ACP gate did not start, so no tool can be used: ${message} [${code}]. After a person has fixed that, restart this server.`;
  await refuseMcp({ input: io.stdin, output: io.stdout, code, message: text, signal });
  io.stdin.destroy();
}

interface Serving {
  readonly signal: AbortSignal;
  /** Set once the proxy speaks to the client. */
  readonly start: { isServing: boolean };
  readonly gates: GatesOfHome;
}

async function serve(invocation: Invocation, { signal, start, gates }: Serving): Promise<Exit> {
  const { io, print } = invocation;
  const home = await makeHome(ownHomePath(invocation));
  const source = liveSource(await readHomeConfig(home, invocation));
  const servers = chooseServers(source, invocation);
  const host = await lookAtAgent(io.ppid);
  const agent = agentOf(invocation, host.command);
  const homeKeys = await gates.keys(home, invocation);
  const { shares = false } = gates;
  const environments = await openEnvironments(servers, {
    file: source.file,
    keys: homeKeys.keys,
    env: io.env,
    shares,
  });
  const hasHttp = source.config?.httpPort !== undefined;
  const shared = { invocation, signal, source, homeKeys };
  const common = { ...shared, home, host, agentId: agent.id };
  const forGate = hasHttp
    ? { ways: ["mcp", "http"] as const, defaultOffers: hostOffers(io.env, source) }
    : { ways: ["mcp"] as const };
  return gates.withGate({ ...common, ...forGate }, async (inUse) => {
    await using _http = await openHttpBeside({ ...shared, ...aroundOf(gates), inUse, agent });
    const live = { ...shared, inUse, home, servers: environments, agentId: agent.id };
    await using opened = await openClientServers(gates, live);
    const { upstreams, pins, trustedAnnotations } = opened;
    start.isServing = true;
    const proxy = createMcpProxy({
      gate: inUse.gate,
      agent,
      upstreams,
      trustedAnnotations,
      pins,
      hideDenied: hiddenIn(servers, inUse),
      answerAddress: answerAddressOf(home.dir),
      input: io.stdin,
      output: io.stdout,
      log: (line) => print.notice(line),
      signal,
      ...(homeKeys.masker !== undefined && { masker: homeKeys.masker }),
      ...(gates.roomOf !== undefined && { room: gates.roomOf(agent.id) }),
      ...(gates.callOf !== undefined && { callOf: gates.callOf }),
    });
    opened.follow(proxy);
    const { reason } = await proxy.done;
    opened.endStarts();
    // A client that keeps our input open must not keep this process.
    io.stdin.destroy();
    return EXITS[reason];
  });
}

/** The servers of a client, which follow their configuration. */
export function openClientServers(
  gates: GatesOfHome,
  parts: Omit<LiveServersParts, "open" | "shares" | "desk"> &
    Omit<Parameters<typeof openMcpServers>[0], "outside">,
): Promise<LiveServers> {
  return openLiveServers({
    ...parts,
    shares: gates.shares === true,
    open: (servers) =>
      openMcpServers({
        ...parts,
        servers,
        outside: (server) => Promise.resolve(gates.outside(server)),
      }),
    desk: gates.desk,
  });
}

/**
 * A server whose configuration says `sandbox: auto` gets one; with a workspace, that is the
 * client's directory.
 */
export async function openMcpServers(
  parts: Pick<
    OpenServersParts,
    "invocation" | "source" | "homeKeys" | "inUse" | "servers" | "agentId" | "signal" | "outside"
  > & {
    readonly home: Home;
  },
): Promise<OpenServers> {
  const { invocation, source, home } = parts;
  return openServers({
    ...parts,
    homeDir: home.dir,
    workspace: { path: invocation.io.cwd, access: "read-write" },
    hidden: await ownPaths({ home, source, invocation }),
    programs: ownPackages(),
    isContained: false,
  });
}

const aroundOf = ({ around }: GatesOfHome): Pick<GatesOfHome, "around"> =>
  around === undefined ? {} : { around };

const EXITS: Readonly<Record<ProxyExit["reason"], Exit>> = {
  client_closed: "ok",
  closed: "ok",
  upstream_failed: "failed",
};

function agentOf({ values }: Invocation, command: string | undefined): Agent {
  if (values.agent !== undefined) checkAgentId(values.agent);
  return { id: values.agent ?? AGENT_ID, ...(command !== undefined && { command }) };
}
