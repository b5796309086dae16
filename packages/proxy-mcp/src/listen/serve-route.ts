/** Serve route: what a request of a known client is answered with. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Clock } from "@acp/core";
import { INVALID_PARAMS, INVALID_REQUEST } from "../rpc.js";
import type { RpcId } from "../rpc.js";
import type { Clients, Held, McpCaller } from "./clients.js";
import { isGone } from "./connections.js";
import { EVENTS } from "./event-streams.js";
import { accepts, bodyRefusal } from "./guard.js";
import type { Route } from "./guard.js";
import { READING_BYTES_MAX } from "./limits.js";
import type { BodyReader } from "./read-body.js";
import { refuse, UNKNOWN_TOKEN } from "./refusal.js";
import type { RequestStates } from "./request-states.js";
import { openHttpSession } from "./session.js";
import type { HttpSession, PassedMessage } from "./session.js";
import { openSseSession } from "./sse-session.js";
import type { SseSession } from "./sse-session.js";
import { openStateless } from "./stateless.js";
import type { Stateless } from "./stateless.js";
import { isStateless, isStatefulVersion, statelessRefusal } from "./stateless-headers.js";

/** What is open of a client. */
export type Open = Held &
  (
    | { readonly kind: "session"; readonly session: HttpSession }
    | { readonly kind: "sse"; readonly session: SseSession }
    | { readonly kind: "stateless"; readonly session: Stateless }
  );

/** What routes are served with. */
export interface RouteParts {
  readonly clients: Clients<Open>;
  readonly states: RequestStates;
  readonly clock: Clock;
  readonly bodies: BodyReader;
  /** Whether the token of a request is still its caller's. */
  readonly isStill: (request: IncomingMessage, caller: McpCaller) => Promise<boolean>;
  readonly serve: (connection: Duplex, caller: McpCaller) => void;
  readonly log: (line: string) => void;
  readonly pollAfterMs: number | undefined;
}

