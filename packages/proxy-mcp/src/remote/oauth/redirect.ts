/**
 * Redirect: where the browser comes back to after a sign-in. A port of this machine, a path that
 * nobody can guess, and one use. Source: RFC 8252 §7.3, §8.3.
 */
import { randomBytes, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { asError, ConsentError } from "@acp/core";

/** A listener that waits for one answer. */
export interface Redirect extends AsyncDisposable {
  /** What the authorization server sends the browser back to. */
  readonly uri: string;
  /** Resolves with the answer that has this state. Any other is turned away, and the wait goes on. */
  answer(state: string, signal: AbortSignal): Promise<URL>;
}

const HOST = "127.0.0.1";
const PATH_BYTES = 24;
const CONNECTIONS_MAX = 16;
const PAGE = (text: string): string =>
  `<!doctype html><meta charset="utf-8"><title>ACP</title><p>${text}</p>\n`;

/**
 * Listens.
 *
 * @param registered - The address that a client was registered with; its port may be left out.
 * @throws ConsentError `options_invalid` where the port is taken.
 */
export async function openRedirect(registered?: URL): Promise<Redirect> {
  const host = registered?.hostname ?? HOST;
  const server = createServer({ requestTimeout: 10_000 });
  server.maxConnections = CONNECTIONS_MAX;
  const port = await listen(server, Number(registered?.port ?? ""));
  const path = registered?.pathname ?? `/${randomBytes(PATH_BYTES).toString("base64url")}`;
  const uri = `http://${host}:${port}${path}`;
  return {
    uri,
    answer: (state, signal) => answered(server, { uri: new URL(uri), state, signal }),
    async [Symbol.asyncDispose]() {
      server.closeIdleConnections();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

async function listen(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) =>
      reject(
        new ConsentError(
          "options_invalid",
          `Cannot wait for the sign-in on port ${port}: ${asError(error).message}`,
        ),
      ),
    );
    server.listen(port, HOST, resolve);
  });
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : port;
}

interface Awaited {
  readonly uri: URL;
  readonly state: string;
  readonly signal: AbortSignal;
}

function answered(server: Server, { uri, state, signal }: Awaited): Promise<URL> {
  let strangers = 0;
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      const others =
        strangers === 0
          ? ""
          : `; ${strangers} answers that were for no sign-in of ours were turned away`;
      reject(
        new ConsentError(
          signal.reason instanceof Error && signal.reason.name === "TimeoutError"
            ? "part_timeout"
            : "aborted",
          `Cannot sign in: nobody did in time, or it was stopped${others}`,
        ),
      );
    };
    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop, { once: true });
    server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      const asked = readRequest(request, uri);
      if (asked === undefined) return say(response, 404, "There is nothing here.");
      const states = asked.searchParams.getAll("state");
      if (states.length !== 1 || !isEqual(states[0] ?? "", state)) {
        strangers++;
        return say(response, 400, "This answer belongs to no sign-in that is under way.");
      }
      say(response, 200, "You can close this window. The terminal says how it went.");
      signal.removeEventListener("abort", stop);
      server.removeAllListeners("request");
      server.on("request", (_request, late: ServerResponse) => say(late, 404, "It is over."));
      resolve(asked);
    });
  });
}

/** A page of another name that reaches this port (DNS rebinding) is not the authorization server. */
function readRequest({ method, url = "", headers }: IncomingMessage, uri: URL): URL | undefined {
  if (method !== "GET" || headers.host !== uri.host || !URL.canParse(url, uri.href))
    return undefined;
  const asked = new URL(url, uri);
  return asked.pathname === uri.pathname ? asked : undefined;
}

function isEqual(text: string, expected: string): boolean {
  const [a, b] = [Buffer.from(text), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Never with a word of the request. */
function say(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    connection: "close",
  });
  response.end(PAGE(text));
}
