/** An HTTP server that says what a test wants, and keeps what it was asked. */
import { createServer } from "node:http";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The message; `undefined` where the body is none. */
  readonly message: {
    readonly id?: string | number;
    readonly method?: string;
    readonly params?: { readonly name?: string };
  };
}

export interface WebServer extends AsyncDisposable {
  readonly url: string;
  readonly origin: string;
  readonly asked: readonly Asked[];
}

export type Handler = (asked: Asked, response: ServerResponse) => unknown;

/** @param handle - Answers; what it leaves open the client waits for. */
export async function webServer(handle: Handler): Promise<WebServer> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString("utf8");
      const { method = "", url = "", headers } = request;
      const one: Asked = { method, url, headers, body, message: messageOf(body) };
      asked.push(one);
      void handle(one, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  return {
    url: `${origin}/mcp`,
    origin,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function messageOf(body: string): Asked["message"] {
  try {
    return JSON.parse(body) as Asked["message"];
  } catch {
    return {};
  }
}

/** Answers with JSON. */
export function json(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}

/** Begins a stream of events. */
export function events(response: ServerResponse, headers = {}): void {
  response.writeHead(200, { "content-type": "text/event-stream", ...headers });
  response.flushHeaders();
}

/** A server of one tool, `echo`, which answers every request; what a test changes comes first. */
export function echoServer(special: (asked: Asked, response: ServerResponse) => boolean): Handler {
  return (asked, response) => {
    if (special(asked, response)) return;
    const { id, method } = asked.message;
    if (asked.method === "DELETE") return void response.writeHead(204).end();
    if (asked.method === "GET") return void response.writeHead(405).end();
    if (id === undefined) return void response.writeHead(202).end();
    const results: Readonly<Record<string, unknown>> = {
      initialize: {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "web", version: "1" },
      },
      "tools/list": { tools: [{ name: "echo", inputSchema: { type: "object" } }] },
      "tools/call": { content: [{ type: "text", text: "done" }] },
    };
    const headers = method === "initialize" ? { "mcp-session-id": "s-1" } : {};
    json(response, 200, { jsonrpc: "2.0", id, result: results[method ?? ""] ?? {} }, headers);
  };
}
