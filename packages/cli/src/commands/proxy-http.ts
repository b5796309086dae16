/**
 * `acp proxy http --alone`, and what a resident does for its clients: a gate between programs and
 * the network. It listens on 127.0.0.1 until it is told to end.
 */
import type { Socket } from "node:net";
import { ConsentError } from "@acp/core";
import type { HttpConsentProxy } from "@acp/proxy-http";
import type { Invocation, Run } from "../command.js";
import type { Exit } from "../exit-codes.js";
import { ownHomePath } from "../home/home-source.js";
import { counterServer, createCounters, serveCounters } from "../http/counters.js";
import type { Counters } from "../http/counters.js";
import { listenAt, makeHttpProxy } from "../http/open-http-proxy.js";
import { choosePort, hostOffers, readPort } from "../http/settings.js";
import { readHomeConfig } from "../gate/config.js";
import { isAlone } from "../is-alone.js";
import { makeHome } from "../home/make-home.js";
import { ENDING } from "../resident/door-relay.js";
import type { Doors } from "../resident/doors.js";
import { checkAgentId } from "../servers/agent-id.js";
import type { GateInUse } from "../gate/with-gate.js";
import { ALONE } from "./mcp.js";
import type { GatesOfHome } from "./mcp.js";

/** Who asks, where nobody says so. */
export const HTTP_AGENT_ID = "http-client";
/** How long requests that are under way have when the process is told to end. */
const DRAIN_MS = 10_000;
/** Whoever gives way to another resident ends by itself before this is over. */
const HELD_MS = 60_000;

/**
 * Runs the command with a gate of its own. The thin client of the resident comes before this, and
 * whoever gets here without having chosen a gate of its own gets none.
 */
export const proxyHttp: Run = async (invocation) => {
  if (isAlone(invocation)) return serveProxy(invocation, ALONE);
  if (!invocation.flags.has("tty"))
    throw new ConsentError(
      "options_invalid",
      "Cannot use the resident gate: run the program acp, with proxy http as its first words; or give --alone",
    );
  const { serveAtTerminal } = await import("../resident/at-terminal.js");
  return serveAtTerminal(invocation);
};

/**
 * Serves programs until the client is told to end.
 *
 * @param doors - Where a client listens for this process; left out: this process itself does.
 * @throws ConsentError what a home throws that does not load; `options_invalid` for a port that
 *   cannot be had.
 */
export async function serveProxy(
  invocation: Invocation,
  gates: Pick<GatesOfHome, "keys" | "withGate" | "around" | "tellClient">,
  doors?: Doors,
): Promise<Exit> {
  const signal = invocation.io.onStop();
  const metricsPort = readPort("metrics", invocation.values.metrics);
  const home = await makeHome(ownHomePath(invocation));
  const source = await readHomeConfig(home, invocation);
  const defaultOffers = hostOffers(invocation.io.env, source);
  const ports = { http: choosePort(source, invocation), metrics: metricsPort };
  const agentId = invocation.values.agent ?? HTTP_AGENT_ID;
  checkAgentId(agentId);
  try {
    const homeKeys = await gates.keys(home, invocation);
    // Programs come from anywhere on this machine, as whoever: the notice about isolation says what
    // that means.
    const host = { sharesUid: false };
    const common = { invocation, signal, home, source, homeKeys, host, agentId };
    await gates.withGate({ ...common, ways: ["http"], defaultOffers }, (inUse) =>
      runProxy({ ...common, gates, inUse, ports, doors }),
    );
    return "ok";
  } catch (error) {
    await gates.tellClient?.(error, invocation, signal);
    if (signal.aborted) return "ok";
    throw error;
  }
}

interface Ports {
  readonly http: number;
  /** Left out: nobody asks for the counters. */
  readonly metrics: number | undefined;
}

interface RunProxyParts extends Omit<Parameters<GatesOfHome["withGate"]>[0], "ways"> {
  readonly gates: Pick<GatesOfHome, "around">;
  readonly inUse: GateInUse;
  readonly ports: Ports;
  readonly doors: Doors | undefined;
}

