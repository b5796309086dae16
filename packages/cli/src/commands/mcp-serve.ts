/**
 * `acp mcp serve --alone`, and what a resident does for its clients: a gate between agents that connect
 * over HTTP and the real servers. It listens on 127.0.0.1 until it is told to end.
 */
import { asError, escapeText } from "@acp/core";
import { createMcpListener, createMcpSessions, refuseMcp } from "@acp/proxy-mcp";
import type { McpListener, McpListenerOptions } from "@acp/proxy-mcp";
import { openHome } from "@acp/home";
import type { UpstreamServer } from "@acp/home";
import type { Invocation } from "../command.js";
import type { Exit } from "../exit-codes.js";
import { chooseServers, openEnvironments, readHomeConfig } from "../gate/config.js";
import type { HomeConfig } from "../gate/config.js";
import type { GateInUse } from "../gate/with-gate.js";
import { makeHome } from "../home/make-home.js";
import { ownHomePath } from "../home/home-source.js";
import { readPort } from "../http/settings.js";
import { answerAddressOf } from "../inbox/answer-address.js";
import { createGateOfKey } from "../mcp-http/gate-of-key.js";
import { DEFAULT_PORT } from "../mcp-http/own-address.js";
import { openCredentials, ensureToken, TOKEN_VARIABLE, tokensPath } from "../mcp-http/tokens.js";
import type { HomeCredentials } from "../mcp-http/tokens.js";
import { hiddenIn } from "../pins/home-pins.js";
import { DOOR_LIMITS } from "../resident/doors.js";
import type { Doors } from "../resident/doors.js";
import { openToolJudge } from "../resident/locked.js";
import type { ServeLocked } from "../resident/locked.js";
import { liveSource } from "../servers/live-servers.js";
import type { LiveSource } from "../servers/live-servers.js";
import { checkAgentId } from "../servers/agent-id.js";
import { AGENT_ID, openClientServers } from "./mcp.js";
import type { GatesOfHome } from "./mcp.js";

/** More than the listener lets a client have: it ends the oldest first. */
const SESSIONS_MAX = 64;
/**
 * Connections that a resident would pass on and the listener does not take: it has to see the next
 * one to end another for it.
 */
const DOOR_SPARE = 16;

/**
 * Serves agents until the process is told to end.
 *
 * @param doors - Where a client listens for this process; left out: this process itself does.
 * @throws ConsentError what a home throws that does not load; `options_invalid` for a port that cannot
 *   be had.
 */
export async function serveMcpHttp(
  invocation: Invocation,
  gates: GatesOfHome,
  doors?: Doors,
): Promise<Exit> {
  const { io } = invocation;
  const signal = io.onStop();
  try {
    const home = await makeHome(ownHomePath(invocation));
    const source = liveSource(await readHomeConfig(home, invocation));
    const port = choosePort(source, invocation);
    const agentId = agentIdOf(invocation);
    const servers = chooseServers(source, invocation);
    const credentials = await credentialsOf(invocation, home.dir);
    const homeKeys = await gates.keys(home, invocation);
    const { shares = false } = gates;
    const parts = { file: source.file, keys: homeKeys.keys, env: io.env, shares };
    const environments = await openEnvironments(servers, parts);
    // Agents connect from anywhere on this machine, as whoever.
    const host = { sharesUid: false };
    const common = { invocation, signal, home, source, homeKeys, host, agentId };
    await gates.withGate({ ...common, ways: ["mcp"] }, (inUse) =>
      serveSessions({ ...common, gates, inUse, environments, port, doors, credentials }),
    );
    return "ok";
  } catch (error) {
    await gates.tellClient?.(error, invocation, signal);
    if (signal.aborted) return "ok";
    throw error;
  }
}

interface ServeSessionsParts extends Omit<Parameters<GatesOfHome["withGate"]>[0], "ways"> {
  readonly source: LiveSource;
  readonly gates: GatesOfHome;
  readonly inUse: GateInUse;
  readonly environments: readonly UpstreamServer[];
  readonly port: number;
  readonly doors: Doors | undefined;
  readonly credentials: HomeCredentials;
}

