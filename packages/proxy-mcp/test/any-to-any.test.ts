/** Every way in to every way out, in both eras: the handshake, a list and a call. */
import type { ServerResponse } from "node:http";
import { Client as ModernClient } from "@modelcontextprotocol/client";
import { StreamableHTTPClientTransport as ModernTransport } from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { expect, it, onTestFinished } from "vitest";
import type { UpstreamConfig } from "../src/index.js";
import { listening, TOKENS } from "./support/http-agent.js";
import { inProcess } from "./support/in-process.js";
import { ALLOW_ALL, proxied } from "./support/proxied.js";
import { streamTransport } from "./support/sdk-client.js";
import { events, json, webServer } from "./support/web-server.js";
import type { WebServer } from "./support/web-server.js";

const TOOL = { name: "echo", inputSchema: { type: "object" } };
const DONE = [{ type: "text", text: "done" }];
const CACHED = { resultType: "complete", ttlMs: 0, cacheScope: "private" };
const own = { serverInfo: { name: "fs", version: "1" }, capabilities: { tools: {} } };
const RESULTS: Readonly<Record<string, Readonly<Record<string, object>>>> = {
  sessions: {
    initialize: { ...own, protocolVersion: "2025-11-25" },
    "tools/list": { tools: [TOOL] },
    "tools/call": { content: DONE },
  },
  none: {
    "server/discover": { ...own, ...CACHED, supportedVersions: ["2026-07-28"] },
    "tools/list": { ...CACHED, tools: [TOOL] },
    "tools/call": { resultType: "complete", content: DONE },
  },
};

type Era = "sessions" | "none";
interface Message {
  readonly id?: string | number;
  readonly method?: string;
}

/** The answer to a message; `undefined` where it wants none. */
function answerTo(era: Era, { id, method = "" }: Message): object | undefined {
  if (id === undefined) return undefined;
  const result = RESULTS[era]?.[method];
  const error = { code: -32_601, message: "Method not found" };
  return { jsonrpc: "2.0", id, ...(result === undefined ? { error } : { result }) };
}

async function remote(handle: Parameters<typeof webServer>[0]): Promise<WebServer> {
  const server = await webServer(handle);
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

const SERVERS: Readonly<Record<string, (era: Era) => Promise<UpstreamConfig>>> = {
  async stdio(era) {
    return inProcess((heard, say) => {
      const answer = answerTo(era, heard);
      if (answer !== undefined) say(JSON.stringify(answer));
      return true;
    }).upstream;
  },
  async "Streamable HTTP"(era) {
    const { url } = await remote(({ method, message }, response) => {
      const answer = answerTo(era, message);
      if (method === "DELETE") return response.writeHead(204).end();
      if (method === "GET") return response.writeHead(405).end();
      if (answer === undefined) return response.writeHead(202).end();
      if (message.method !== "tools/call") return json(response, 200, answer);
      events(response);
      return response.end(`data: ${JSON.stringify(answer)}\n\n`);
    });
    return { name: "fs", url };
  },
  async "HTTP+SSE"(era) {
    let stream: ServerResponse | undefined;
    const { url } = await remote(({ method, url: path, message }, response) => {
      if (method === "GET") {
        stream = response;
        events(response);
        return response.write("event: endpoint\ndata: /post\n\n");
      }
      if (path !== "/post") return response.writeHead(405).end();
      const answer = answerTo(era, message);
      if (answer !== undefined) stream?.write(`data: ${JSON.stringify(answer)}\n\n`);
      return response.writeHead(202).end();
    });
    return { name: "fs", url };
  },
};

const info = { name: "t", version: "1" };
const requestInit = { headers: { authorization: `Bearer ${TOKENS.ada}` } };

interface Agent {
  listTools(): Promise<{ readonly tools: readonly { readonly name: string }[] }>;
  callTool(call: object): Promise<object>;
  close(): Promise<void>;
}

function onStreams(upstream: UpstreamConfig): ReturnType<typeof streamTransport>["transport"] {
  const { transport, input, output } = streamTransport();
  const p = proxied({ policy: ALLOW_ALL, upstreams: [upstream], input, output });
  onTestFinished(() => p.proxy.close());
  return transport;
}

const overHttp = async (upstream: UpstreamConfig): Promise<string> =>
  (await listening({ upstreams: [upstream] })).url;

const AGENTS: Readonly<
  Record<Era, Readonly<Record<string, (up: UpstreamConfig) => Promise<Agent>>>>
> = {
  sessions: {
    async stdio(upstream) {
      const client = new Client(info);
      await client.connect(onStreams(upstream));
      return client;
    },
    async "Streamable HTTP"(upstream) {
      const client = new Client(info);
      const url = new URL(`${await overHttp(upstream)}/mcp`);
      await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
      return client;
    },
    async "HTTP+SSE"(upstream) {
      const client = new Client(info);
      const eventSourceInit = {
        fetch: (url: string | URL, init?: RequestInit) =>
          fetch(url, { ...init, headers: { ...init?.headers, ...requestInit.headers } }),
      };
      const url = new URL(`${await overHttp(upstream)}/sse`);
      await client.connect(new SSEClientTransport(url, { requestInit, eventSourceInit }));
      return client;
    },
  },
  none: {
    async stdio(upstream) {
      const client = modern();
      await client.connect(onStreams(upstream));
      return client;
    },
    async "Streamable HTTP"(upstream) {
      const client = modern();
      const url = new URL(`${await overHttp(upstream)}/mcp`);
      await client.connect(new ModernTransport(url, { requestInit }));
      return client;
    },
  },
};

const modern = (): ModernClient =>
  new ModernClient(info, { versionNegotiation: { mode: { pin: "2026-07-28" } } });

const CELLS = (["sessions", "none"] as const).flatMap((era) =>
  Object.entries(AGENTS[era]).flatMap(([from, agent]) =>
    Object.entries(SERVERS)
      // HTTP+SSE is a transport of sessions.
      .filter(([to]) => era === "sessions" || to !== "HTTP+SSE")
      .map(([to, server]) => [from, to, era, agent, server] as const),
  ),
);

it.each(CELLS)("from %s to %s, sessions: %s", async (_from, _to, era, agent, server) => {
  const client = await agent(await server(era));
  onTestFinished(() => client.close());
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["echo"]);
  const result = await client.callTool({ name: "echo", arguments: {} });
  expect(result).toMatchObject({ content: DONE });
});

it("has a test for each cell", () => {
  expect(CELLS).toHaveLength(3 * 3 + 2 * 2);
});
