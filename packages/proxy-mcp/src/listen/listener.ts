/**
 * Listener: agents that reach the proxy over HTTP, on this machine. Streamable HTTP with sessions, the
 * HTTP+SSE of before, and messages without sessions; each becomes lines, as on stdio, and nothing but
 * lines is judged. Who asks is told by credentials. Format and rules: spec/mcp-proxy.md §17.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer as createSocketServer } from "node:net";
import type { Server as SocketServer, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { systemClock } from "@acp/core";
import { listenOnLoopback } from "@acp/host";
import type { Clock } from "@acp/core";
import { createClients } from "./clients.js";
import type { Clients, McpCaller } from "./clients.js";
import { createConnections, isGone } from "./connections.js";
import type { Connections } from "./connections.js";
import { guard } from "./guard.js";
import {
  CLOSE_MS_MAX,
  CLIENT_SESSIONS_MAX,
  CONNECTIONS_MAX,
  HEAD_BYTES_MAX,
  HEAD_MS_MAX,
  IDLE_OF_CLIENT_MAX,
  KEEP_ALIVE_MS,
  LOGGED_MAX,
  OPEN_OF_CLIENT_MAX,
  TICK_MS,
} from "./limits.js";
import { createBodyReader } from "./read-body.js";
import { refuse, UNKNOWN_TOKEN } from "./refusal.js";
import { createRequestStates } from "./request-states.js";
import { serveRoute } from "./serve-route.js";
import type { Open, RouteParts } from "./serve-route.js";

/** Tells clients apart. */
export interface McpCredentials {
  /**
   * Who has this bearer token; `undefined` for nobody. Must compare in constant time.
   *
   * @param token - `undefined` where the request has none.
   */
  find(token: string | undefined): Promise<McpCaller | undefined> | McpCaller | undefined;
  /** Whether a key that was found still works: what was opened with it ends otherwise. */
  holds(key: string): boolean;
}

/** Options of {@link createMcpListener}. */
export interface McpListenerOptions {
  /** Tells by its token which client a request is of; without one that is known it is refused. */
  readonly credentials: McpCredentials;
  /** Serves the lines of one session, or of one client's messages without a session. */
  readonly serve: (connection: Duplex, caller: McpCaller) => void;
  /** Called with one line, without a line break: what was refused and why; never a token. */
  readonly log: (line: string) => void;
  /** How many sessions a client may have at a time. Default: 8. */
  readonly sessionsMax?: number;
  /** How many connections there may be at a time. Default: 512. */
  readonly connectionsMax?: number;
  /** When a session without any connection ends, in milliseconds. Default: 30 minutes. */
  readonly idleMs?: number;
  /**
   * After how long the connection of a stream is closed, so that its client comes back for the rest
   * (SSE polling), in milliseconds. Default: never.
   */
  readonly pollAfterMs?: number;
  /** Default: the system's clock. */
  readonly clock?: Clock;
}

/** Serves agents that connect over HTTP. */
export interface McpListener {
  /** Listens on 127.0.0.1; 0 takes a free port. @throws ConsentError `options_invalid`. */
  listen(port: number): Promise<number>;
  /**
   * Serves a connection that somebody else accepted on a port of this machine.
   *
   * @param port - Which one; while that is not known, requests are refused.
   */
  attach(socket: Socket, port: () => number | undefined): void;
  /** Takes no more requests; those that are being answered go on. */
  drain(): void;
  /** Ends all sessions and connections. */
  close(): Promise<void>;
}

interface State {
  readonly options: McpListenerOptions;
  readonly http: Server;
  readonly route: RouteParts;
  readonly clients: Clients<Open>;
  readonly connections: Connections;
  readonly deadlines: WeakMap<Socket, AbortController>;
  /** On which port a connection was accepted. */
  readonly ports: WeakMap<Socket, () => number | undefined>;
  readonly over: AbortController;
  /** What was logged since the last tick. */
  readonly told: Set<string>;
  isDraining: boolean;
}

function newState(options: McpListenerOptions): State {
  const { clock = systemClock, sessionsMax: sessions = CLIENT_SESSIONS_MAX, idleMs } = options;
  const clients = createClients<Open>(clock, {
    sessions,
    open: OPEN_OF_CLIENT_MAX,
    ...(idleMs !== undefined && { idleMs }),
  });
  const http = createServer({ maxHeaderSize: HEAD_BYTES_MAX, keepAliveTimeout: KEEP_ALIVE_MS });
  const { serve, pollAfterMs } = options;
  const told = new Set<string>();
  /** Each line once in a while: whoever sends what is refused could fill the log. */
  const log = (line: string): void => {
    if (told.has(line) || told.size >= LOGGED_MAX) return;
    told.add(line);
    options.log(line);
  };
  const states = createRequestStates();
  return {
    options,
    http,
    clients,
    route: {
      clients,
      states,
      clock,
      serve,
      log,
      pollAfterMs,
      bodies: createBodyReader(),
      isStill: async (request, { key }) => (await callerOf(options, request))?.key === key,
    },
    connections: createConnections({
      all: options.connectionsMax ?? CONNECTIONS_MAX,
      idleOfClient: IDLE_OF_CLIENT_MAX,
    }),
    ports: new WeakMap(),
    deadlines: new WeakMap(),
    over: new AbortController(),
    told,
    isDraining: false,
  };
}

