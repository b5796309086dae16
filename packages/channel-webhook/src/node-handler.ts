/**
 * NodeHandler: mounts a handler in node:http, Express, Connect: whatever calls `(request, response)`.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";

/** A function from request to response, as web-standard servers take it. */
export type FetchHandler = (request: Request) => Promise<Response>;

const BODYLESS: readonly string[] = ["GET", "HEAD"];

/** Only the path of what is asked for counts: nothing here trusts a Host header. */
function toRequest(incoming: IncomingMessage): Request {
  const { method = "GET", headers, url = "/" } = incoming;
  const given = new Headers();
  for (const [name, value] of Object.entries(headers))
    for (const each of typeof value === "string" ? [value] : (value ?? [])) given.append(name, each);
  const [path = "/"] = url.replace(/^https?:\/\/[^/?#]*/i, "").split(/[?#]/);
  // A path that starts with two slashes would be read as a host.
  const target = `http://localhost/${path.replace(/^\/+/, "")}`;
  if (BODYLESS.includes(method)) return new Request(target, { method, headers: given });
  return new Request(target, { method, headers: given, body: Readable.toWeb(incoming), duplex: "half" });
}

async function respond(handler: FetchHandler, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  // Somebody before us took the body, and what they made of it is no longer what was signed.
  if (incoming.readableEnded && !BODYLESS.includes(incoming.method ?? "GET")) {
    outgoing.writeHead(500, { "content-type": "text/plain" }).end("mount this handler before body parsers\n");
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
  const body = Buffer.from(await response.arrayBuffer());
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.end(incoming.method === "HEAD" ? undefined : body);
}

/**
 * A handler as `node:http` and Express call it. Mount it before anything that reads bodies.
 *
 * @example
 * ```ts
 * createServer(toNodeHandler(channel.handler)).listen(8080);
 * ```
 */
export function toNodeHandler(handler: FetchHandler): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  return (incoming, outgoing) => void respond(handler, incoming, outgoing).catch(() => outgoing.destroy());
}