/** One request. */
export interface Routed {
  readonly route: Route;
  readonly url: URL;
  readonly caller: McpCaller;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

const JSON_TYPE = "application/json";

/** Answers it, or begins to. */
export async function serveRoute(parts: RouteParts, routed: Routed): Promise<void> {
  const { route, request } = routed;
  if (route === "sse") return openSse(parts, routed);
  if (request.method === "GET") return listen(parts, routed);
  if (request.method === "DELETE") return endSession(parts, routed);
  return post(parts, routed);
}

function sessionOf({ clients }: RouteParts, { caller, request }: Routed): HttpSession | undefined {
  const id = request.headers["mcp-session-id"];
  const open = typeof id === "string" ? clients.find(caller, id) : undefined;
  if (open?.kind !== "session") return undefined;
  clients.touch(open);
  return open.session;
}

/** Also of another client's session: nobody learns that there is one. */
const NO_SESSION = { status: 404, reason: "there is no such session; begin with initialize" };

function listen(parts: RouteParts, routed: Routed): void {
  const { request, response } = routed;
  const { headers } = request;
  if (!accepts(request, [EVENTS]))
    return refuse(response, { status: 406, reason: `it does not accept ${EVENTS}` });
  if (headers["mcp-session-id"] === undefined)
    return refuse(response, {
      status: 405,
      reason: "there is no stream without a session",
      headers: { allow: "POST" },
    });
  const session = sessionOf(parts, routed);
  if (session === undefined) return refuse(response, NO_SESSION);
  const odd = oddVersion(request, session);
  if (odd !== undefined) return refuse(response, odd);
  const lastEventId = headers["last-event-id"];
  if (typeof lastEventId !== "string") return session.listen(response);
  const why = session.resume(lastEventId, response);
  if (why !== undefined) refuse(response, { status: 400, reason: why });
}

function endSession(parts: RouteParts, routed: Routed): void {
  const { response, request } = routed;
  if (request.headers["mcp-session-id"] === undefined)
    return refuse(response, { status: 400, reason: "it names no session" });
  const session = sessionOf(parts, routed);
  if (session === undefined) return refuse(response, NO_SESSION);
  session.end();
  response.writeHead(204).end();
}

function oddVersion(
  { headers }: IncomingMessage,
  session: HttpSession,
): { readonly status: number; readonly reason: string } | undefined {
  const version = headers["mcp-protocol-version"];
  const isKnown =
    version === session.version() ||
    (typeof version === "string" || version === undefined ? isStatefulVersion(version) : false);
  return isKnown ? undefined : { status: 400, reason: "its mcp-protocol-version is not served" };
}

async function post(parts: RouteParts, routed: Routed): Promise<void> {
  const { route, request, response } = routed;
  const odd = bodyRefusal(request);
  if (odd !== undefined) return refuse(response, odd);
  if (route === "mcp" && !accepts(request, [JSON_TYPE, EVENTS]))
    return refuse(response, {
      status: 406,
      reason: `it does not accept both ${JSON_TYPE} and ${EVENTS}`,
    });
  if (request.headers.expect?.toLowerCase() === "100-continue") response.writeContinue();
  const read = await parts.bodies.read(request, routed.caller.key);
  if (read === undefined || isGone(response)) return;
  if ("refusal" in read) {
    parts.log(`refused a message: ${read.refusal.reason}`);
    return refuse(response, read.refusal, read.id);
  }
  // A body may take its time, and its token may be taken away meanwhile.
  const isStill = await parts.isStill(request, routed.caller);
  if (isGone(response)) return;
  if (!isStill) return refuse(response, UNKNOWN_TOKEN);
  const { message } = read;
  if (!isOwnState(parts, routed, message)) return;
  return route === "messages" ? postSse(parts, routed, message) : postMcp(parts, routed, message);
}

/** What a server keeps for a client works for no other one. */
function isOwnState(
  { states, log }: RouteParts,
  { caller, response }: Routed,
  message: PassedMessage,
): boolean {
  if (message.kind === "response" || states.admits(caller.key, message.params)) return true;
  const reason = "its requestState was not given to this client";
  log(`refused a message of ${JSON.stringify(caller.agent.id)}: ${reason}`);
  refuse(response, { status: 400, code: INVALID_PARAMS, reason }, idOf(message));
  return false;
}

const idOf = (message: PassedMessage): RpcId | undefined =>
  message.kind === "request" ? message.id : undefined;

function postMcp(parts: RouteParts, routed: Routed, message: PassedMessage): void {
  const { request, response } = routed;
  const { headers } = request;
  if (message.kind !== "response") {
    const version = headers["mcp-protocol-version"];
    const isModern = !isStatefulVersion(typeof version === "string" ? version : undefined);
    if (isStateless(message) || (isModern && headers["mcp-session-id"] === undefined))
      return postStateless(parts, routed, message);
    if (message.kind === "request" && message.method === "initialize")
      return initialize(parts, routed, message);
  }
  if (headers["mcp-session-id"] === undefined)
    return refuse(
      response,
      { status: 400, code: INVALID_REQUEST, reason: "it names no session; begin with initialize" },
      idOf(message),
    );
  const session = sessionOf(parts, routed);
  if (session === undefined) return refuse(response, NO_SESSION, idOf(message));
  const odd = oddVersion(request, session) ?? full(session);
  if (odd !== undefined) return refuse(response, odd, idOf(message));
  session.post(message, response);
}

function full({
  waiting,
}: {
  readonly waiting: () => number;
}): { readonly status: number; readonly reason: string } | undefined {
  return waiting() > READING_BYTES_MAX
    ? { status: 503, reason: "the servers read slower than this client sends" }
    : undefined;
}

const TOO_MANY = { status: 429, reason: "this client has too many sessions, and all are in use" };

function initialize(parts: RouteParts, routed: Routed, message: PassedMessage): void {
  const { caller, request, response } = routed;
  const { clients } = parts;
  if (request.headers["mcp-session-id"] !== undefined)
    return refuse(
      response,
      { status: 400, code: INVALID_REQUEST, reason: "initialize begins a session of its own" },
      idOf(message),
    );
  if (!clients.hasRoom(caller)) return refuse(response, TOO_MANY, idOf(message));
  const session = openHttpSession({
    ...common(parts, caller, () => clients.remove(open)),
    pollAfterMs: parts.pollAfterMs,
  });
  const { id, connections, comment, end } = session;
  const open: Open = { id, kind: "session", session, connections, comment, end };
  clients.add(caller, open);
  session.post(message, response);
}

function common(
  { states, serve, log }: RouteParts,
  caller: McpCaller,
  onEnd: () => void,
): {
  serve(connection: Duplex): void;
  onAnswer(line: Buffer): void;
  onEnd(): void;
  log(line: string): void;
} {
  return {
    serve: (connection) => serve(connection, caller),
    onAnswer: (line) => states.learn(caller.key, line),
    onEnd,
    log,
  };
}

function postStateless(
  parts: RouteParts,
  routed: Routed,
  message: Exclude<PassedMessage, { kind: "response" }>,
): void {
  const { caller, request, response } = routed;
  const { clients } = parts;
  const odd = statelessRefusal(message, request.headers);
  if (odd !== undefined) return refuse(response, odd, idOf(message));
  const id = `stateless ${caller.key}`;
  const found = clients.find(caller, id);
  if (found === undefined && !clients.hasRoom(caller))
    return refuse(response, TOO_MANY, idOf(message));
  const open = found ?? openFor(parts, caller, id);
  if (open.kind !== "stateless") return refuse(response, NO_SESSION, idOf(message));
  clients.touch(open);
  const isFull = full(open.session);
  if (isFull !== undefined) return refuse(response, isFull, idOf(message));
  open.session.post(message, response, request.headers);
}

function openFor(parts: RouteParts, caller: McpCaller, id: string): Open {
  const { clients, clock } = parts;
  const session = openStateless({ ...common(parts, caller, () => clients.remove(open)), clock });
  const { open: connections, comment, end } = session;
  const open: Open = { id, kind: "stateless", session, connections, comment, end };
  clients.add(caller, open);
  return open;
}

function openSse(parts: RouteParts, { caller, request, response }: Routed): void {
  const { clients } = parts;
  if (!accepts(request, [EVENTS]))
    return refuse(response, { status: 406, reason: `it does not accept ${EVENTS}` });
  if (!clients.hasRoom(caller)) return refuse(response, TOO_MANY);
  const session = openSseSession(
    response,
    common(parts, caller, () => clients.remove(open)),
  );
  const { id, comment, end } = session;
  const open: Open = { id, kind: "sse", session, connections: () => 1, comment, end };
  clients.add(caller, open);
}

function postSse(
  parts: RouteParts,
  { caller, url, response }: Routed,
  message: PassedMessage,
): void {
  const open = parts.clients.find(caller, url.searchParams.get("sessionId") ?? "");
  if (open?.kind !== "sse") return refuse(response, NO_SESSION, idOf(message));
  const isFull = full(open.session);
  if (isFull !== undefined) return refuse(response, isFull, idOf(message));
  open.session.post(message, response);
}
