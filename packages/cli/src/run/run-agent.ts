/**
 * Run an agent: the proxies of a gate on one side, the agent in its sandbox on the other, until it
 * has ended.
 */
import type { Socket } from "node:net";
import { ConsentError, systemClock } from "@acp/core";
import type { Agent, HttpAction } from "@acp/core";
import { createMcpProxy, createMcpSessions } from "@acp/proxy-mcp";
import type { McpSessions, McpSessionsOptions } from "@acp/proxy-mcp";
import type { Home, UpstreamServer } from "@acp/home";
import type { ConnectionTakers, HeldAgent, LinuxSandboxedProcess } from "@acp/sandbox-linux";
import type { Invocation, Outcome } from "../command.js";
import { makeHttpProxy } from "../http/open-http-proxy.js";
import type { HomeConfig } from "../gate/config.js";
import type { HomeKeys } from "../gate/home-keys.js";
import type { GateInUse } from "../gate/with-gate.js";
import { createAskedGate } from "./ask-ahead.js";
import type { AskedGate } from "./ask-ahead.js";
import { codeOfExit } from "./exit-code.js";
import { openHostPorts } from "./host-ports.js";
import type { HostPorts } from "./host-ports.js";
import { outsideServer } from "./outside-servers.js";
import type { PassedSignals } from "./pass-signals.js";
import type { RunPlan } from "./plan.js";
import type { PortGuard } from "./port-guard.js";
import { watchFolders } from "./watch-folders.js";
import type { WatchedFolders } from "./watch-folders.js";
import { screenOf } from "../gate/guard.js";
import { openServers } from "../servers/open-servers.js";
import type { OpenServers } from "../servers/open-servers.js";
import { reviewAtEnd } from "../review/at-end.js";
import type { AtEndParts } from "../review/at-end.js";
import type { OpenedReview } from "../review/store.js";

/** What an agent is run with. */
export interface RunAgentParts {
  readonly invocation: Invocation;
  readonly plan: RunPlan;
  readonly signals: PassedSignals;
  /** Let go here; ended by the caller where it was not. */
  readonly held: HeldAgent;
  readonly home: Home;
  readonly source: HomeConfig;
  readonly homeKeys: HomeKeys;
  /** None: there is no MCP inside. */
  readonly servers: readonly UpstreamServer[];
  /** What stays invisible inside. */
  readonly hidden: readonly string[];
  /** What runs outside, which nothing in a sandbox may change. */
  readonly programs: readonly string[];
  readonly agent: Agent;
  /** What its model is reached by. */
  readonly tunnels: readonly HttpAction[];
  readonly inUse: GateInUse;
  /** Where its workspace is an overlay. */
  readonly review: OpenedReview | undefined;
  /** Of the ports in the plan. */
  readonly portGuard: PortGuard;
}

/** The service that `acp-mcp-bridge` asks for. */
const MCP_SERVICE = "mcp.acp.internal:1";

/**
 * Runs it to its end.
 *
 * @returns The agent's exit code.
 * @throws ConsentError `sandbox_failed`, `options_invalid`, `config_invalid`.
 */
export async function runAgent(parts: RunAgentParts): Promise<Outcome> {
  const { invocation, inUse } = parts;
  // The agent draws on the same terminal: what the audit log has anyway must not be written over
  // it.
  const isQuiet = invocation.io.stderr.isTTY;
  await using opened = await openRunServers(parts, isQuiet);
  const mcp = mcpOf(parts, opened.upstreams, isQuiet);
  const sessions = opened.upstreams.length === 0 ? undefined : createMcpSessions(mcp);
  const gate = createAskedGate(inUse.gate);
  const proxy = await makeAgentProxy(parts, { gate, sessions, isQuiet });
  const hostPorts = openPorts(parts);
  try {
    await askAhead(parts, gate);
    const watched = await watchRun(parts);
    const { agent } = parts;
    const started = await letGo(parts.held, watched, {
      onConnection: (socket: Socket): void => proxy.attach(socket, { agent }),
      ports: hostPorts.takers,
    });
    parts.signals.to(started);
    try {
      return { exitCode: await exitOf(started, parts, mcp) };
    } finally {
      await started.close();
      await endServers(opened, sessions);
      await watched.end();
      if (parts.review !== undefined) await reviewAtEnd(parts.review, endPartsOf(parts));
    }
  } finally {
    hostPorts.close();
    await Promise.all([proxy.close(), endServers(opened, sessions)]);
  }
}

function mcpOf(
  { invocation, homeKeys, inUse }: RunAgentParts,
  upstreams: OpenServers["upstreams"],
  isQuiet: boolean,
): McpSessionsOptions {
  return {
    gate: inUse.gate,
    screen: screenOf(inUse.guard, namesOf(upstreams)),
    upstreams,
    log: isQuiet ? nothing : (line) => invocation.print.notice(line),
    ...(homeKeys.masker !== undefined && { masker: homeKeys.masker }),
  };
}

