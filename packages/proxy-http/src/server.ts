/**
 * Server: listens, takes over sockets, and closes. Every request of every connection goes through
 * the gate. A failure on one connection ends at most that connection. Format and rules:
 * spec/http-proxy.md.
 */
import type { Server } from "node:http";
import type { Socket } from "node:net";
import {
  addressKind,
  type Agent,
  type Clock,
  ConsentError,
  type ConsentGate,
  systemClock,
} from "@acp/core";
import { type AddressRules, readPrivateHosts, type Resolve } from "./addresses.js";
import { type AgentAccount, ATTRIBUTION_HEADER, type Attribution, createAgents } from "./agents.js";
import { type Connections, createConnections } from "./connections.js";
import { createDecide } from "./decide.js";
import { createCached, createDialer } from "./dial.js";
import { createForesight } from "./foresight.js";
import { type InternalService, readInternal } from "./internal.js";
import { LIMITS, type ProxyLimits } from "./limits.js";
import type { Caller } from "./caller.js";
import type { Dial } from "./dial.js";
import type { ProxyCount } from "./proxy-count.js";
import { makeRefusal, type Refusal, refusalBytes } from "./refusals.js";
import type { ProxyLogEntry, ServeParts } from "./judging.js";
import { makeServer, type ServerParts } from "./make-server.js";
import { createUpstream } from "./upstream.js";
import { createWatch, type Watch } from "./watch.js";

/** Options of {@link createHttpConsentProxy}. Rules: spec/http-proxy.md. */
export interface HttpConsentProxyOptions {
  /** Decides about every request and tunnel of an agent without a gate of its own. */
  readonly gate: Pick<ConsentGate, "run">;
  /** Agents that authenticate with each request. Default: none. */
  readonly agents?: readonly AgentAccount[];
  /** The agent for requests without credentials. Absent: such a request is refused with 407. */
  readonly agent?: Agent;
  /** Whether `x-agent-id` names the part of an agent that makes a request. Default: `none`. */
  readonly attribution?: Attribution;
  /**
   * Hosts on this machine and its own network that may be reached, as `host` or `host:port`.
   * Default: none.
   */
  readonly privateHosts?: readonly string[];
  /** Resolves host names. Default: the system's resolver. */
  readonly resolve?: Resolve;
  /**
   * Whether a tunnel must be TLS that names its host (SNI). Default: false. A tunnel that names
   * another host is always closed.
   */
  readonly requireSni?: boolean;
  /**
   * Hosts that may switch to another protocol, such as WebSocket, as `host` or `host:port`.
   * Default: none.
   */
  readonly upgradeHosts?: readonly string[];
  /**
   * Services in this process that attached sockets reach through `CONNECT`, by exactly
   * `name.acp.internal:port`. Default: none.
   */
  readonly internal?: Readonly<Record<string, InternalService>>;
  /**
   * Ports of this machine on which somebody else accepts the sockets that are attached. Like the
   * proxy's own, they are not reached unless {@link privateHosts} names them with their port.
   * Default: none.
   */
  readonly ownPorts?: () => readonly number[];
  /** Limits to change; see {@link ProxyLimits} for the defaults. */
  readonly limits?: Partial<ProxyLimits>;
  /** Called for everything that is counted. */
  readonly count?: (count: ProxyCount) => void;
  /** Called for every log entry. */
  readonly log?: (entry: ProxyLogEntry) => void;
  /** Default: the system's clock. */
  readonly clock?: Clock;
  /** Closes the proxy immediately. */
  readonly signal?: AbortSignal | undefined;
}

/** Where to listen. */
export interface ListenOptions {
  /** Port; 0 picks a free one. */
  readonly port: number;
  /**
   * An address of this machine. Default: 127.0.0.1. One beyond loopback is allowed only if every
   * agent needs credentials.
   */
  readonly host?: string;
}

/** A running proxy. */
export interface HttpConsentProxy {
  /**
   * Listens on one more address.
   *
   * @returns The port, which matters if you asked for 0.
   * @throws ConsentError `options_invalid`; the system's error if it cannot listen there.
   */
  listen(options: ListenOptions): Promise<{ readonly port: number }>;
  /**
   * Serves a socket that you accepted, for example from a sandbox, as this caller's. Credentials on
   * it are not checked. Without a caller it is served like one of an address that the proxy listens
   * on: whoever opened it is known by credentials or not at all.
   */
  attach(socket: Socket, caller?: Caller): void;
  /**
   * Stops taking requests, waits up to `drainMs` milliseconds (default: 0) for those under way,
   * then cuts them.
   */
  close(options?: { readonly drainMs?: number }): Promise<void>;
}

const LOOPBACK = "127.0.0.1";
const NOTHING = (): void => {};

/**
 * Creates a proxy. It serves nothing until you call `listen()` or `attach()`.
 *
 * @example
 * ```ts
 * import { createHttpConsentProxy } from "@acp/proxy-http";
 *
 * const proxy = createHttpConsentProxy({ gate, agent: { id: "my-agent" } });
 * const { port } = await proxy.listen({ port: 0 }); // for HTTP_PROXY
 * ```
 *
 * @throws ConsentError `options_invalid`.
 */
