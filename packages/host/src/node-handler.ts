/**
 * Node handler: mounts a web-standard handler in node:http, node:http2, Express, Connect: in
 * whatever calls `(request, response)`. Streams are passed on piece by piece, as fast as their
 * reader reads, and end when the reader is gone.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";

/** A function from request to response, the shape that web-standard servers take. */
export type FetchHandler = (request: Request) => Promise<Response>;

/**
 * How long a connection may stand still while it is written to: streams say something every 15
 * seconds.
 */
const STILL_MS = 120_000;
const BODYLESS: readonly string[] = ["GET", "HEAD"];
/** Where a request that names no host was sent. */
const NO_HOST = "host.invalid";

function headersOf(incoming: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    // HTTP/2 says so instead of `host`.
    const key = name === ":authority" ? "host" : name;
    if (key.startsWith(":") || (name === ":authority" && incoming.headers.host !== undefined))
      continue;
    for (const each of typeof value === "string" ? [value] : (value ?? []))
      headers.append(key, each);
  }
  return headers;
}

/** The `Host` header is handed on as it came; what is asked for adds only a path and a query. */
function toRequest(incoming: IncomingMessage): Request {
  const { method = "GET", url = "/" } = incoming;
  const path = url.replace(/^https?:\/\/[^/?#]*/i, "");
  // A path that starts with two slashes would be read as a host.
  const target = `http://${NO_HOST}/${path.replace(/^\/+/, "")}`;
  const headers = headersOf(incoming);
  if (BODYLESS.includes(method)) return new Request(target, { method, headers });
  return new Request(target, { method, headers, body: Readable.toWeb(incoming), duplex: "half" });
}

function whenDrained(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      outgoing.off("drain", go);
      outgoing.off("close", go);
      resolve();
    };
    outgoing.on("drain", go);
    outgoing.on("close", go);
  });
}

async function send(response: Response, outgoing: ServerResponse): Promise<void> {
  const reader = response.body?.getReader();
  const stop = (): void => void reader?.cancel().catch(() => undefined);
  outgoing.once("close", stop);
  if (outgoing.destroyed) return stop();
  outgoing.setTimeout(STILL_MS, () => outgoing.destroy());
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  for (
    let next = await reader?.read();
    next !== undefined && !next.done;
    next = await reader?.read()
  ) {
    if (!outgoing.write(next.value) && !outgoing.destroyed) await whenDrained(outgoing);
  }
  outgoing.end();
}

async function respond(
  handler: FetchHandler,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  // A body parser in front of us took the body; what it made of it is no longer what was signed.
  if (incoming.readableEnded && !BODYLESS.includes(incoming.method ?? "GET")) {
    outgoing
      .writeHead(500, { "content-type": "text/plain" })
      .end("mount this handler before body parsers\n");
    return;
  }
  let request: Request;
  try {
    request = toRequest(incoming);
  } catch {
    outgoing.writeHead(400, { connection: "close" }).end();
    return;
  }
  const response = await handler(request);
  // Of a body that was not read to its end the rest is not waited for.
  if (!incoming.complete && incoming.httpVersionMajor === 1)
    outgoing.setHeader("connection", "close");
  await send(response, outgoing);
}

/**
 * Turns a web-standard handler into one that `node:http`, `node:http2`, Express and Connect can
 * call. Mount it before anything that reads bodies: a request whose body was read already gets 500.
 * A request that cannot be read gets 400. If the handler rejects, the connection is closed.
 *
 * @example
 * ```ts
 * import { createServer } from "node:http";
 * import { toNodeHandler } from "@acp/host";
 *
 * const handler = async (request: Request) => new Response(`hello, ${request.url}`);
 * createServer(toNodeHandler(handler)).listen(8789, "127.0.0.1");
 * ```
 */
export function toNodeHandler(
  handler: FetchHandler,
): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  return (incoming, outgoing) =>
    void respond(handler, incoming, outgoing).catch(() => outgoing.destroy());
}