/** Makes one; it listens nowhere yet. */
export function createMcpListener(options: McpListenerOptions): McpListener {
  const state = newState(options);
  const { http } = state;
  const take = (request: IncomingMessage, response: ServerResponse): void =>
    void handle(state, request, response).catch(() => response.destroy());
  http.on("request", take);
  // A body is asked for only once it is known whose it is.
  http.on("checkContinue", take);
  http.on("checkExpectation", take);
  http.on("clientError", refuseUnread);
  let accepting: SocketServer | undefined;
  void tick(state, state.route.clock);
  return {
    attach: (socket, port) => attach(state, socket, port),
    async listen(port) {
      const opened = await listenAt(port, (socket, own) => attach(state, socket, () => own));
      accepting = opened.server;
      return opened.port;
    },
    drain: () => void (state.isDraining = true),
    async close() {
      const closed = new Promise<void>((resolve) =>
        accepting === undefined ? resolve() : accepting.close(() => resolve()),
      );
      await closeAll(state, closed);
    },
  };
}

/** Ends all, and waits for it: who reads nothing now is cut off after a while. */
async function closeAll(state: State, closed: Promise<void>): Promise<void> {
  const { clients, connections, route, over } = state;
  over.abort(new Error("the listener is closed"));
  for (const open of clients.all()) open.end();
  const sockets = connections.all();
  for (const socket of sockets) socket.destroySoon();
  const gone = sockets
    .filter(({ destroyed }) => !destroyed)
    .map((socket) => once(socket, "close").catch(() => {}));
  const all = new AbortController();
  void Promise.all(gone).then(() => all.abort());
  route.clock.sleep(CLOSE_MS_MAX, { signal: all.signal, background: true }).then(
    () => sockets.forEach((socket) => socket.destroy()),
    () => {},
  );
  await closed;
}

async function listenAt(
  port: number,
  take: (socket: Socket, port: number) => void,
): Promise<{ readonly server: SocketServer; readonly port: number }> {
  let own = port;
  const server = createSocketServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
    take(socket, own),
  );
  own = await listenOnLoopback(server, port);
  return { server, port: own };
}

/** Node's own time limits hold only for a server that listens itself. */
function attach(state: State, socket: Socket, port: () => number | undefined): void {
  const { http, connections, ports, over } = state;
  socket.on("error", () => socket.destroy());
  if (over.signal.aborted || !connections.add(socket)) return void socket.destroy();
  ports.set(socket, port);
  expectHead(state, socket, HEAD_MS_MAX);
  socket.once("close", () => {
    connections.remove(socket);
    state.deadlines.get(socket)?.abort();
  });
  http.emit("connection", socket);
  socket.resume();
}

/** Until the head of its next request is there, a connection has a time. */
function expectHead({ deadlines, route: { clock } }: State, socket: Socket, ms: number): void {
  deadlines.get(socket)?.abort();
  const stop = new AbortController();
  deadlines.set(socket, stop);
  clock.sleep(ms, { signal: stop.signal, background: true }).then(
    () => socket.destroy(),
    () => {},
  );
}

async function handle(
  state: State,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { options, ports, clients, route, connections } = state;
  const { socket } = request;
  response.on("error", () => response.destroy());
  state.deadlines.get(socket)?.abort();
  connections.begin(response, () => {
    if (!socket.destroyed) expectHead(state, socket, KEEP_ALIVE_MS + HEAD_MS_MAX);
  });
  if (state.isDraining)
    return refuse(response, {
      status: 503,
      reason: "the gate is giving way to another one",
      headers: { "retry-after": "1", connection: "close" },
    });
  const guarded = guard(request, ports.get(socket)?.());
  if ("refusal" in guarded) {
    route.log(`refused a request: ${guarded.refusal.reason}`);
    return refuse(response, guarded.refusal);
  }
  const caller = await callerOf(options, request);
  // Whoever left meanwhile would not be heard leaving what is opened now.
  if (isGone(response)) return;
  if (caller === undefined) return refuse(response, UNKNOWN_TOKEN);
  if (!connections.identify(socket, caller.key))
    return refuse(response, {
      status: 429,
      reason: "this client has as many connections in use as are left for all others",
      headers: { "retry-after": "1", connection: "close" },
    });
  if (!clients.enter(caller, response))
    return refuse(response, {
      status: 429,
      reason: "too many requests of this client are being answered",
      headers: { "retry-after": "1" },
    });
  return serveRoute(route, { ...guarded, caller, request, response });
}

const callerOf = (
  { credentials }: McpListenerOptions,
  { headers }: IncomingMessage,
): ReturnType<McpCredentials["find"]> => credentials.find(tokenOf(headers.authorization));

const BEARER = /^bearer +([A-Za-z0-9._~+/-]{1,512}=*)$/iu;

const tokenOf = (authorization: string | undefined): string | undefined =>
  BEARER.exec(authorization ?? "")?.[1];

/** What cannot be read as HTTP is nobody's; a parser that saw two readings gives neither. */
function refuseUnread(error: Error & { readonly code?: string }, socket: Duplex): void {
  if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy();
  const status =
    error.code === "HPE_HEADER_OVERFLOW"
      ? "431 Request Header Fields Too Large"
      : "400 Bad Request";
  socket.end(`HTTP/1.1 ${status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
}

async function tick({ over, clients, options, told }: State, clock: Clock): Promise<void> {
  while (!over.signal.aborted) {
    const slept = clock.sleep(TICK_MS, { signal: over.signal, background: true });
    if (!(await slept.then(() => true).catch(() => false))) return;
    told.clear();
    clients.sweep((key) => options.credentials.holds(key));
    for (const open of clients.all()) open.comment();
  }
}
