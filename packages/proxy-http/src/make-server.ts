/**
 * Make server: Node's HTTP server, set so that the proxy checks, refuses and times out, and answers
 * what the parser does not take. Every request goes to serve.ts.
 */
import { createServer, type IncomingMessage, type Server } from "node:http";
import { Socket } from "node:net";
import type { Connections } from "./connections.js";
import type { Arrived, ServeParts } from "./judging.js";
import type { ProxyLimits } from "./limits.js";
import { makeRefusal, type Refusal, refusalBytes } from "./refusals.js";
import { serveConnect, serveRequest, serveUpgrade } from "./serve.js";

/** What every connection is served with. */
export interface ServerParts {
  readonly serve: ServeParts;
  readonly connections: Connections;
}

/** Makes a server that does not listen yet. */
export function makeServer({ serve, connections }: ServerParts): Server {
  const { limits } = serve;
  const server = createServer({
    insecureHTTPParser: false,
    maxHeaderSize: limits.headBytesMax,
    // Checked by us, for an answer with a reason.
    requireHostHeader: false,
    // connections.ts keeps these times, also for sockets that were handed over, which Node's server
    // does not.
    headersTimeout: 0,
    requestTimeout: 0,
    keepAliveTimeout: 0,
  });
  // Ours refuses, see request-guard.ts; Node's drops.
  server.maxHeadersCount = 0;
  // Node's types lack it: a client that ended its side still gets its answer.
  Object.assign(server, { httpAllowHalfOpen: true });
  const arrived = (request: IncomingMessage): Arrived | undefined => {
    const connection = connections.of(request.socket);
    return connection === undefined ? undefined : { request, connection };
  };
  const onRequest: Parameters<typeof createServer>[1] = (request, response) => {
    const found = arrived(request);
    if (found === undefined) response.destroy();
    else void serveRequest(serve, found, response);
  };
  server.on("request", onRequest).on("checkContinue", onRequest).on("checkExpectation", onRequest);
  server.on("connect", (request, _socket, head) => {
    const found = arrived(request);
    if (found !== undefined) void serveConnect(serve, found, head);
  });
  server.on("upgrade", (request, _socket, head) => {
    const found = arrived(request);
    if (found !== undefined) void serveUpgrade(serve, found, head);
  });
  refuseUnparsed(server, { serve, connections });
  return server;
}

/** Answers a request that the parser does not take, and closes its connection. */
function refuseUnparsed(server: Server, { serve, connections }: ServerParts): void {
  const { limits, watch } = serve;
  const refused = new WeakSet<object>();
  server.on("clientError", (error, socket) => {
    if (refused.has(socket)) return;
    refused.add(socket);
    const refusal = refusalOf(error, limits);
    const connection = socket instanceof Socket ? connections.of(socket) : undefined;
    if (
      refusal === undefined ||
      connection === undefined ||
      connection.load() > 0 ||
      !socket.writable
    )
      return void socket.destroy();
    serve.count({ name: "refusals", by: 1, labels: { code: refusal.code } });
    serve.log({ level: "info", event: "refused", text: refusal.reason, code: refusal.code });
    socket.end(refusalBytes(refusal));
    // What it still sends is read and thrown away: a reset could overtake the answer.
    const unwatch = watch.add({
      progress: () => 0,
      idleMs: limits.lingerMs,
      onOver: () => void socket.destroy(),
    });
    socket.once("close", unwatch);
  });
}

/**
 * What a request is refused with that the parser does not take; `undefined` where the connection is
 * gone.
 */
function refusalOf(
  error: Error & { readonly code?: string; readonly reason?: unknown },
  { headBytesMax }: ProxyLimits,
): Refusal | undefined {
  const { code = "", reason } = error;
  if (code === "HPE_HEADER_OVERFLOW")
    return {
      ...makeRefusal("request_invalid", `the head has more than ${headBytesMax} bytes`),
      status: 431,
    };
  if (!code.startsWith("HPE_")) return undefined;
  const detail = typeof reason === "string" ? `: ${reason}` : "";
  return makeRefusal("request_invalid", `it is not strict HTTP/1.1 (${code}${detail})`);
}