/** The proxy that the agent's connections come to, MCP among them where there are servers. */
function makeAgentProxy(
  { invocation, source, homeKeys, inUse }: RunAgentParts,
  { gate, sessions, isQuiet }: AgentProxyParts,
): ReturnType<typeof makeHttpProxy> {
  return makeHttpProxy({
    invocation,
    source,
    homeKeys,
    inUse,
    gate,
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
  readonly isQuiet: boolean;
}

/** What a person hears and answers before the command begins. */
async function askAhead(parts: RunAgentParts, gate: AskedGate): Promise<void> {
  const { agent, tunnels, plan, inUse, invocation, signals } = parts;
  if (plan.hostPorts.length > 0)
    await inUse.notices.say(
      "host_ports",
      `Ports of this machine are open to the command, past the gate: ${plan.hostPorts.join(", ")}`,
    );
  await gate.ask({
    agent,
    tunnels,
    signal: signals.stopped,
    attached: () => inUse.attached(),
    say: (line) => invocation.print.notice(line),
  });
}

/** The command's exit code, once it has ended. */
async function exitOf(
  started: LinuxSandboxedProcess,
  parts: RunAgentParts,
  mcp: McpSessionsOptions,
): Promise<number> {
  const [exit] = await Promise.all([
    started.exited,
    parts.plan.speaksMcp ? speakMcp(started, parts, mcp) : undefined,
  ]);
  const failure = started.failure?.();
  if (failure !== undefined) throw failure;
  return codeOfExit(exit);
}

function openPorts({ plan, home, agent, portGuard, inUse }: RunAgentParts): HostPorts {
  return openHostPorts(plan.hostPorts, {
    home,
    agentId: agent.id,
    clock: systemClock,
    guard: portGuard,
    refused: (port, why) =>
      void inUse.notices
        .say("host_ports", `Connections of the command to port ${port} are refused: ${why}`)
        .catch(() => {}),
  });
}

/** The workspace and the folders of servers, until all of the run has ended. */
function watchRun(parts: RunAgentParts): Promise<WatchedFolders> {
  const { notices } = parts.inUse;
  return watchFolders({
    ...parts,
    workspace: parts.plan.workspace,
    say: (notice) => notices.say("left_behind", notice),
    tell: (text) => notices.tell("held_replaced", text),
  });
}

/** Lets the command begin. */
async function letGo(
  held: HeldAgent,
  watched: WatchedFolders,
  takers: ConnectionTakers,
): Promise<LinuxSandboxedProcess> {
  try {
    return await held.go(takers);
  } catch (error) {
    await watched.forget(); // it has never begun
    throw error;
  }
}

/** What a person took or dropped at the end stands in the run's own log. */
function endPartsOf({ invocation, home, inUse }: RunAgentParts): AtEndParts {
  return {
    invocation,
    home,
    io: invocation.io,
    log: inUse.log,
    say: (text) => inUse.notices.say("review", text),
  };
}

function nothing(): void {}

/**
 * Before anybody looks at the workspace: a server that may write there would do so afterwards, also
 * one that has said nothing more to its client.
 */
async function endServers(opened: OpenServers, sessions: McpSessions | undefined): Promise<void> {
  opened.endStarts();
  await sessions?.close();
  await opened.endAll();
}

function namesOf(upstreams: OpenServers["upstreams"]): readonly string[] {
  return upstreams.map(({ name }) => name);
}

/**
 * Opens the servers of the configuration, each in a sandbox like the agent's unless it says `none`.
 */
function openRunServers(
  { invocation, source, homeKeys, inUse, ...parts }: RunAgentParts,
  isQuiet: boolean,
): Promise<OpenServers> {
  const { home, plan, held, servers, agent, hidden, programs } = parts;
  const { workspace, user } = plan;
  const outside = {
    homeDir: home.dir,
    workspaces: workspace === undefined ? [] : [workspace.path],
    io: invocation.io,
  };
  return openServers({
    invocation,
    source,
    homeKeys,
    inUse,
    servers,
    hidden,
    agents: held.report,
    agentId: agent.id,
    homeDir: home.dir,
    ...(isQuiet && { log: nothing }),
    ...(workspace !== undefined && { workspace }),
    ...(held.view !== undefined && { view: held.view }),
    // A user of rules alone is watched for whatever else runs as it.
    ...(user !== undefined && held.report.sandbox !== "uid" && { user }),
    programs,
    isContained: true,
    signal: parts.signals.stopped,
    outside: (server) => outsideServer(server, outside),
  });
}

/**
 * Serves the agent as the MCP client that it is. Where a server is lost there is nothing more for
 * it.
 */
async function speakMcp(
  started: LinuxSandboxedProcess,
  { agent }: RunAgentParts,
  mcp: McpSessionsOptions,
): Promise<void> {
  const { stdin, stdout } = started;
  if (stdin === undefined || stdout === undefined)
    throw new ConsentError("sandbox_failed", "Cannot speak MCP with the command: it has no pipes");
  const { reason, detail } = await createMcpProxy({ ...mcp, agent, input: stdout, output: stdin })
    .done;
  if (reason !== "upstream_failed") return;
  mcp.log(detail);
  started.kill("SIGTERM");
}