async function runProxy({ gates, inUse, ports, doors, ...parts }: RunProxyParts): Promise<void> {
  const { invocation, source, homeKeys, signal, agentId } = parts;
  const accounts = source.config?.http?.agents ?? [];
  const counters = createCounters();
  // Where agents have credentials, who has none is nobody, unless the command line says otherwise.
  const agent =
    invocation.values.agent === undefined && accounts.length > 0 ? undefined : { id: agentId };
  let opened: Ports | undefined;
  const proxy = await makeHttpProxy({
    invocation,
    source,
    homeKeys,
    inUse,
    agent,
    count: counters.count,
    ownPorts: () => [opened?.http ?? [], opened?.metrics ?? []].flat(),
    ...(gates.around !== undefined && { around: gates.around }),
  });
  try {
    await using listening =
      doors === undefined
        ? await listenHere(proxy, counters, ports)
        : await listenThere(proxy, { counters, ports, doors });
    opened = listening.ports;
    const usernames = accounts.map(({ id }) => id);
    tell(invocation, { ...opened, usernames, isOpen: agent !== undefined });
    doors?.held.addEventListener("abort", () => void proxy.close({ drainMs: HELD_MS }), {
      once: true,
    });
    await aborted(signal);
    // A client that is told to end says so itself; a resident that ends a session ends no client.
    if (doors === undefined) invocation.print.notice(ENDING);
  } finally {
    const isWaited = signal.aborted && doors?.isGone() !== true;
    await proxy.close({ drainMs: isWaited ? DRAIN_MS : 0 });
  }
}

/** Where it listens. */
interface Listening extends AsyncDisposable {
  readonly ports: Ports;
}

async function listenHere(
  proxy: HttpConsentProxy,
  counters: Counters,
  wanted: Ports,
): Promise<Listening> {
  const http = await listenAt(proxy, wanted.http);
  const metrics =
    wanted.metrics === undefined ? undefined : await serveCounters(counters, wanted.metrics);
  return {
    ports: { http, metrics: metrics?.port },
    [Symbol.asyncDispose]: async () => metrics?.[Symbol.asyncDispose](),
  };
}

interface There {
  readonly counters: Counters;
  readonly ports: Ports;
  readonly doors: Doors;
}

/** The client listens, and passes on what comes in. */
async function listenThere(
  proxy: HttpConsentProxy,
  { counters, ports, doors }: There,
): Promise<Listening> {
  const server = counterServer(counters);
  const [http = 0, metrics] = await doors.open([
    { name: "http", port: ports.http, take: (socket) => proxy.attach(socket) },
    ...(ports.metrics === undefined
      ? []
      : [
          {
            name: "metrics",
            port: ports.metrics,
            take(socket: Socket): void {
              server.emit("connection", socket);
              socket.resume();
            },
          },
        ]),
  ]);
  return {
    ports: { http, metrics },
    [Symbol.asyncDispose]: () => Promise.resolve(server.closeAllConnections()),
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

interface Told extends Ports {
  readonly usernames: readonly string[];
  /** Whether somebody may ask without credentials. */
  readonly isOpen: boolean;
}

/** Where it listens, and what a program's environment needs to find it. */
function tell({ print }: Invocation, { http, usernames, isOpen, metrics }: Told): void {
  const url = `http://127.0.0.1:${http}`;
  const withName = (name: string): string =>
    `http://${encodeURIComponent(name)}:TOKEN@127.0.0.1:${http}`;
  const counters = metrics === undefined ? undefined : `http://127.0.0.1:${metrics}/metrics`;
  const value = { url, ...(counters !== undefined && { metrics: counters }), agents: usernames };
  print.result(value, () => [
    `listening on ${url}`,
    ...(counters === undefined ? [] : [`counters on ${counters}`]),
    ...(isOpen ? exportLines(url) : []),
    ...usernames.flatMap((name) => [
      `# as ${name}; TOKEN is its token in the configuration`,
      ...exportLines(withName(name)),
    ]),
    "# Node programs also need: node --import @acp/proxy-http/fetch-patch agent.mjs",
  ]);
}

/**
 * Both spellings, because programs differ; and no exceptions that somebody else's environment has.
 */
function exportLines(url: string): readonly string[] {
  return [
    `export HTTP_PROXY='${url}' http_proxy='${url}'`,
    `export HTTPS_PROXY='${url}' https_proxy='${url}'`,
    "export NO_PROXY='' no_proxy=''",
  ];
}
