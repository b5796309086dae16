/**
 * Open a run's gate: servers, the proxy that the command's connections come to, MCP, and what is
 * asked before the command begins. In the process that holds the command, or in the resident.
 */
import type { Agent, HttpAction, SandboxReport } from "@acp/core";
import { createMcpProxy, createMcpSessions } from "@acp/proxy-mcp";
import type { McpSessions, McpSessionsOptions } from "@acp/proxy-mcp";
import type { Home, UpstreamServer } from "@acp/home";
import type { AgentView } from "@acp/sandbox-linux";
import type { Invocation } from "../command.js";
import type { GatesOfHome } from "../commands/mcp.js";
import type { HomeConfig } from "../gate/config.js";
import type { HomeKeys } from "../gate/home-keys.js";
import type { GateInUse } from "../gate/with-gate.js";
import { makeHttpProxy } from "../http/open-http-proxy.js";
import { answerAddressOf } from "../inbox/answer-address.js";
import { openServers } from "../servers/open-servers.js";
import type { OpenServers, OpenServersParts } from "../servers/open-servers.js";
import { createAskedGate } from "./ask-ahead.js";
import { createHomePins, hiddenIn, trustedIn } from "../pins/home-pins.js";
import type { AskedGate } from "./ask-ahead.js";
import { outsideServer } from "./outside-servers.js";
import type { RunPlan } from "./plan.js";
import type { McpPipes, RunGate } from "./run-gate.js";

/** What the gate's side is made of. */
export interface OpenRunGateParts {
  readonly invocation: Invocation;
  readonly plan: Pick<RunPlan, "argv" | "workspace" | "user" | "hostPorts">;
  readonly home: Home;
  readonly source: HomeConfig;
  readonly homeKeys: HomeKeys;
  /** With their variables opened. None: there is no MCP inside. */
  readonly servers: readonly UpstreamServer[];
  /** What stays invisible inside. */
  readonly hidden: readonly string[];
  /** What runs outside, which nothing in a sandbox may change. */
  readonly programs: readonly string[];
  readonly agent: Agent;
  /** What its model is reached by. */
  readonly tunnels: readonly HttpAction[];
  readonly inUse: GateInUse;
  /** What holds the agent. */
  readonly report: SandboxReport;
  /** Where it works in an overlay: what it sees. */
  readonly view?: AgentView | undefined;
  /** Ends what is done before the command begins. */
  readonly signal: AbortSignal;
  /** The agent draws on the same terminal: what the log has anyway must not be written over it. */
  readonly isQuiet: boolean;
  /** What stands before gates and servers, where this process serves several clients. */
  readonly shared?: Pick<GatesOfHome, "around" | "outside" | "roomOf">;
}

/** The gate's side of a run. */
export interface OpenedRunGate extends RunGate, AsyncDisposable {
  /** Takes nothing more, and ends connections with the request that they carry. */
  drain(drainMs: number): void;
}

/** The service that `acp-mcp-bridge` asks for. */
const MCP_SERVICE = "mcp.acp.internal:1";

/**
 * Opens it.
 *
 * @throws ConsentError what servers throw that cannot be held, and what the proxy throws.
 */
