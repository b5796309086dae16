/**
 * Exchange: one HTTP request to a remote server and its response. No redirect is followed, because
 * it could carry a token elsewhere, and nothing times out by itself, because a person may be asked on
 * the other side. Source: RFC 9110.
 */
import { Agent as HttpAgent, request as requestHttp } from "node:http";
import type { IncomingHttpHeaders } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import type { Readable } from "node:stream";

/** What is sent. */
export interface ExchangeParts {
  readonly method: "POST" | "GET" | "DELETE";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  /** Told when all of it went to the connection. */
  readonly onSent?: () => void;
  /** Ends it; what has come so far stays readable. */
  readonly signal: AbortSignal;
  /** Whose connections it uses; where all are in use it waits. Default: one of its own. */
  readonly agent?: HttpAgent;
}

/** So many connections to one server; whoever needs more waits. */
export function connectionsTo(url: URL, maxSockets: number): HttpAgent {
  const options = { keepAlive: true, maxSockets };
  return url.protocol === "https:" ? new HttpsAgent(options) : new HttpAgent(options);
}

/** What came back. */
export interface Exchanged {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readable;
}

/** A request that the server cannot have taken, because no connection to it came about. */
export class UnreachedError extends Error {
  override readonly name = "UnreachedError";
}

/**
 * Sends a request.
 *
 * @throws UnreachedError where there was no connection; Error where it broke: then nobody knows
 *   whether the server took it.
 */
export function exchange(
  url: URL,
  { method, headers, body, signal, agent, onSent = () => {} }: ExchangeParts,
): Promise<Exchanged> {
  const start = url.protocol === "https:" ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    let isConnected = false;
    const sent = start(url, {
      method,
      headers: {
        ...headers,
        ...(body !== undefined && { "content-length": String(body.length) }),
      },
      signal,
      ...(agent !== undefined && { agent }),
    });
    sent.on("socket", (socket) => {
      const onConnected = (): void => void (isConnected = true);
      if (!socket.connecting) onConnected();
      else socket.once(url.protocol === "https:" ? "secureConnect" : "connect", onConnected);
    });
    sent.on("finish", onSent);
    sent.on("error", (error) =>
      reject(isConnected ? error : new UnreachedError(error.message, { cause: error })),
    );
    sent.on("response", (response) =>
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: response }),
    );
    sent.end(body);
  });
}

/** Type of a response's body, without parameters. */
export function contentType({ headers }: Pick<Exchanged, "headers">): string {
  return (headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/**
 * All of a body; `undefined` where it is longer than `bytesMax`. What is left is thrown away.
 *
 * @param onChunk - Told how much came; what comes next waits for it.
 * @throws Error where the connection breaks first.
 */
export async function wholeBody(
  body: Readable,
  bytesMax: number,
  onChunk: (bytes: number) => Promise<void> | undefined = () => undefined,
): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    await onChunk(chunk.length);
    if (size > bytesMax) {
      body.destroy();
      return undefined;
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