export function createHttpConsentProxy(options: HttpConsentProxyOptions): HttpConsentProxy {
  const { clock = systemClock, signal } = options;
  const limits: ProxyLimits = { ...LIMITS, ...options.limits };
  const watch = createWatch(clock, limits.sweepEveryMs);
  const connections = createConnections(limits, watch);
  const servers = new Set<Server>();
  let closing: Promise<void> | undefined;
  const serve = serveParts(options, {
    limits,
    watch,
    ownPorts: () => [...[...servers].flatMap(portOf), ...(options.ownPorts?.() ?? [])],
    isClosing: () => closing !== undefined,
  });
  const parts: ServerParts = { serve, connections };
  // Never listens: sockets that are handed over are its own.
  const attached = makeServer(parts);
  const close = (drainMs: number): Promise<void> =>
    (closing ??= shut({ servers, connections, drainMs, clock }).finally(() => {
      watch.stop();
      serve.upstream.close();
    }));
  const onAbort = (): void => void (closing === undefined ? close(0) : connections.cut());
  if (signal?.aborted === true) onAbort();
  else signal?.addEventListener("abort", onAbort, { once: true });
  return {
    async listen({ port, host = LOOPBACK }) {
      checkListening(host, options, closing !== undefined);
      const server = makeServer(parts);
      server.prependListener("connection", (socket: Socket) => admit(parts, socket));
      servers.add(server);
      try {
        await listening(server, { port, host });
      } catch (error) {
        servers.delete(server);
        throw error;
      }
      return { port: portOf(server)[0] ?? port };
    },
    attach(socket, caller) {
      // As it is for those that we accept: who ended its own side still gets its answer.
      socket.allowHalfOpen = true;
      if (admit(parts, socket, caller)) attached.emit("connection", socket);
      // Whoever accepted it may have paused it, so that nothing was lost on the way.
      socket.resume();
    },
    close: ({ drainMs = 0 } = {}) => close(drainMs),
  };
}

/**
 * Takes a connection, or turns it away.
 *
 * @returns Whether it was taken.
 */
function admit({ serve, connections }: ServerParts, socket: Socket, caller?: Caller): boolean {
  const refusal = serve.isClosing()
    ? makeRefusal("closing", "the proxy is closing")
    : connections.add(socket, caller) === undefined
      ? makeRefusal(
          "overloaded",
          `the proxy has ${serve.limits.connectionsMax} connections already`,
        )
      : undefined;
  if (refusal !== undefined) {
    turnAway(socket, refusal);
    return false;
  }
  const kind = caller === undefined ? "accepted" : "attached";
  serve.count({ name: "connections", by: 1, labels: { kind } });
  return true;
}

/** Says no to a connection before it says anything. */
function turnAway(socket: Socket, refusal: Refusal): void {
  socket.on("error", NOTHING);
  socket.write(refusalBytes(refusal));
  socket.destroySoon();
}

interface Shared {
  readonly limits: ProxyLimits;
  readonly watch: Watch;
  readonly ownPorts: () => readonly number[];
  readonly isClosing: () => boolean;
}

function serveParts(
  options: HttpConsentProxyOptions,
  { limits, watch, ownPorts, isClosing }: Shared,
): ServeParts {
  const {
    gate,
    resolve,
    privateHosts = [],
    upgradeHosts = [],
    internal = {},
    attribution = "none",
    clock = systemClock,
  } = options;
  const log = quietly(options.log ?? NOTHING);
  const rules: AddressRules = {
    naming: readPrivateHosts(privateHosts),
    ownPorts,
    ownAddresses: createCached(clock),
  };
  const foresight = createForesight(rules, clock);
  const connect = createDialer({
    ...rules,
    connectMs: limits.connectMs,
    clock,
    ...(resolve === undefined ? {} : { resolve }),
  });
  const dial: Dial = async (target, signal) => {
    try {
      return await connect(target, signal);
    } catch (error) {
      foresight.note(target, error);
      throw error;
    }
  };
  return {
    limits,
    watch,
    dial,
    foresee: (target) => foresight.check(target),
    upstream: createUpstream(dial, limits),
    dropped: new Set(attribution === "none" ? [] : [ATTRIBUTION_HEADER]),
    findCaller: createAgents(options),
    decide: createDecide({ gate, log: (text) => log({ level: "warn", event: "note", text }) }),
    requireSni: options.requireSni ?? false,
    mayUpgrade: readPrivateHosts(upgradeHosts),
    internal: readInternal(internal),
    isClosing,
    count: quietly(options.count ?? NOTHING),
    log,
  };
}

/** A hook that fails counts nothing and stops nothing. */
function quietly<T>(hook: (value: T) => void): (value: T) => void {
  return (value) => {
    try {
      hook(value);
    } catch {
      // There is nobody to tell.
    }
  };
}

function portOf(server: Server): readonly number[] {
  const address = server.address();
  return typeof address === "object" && address !== null ? [address.port] : [];
}

function checkListening(
  host: string,
  { agent }: HttpConsentProxyOptions,
  isClosing: boolean,
): void {
  if (isClosing) throw new ConsentError("options_invalid", "Cannot listen: the proxy is closed");
  if (addressKind(host) !== "loopback" && agent !== undefined)
    throw new ConsentError(
      "options_invalid",
      `Cannot listen on "${host}": other machines can reach it, and "agent" needs no credentials`,
    );
}

function listening(server: Server, { port, host }: Required<ListenOptions>): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      // What fails later fails one connection.
      server.on("error", () => {});
      resolve();
    });
  });
}

interface Shutting {
  readonly servers: ReadonlySet<Server>;
  readonly connections: Connections;
  readonly drainMs: number;
  readonly clock: Clock;
}

async function shut({ servers, connections, drainMs, clock }: Shutting): Promise<void> {
  const closed = [...servers].map(
    (server) => new Promise<void>((resolve) => void server.close(() => resolve())),
  );
  connections.drain();
  const done = new AbortController();
  if (drainMs > 0)
    await Promise.race([
      connections.gone(),
      clock.sleep(drainMs, { signal: done.signal }).catch(NOTHING),
    ]);
  done.abort(new Error("it is closed"));
  connections.cut();
  await Promise.all([connections.gone(), ...closed]);
}