async function serveSessions(parts: ServeSessionsParts): Promise<void> {
  const { invocation, homeKeys, gates, inUse, credentials, environments } = parts;
  const log = (line: string): void => invocation.print.notice(line);
  await using opened = await openClientServers(gates, { ...parts, servers: environments });
  const { upstreams, pins, trustedAnnotations } = opened;
  const sessions = createMcpSessions({
    gate: inUse.gate,
    upstreams,
    pins,
    trustedAnnotations,
    answerAddress: answerAddressOf(parts.home.dir),
    hideDenied: hiddenIn(environments, inUse),
    log,
    sessionsMax: SESSIONS_MAX,
    ...(homeKeys.masker !== undefined && { masker: homeKeys.masker }),
  });
  opened.follow(sessions);
  const gateOf = createGateOfKey({ ...inUse, policyOf: (key) => credentials.policyOf(key) });
  await listen({
    ...parts,
    serve(connection, { agent, key }) {
      void gateOf(key).then(
        (gate) => {
          // Its token was taken away: it is judged by nobody's policy.
          if (gate === undefined) return void connection.destroy();
          const room = gates.roomOf?.(agent.id);
          return sessions.serve(connection, { agent, gate, ...(room !== undefined && { room }) });
        },
        (error: unknown) => {
          log(asError(error).message);
          // Its requests hear that the session is over.
          connection.destroy();
        },
      );
    },
    onListening: (port) => tell(invocation, { port, agents: credentials.agents() }),
  });
  opened.endStarts();
  await sessions.close();
}

/**
 * Answers agents while there is no gate: everything is refused with the reason, or denied as ever.
 *
 * @param doors - Where it listens.
 */
export const serveMcpHttpLocked =
  (doors: Doors): ServeLocked =>
  async (invocation, { code, message, onDenied }, signal) => {
    const home = await openHome(ownHomePath(invocation));
    const source = await readHomeConfig(home, invocation);
    const judge = await openToolJudge(invocation);
    await listen({
      invocation,
      port: choosePort(source, invocation),
      doors,
      credentials: await credentialsOf(invocation, home.dir),
      signal,
      serve(connection, { agent }) {
        void refuseMcp({
          input: connection,
          output: connection,
          code,
          message,
          isRetryable: true,
          judge(name, args) {
            onDenied?.(agent.id);
            return judge(name, args);
          },
          signal,
        });
      },
      onListening(port) {
        const why = typeof message === "string" ? message : message();
        invocation.print.notice(`Listening on ${addressOf(port)}. ${why} [${code}]`);
      },
    });
  };

/** The tokens that work: one at least, or nobody could connect. */
async function credentialsOf(invocation: Invocation, dir: string): Promise<HomeCredentials> {
  const { io, print } = invocation;
  const path = tokensPath({ dir });
  const agent = agentIdOf(invocation);
  if (io.env[TOKEN_VARIABLE] === undefined) await ensureToken(path, agent);
  return openCredentials(path, { agent, env: io.env, log: (line) => print.notice(line) });
}

function agentIdOf({ values }: Invocation): string {
  const agentId = values.agent ?? AGENT_ID;
  checkAgentId(agentId);
  return agentId;
}

/** `--port`, else the configuration's, else 8443. */
const choosePort = ({ config }: HomeConfig, { values }: Invocation): number =>
  readPort("port", values.port) ?? config?.port ?? DEFAULT_PORT;

interface ListenParts extends Pick<McpListenerOptions, "serve"> {
  readonly invocation: Invocation;
  readonly port: number;
  readonly doors: Doors | undefined;
  readonly credentials: HomeCredentials;
  readonly signal: AbortSignal;
  onListening(port: number): void;
}

/** Listens until it is told to end. */
async function listen({
  invocation,
  port,
  doors,
  credentials,
  signal,
  serve,
  onListening,
}: ListenParts): Promise<void> {
  const log = (line: string): void => invocation.print.notice(line);
  const listener = createMcpListener({
    credentials,
    serve,
    log,
    ...(doors !== undefined && { connectionsMax: DOOR_LIMITS.ofOne - DOOR_SPARE }),
  });
  try {
    onListening(
      doors === undefined ? await listener.listen(port) : await listenThere(listener, port, doors),
    );
    await aborted(signal);
  } finally {
    await listener.close();
  }
}

/** A client listens, and passes on what comes in. */
async function listenThere(listener: McpListener, port: number, doors: Doors): Promise<number> {
  let own = port === 0 ? undefined : port;
  const [opened = port] = await doors.open([
    { name: "mcp", port, take: (socket) => listener.attach(socket, () => own) },
  ]);
  own = opened;
  // Sessions are this process's: whoever comes back begins anew with the next one.
  doors.held.addEventListener("abort", () => listener.drain(), { once: true });
  return opened;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

const addressOf = (port: number): string => `http://127.0.0.1:${port}/mcp`;

/** Where it listens, and what a client needs to connect. */
function tell(
  { print }: Invocation,
  told: { readonly port: number; readonly agents: readonly string[] },
): void {
  const url = addressOf(told.port);
  const sse = `http://127.0.0.1:${told.port}/sse`;
  const agents = [...new Set(told.agents)];
  print.result({ url, sse, agents }, () => [
    `listening on ${url}`,
    `for clients of HTTP+SSE: ${sse}`,
    ...agents.flatMap((agent) => [
      `# as ${escapeText(agent)}; \`acp mcp token ${escapeText(agent)}\` prints its token`,
      "header: Authorization: Bearer TOKEN",
    ]),
  ]);
}