export async function openRunGate(parts: OpenRunGateParts): Promise<OpenedRunGate> {
  const { agent, inUse, shared } = parts;
  const opened = await openRunServers(parts);
  try {
    const mcp = mcpOf(parts, opened.upstreams);
    const sessions = opened.upstreams.length === 0 ? undefined : createMcpSessions(mcp);
    const gate = createAskedGate(shared?.around?.(inUse.gate) ?? inUse.gate);
    const proxy = await makeAgentProxy(parts, { gate, sessions });
    const endServers = async (): Promise<void> => {
      opened.endStarts();
      await sessions?.close();
      await opened.endAll();
    };
    return {
      ready: () => askAhead(parts, gate),
      attach: (socket) => proxy.attach(socket, { agent }),
      speakMcp: (pipes) => speakMcp(pipes, agent, mcp),
      say: (code, text) => inUse.notices.say(code, text),
      tell: (code, text) => inUse.notices.tell(code, text),
      endServers,
      log: inUse.log,
      drain: (drainMs) => void proxy.close({ drainMs }),
      async [Symbol.asyncDispose]() {
        await Promise.all([proxy.close(), endServers()]);
        await opened[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await opened[Symbol.asyncDispose]();
    throw error;
  }
}

function mcpOf(
  { invocation, home, homeKeys, servers, inUse, isQuiet, agent, shared }: OpenRunGateParts,
  upstreams: OpenServers["upstreams"],
): McpSessionsOptions {
  return {
    gate: inUse.gate,
    upstreams,
    trustedAnnotations: trustedIn(servers),
    hideDenied: hiddenIn(servers, inUse),
    pins: createHomePins({ home, guard: inUse.rollback, servers, notices: inUse.notices }),
    answerAddress: answerAddressOf(home.dir),
    log: isQuiet ? nothing : (line) => invocation.print.notice(line),
    ...(homeKeys.masker !== undefined && { masker: homeKeys.masker }),
    ...(shared?.roomOf !== undefined && { room: shared.roomOf(agent.id) }),
  };
}

/** The proxy that the agent's connections come to, MCP among them where there are servers. */
function makeAgentProxy(
  { invocation, source, homeKeys, inUse, isQuiet, shared }: OpenRunGateParts,
  { gate, sessions }: AgentProxyParts,
): ReturnType<typeof makeHttpProxy> {
  return makeHttpProxy({
    invocation,
    source,
    homeKeys,
    inUse,
    gate,
    ...(shared?.around !== undefined && { around: shared.around }),
    // Nobody asks without being attached.
    agent: undefined,
    ...(isQuiet && { log: nothing }),
    ...(sessions !== undefined && {
      internal: {
        [MCP_SERVICE]: (...each: Parameters<McpSessions["serve"]>) => sessions.serve(...each),
      },
    }),
  });
}

interface AgentProxyParts {
  readonly gate: AskedGate;
  readonly sessions: McpSessions | undefined;
}

/** What a person hears and answers before the command begins. */
async function askAhead(parts: OpenRunGateParts, gate: AskedGate): Promise<void> {
  const { agent, tunnels, plan, inUse, invocation, signal } = parts;
  if (plan.hostPorts.length > 0)
    await inUse.notices.say(
      "host_ports",
      `Ports of this machine are open to the command, past the gate: ${plan.hostPorts.join(", ")}`,
    );
  await gate.ask({
    agent,
    tunnels,
    signal,
    attached: () => inUse.attached(),
    say: (line) => invocation.print.notice(line),
  });
}

/**
 * Opens the servers of the configuration, each in a sandbox like the agent's unless it says `none`.
 */
function openRunServers(parts: OpenRunGateParts): Promise<OpenServers> {
  const { invocation, home, plan, report, view, agent, isQuiet, shared, ...rest } = parts;
  const { workspace, user } = plan;
  const outside = {
    homeDir: home.dir,
    workspaces: workspace === undefined ? [] : [workspace.path],
    io: invocation.io,
  };
  const start: OpenServersParts["outside"] = async (server) => {
    // What one run sees is no other client's: its servers are its own, whatever they say.
    const trusted = { ...(await outsideServer(server, outside)), shared: false };
    return shared === undefined ? trusted : shared.outside(trusted);
  };
  return openServers({
    ...rest,
    invocation,
    agents: report,
    agentId: agent.id,
    homeDir: home.dir,
    ...(isQuiet && { log: nothing }),
    ...(workspace !== undefined && { workspace }),
    ...(view !== undefined && { view }),
    // A user of rules alone is watched for whatever else runs as it.
    ...(user !== undefined && report.sandbox !== "uid" && { user }),
    isContained: true,
    outside: start,
  });
}

/** Serves the agent until it or a server is gone: then there is nothing more for it. */
async function speakMcp(
  pipes: McpPipes,
  agent: Agent,
  mcp: McpSessionsOptions,
): Promise<string | undefined> {
  const { reason, detail } = await createMcpProxy({ ...mcp, agent, ...pipes }).done;
  return reason === "upstream_failed" ? detail : undefined;
}

function nothing(): void {}
