/**
 * A server for the official conformance suite of MCP, in both eras of the protocol: `fixture.mjs
 * http` prints its address, `fixture.mjs stdio` speaks on its pipes. What it says is in
 * fixture-tools.ts and fixture-prompts.ts; the SDK does the rest, so that our proxy stands before
 * somebody else's reading of the protocol.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import {
  NodeStreamableHTTPServerTransport,
  localhostHostValidation,
  localhostOriginValidation,
  toNodeHandler,
  toWebRequest,
} from "@modelcontextprotocol/node";
import {
  InMemoryServerEventBus,
  McpServer,
  ResourceTemplate,
  createMcpHandler,
  createRequestStateCodec,
  fromJsonSchema,
  isLegacyRequest,
} from "@modelcontextprotocol/server";
import type { EventStore } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { PICTURE } from "./fixture-content.js";
import { servePrompts } from "./fixture-prompts.js";
import { TOOLS } from "./fixture-tools.js";
import type { Hands } from "./fixture-tools.js";

const bus = new InMemoryServerEventBus();
const hands: Hands = {
  state: createRequestStateCodec({ key: randomBytes(32) }),
  change: (list) =>
    bus.publish({ kind: list === "tools" ? "tools_list_changed" : "prompts_list_changed" }),
};

function makeServer(): McpServer {
  const server = new McpServer(
    { name: "acp-conformance-fixture", version: "1.0.0" },
    {
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: true },
        logging: {},
        completions: {},
      },
      requestState: { verify: hands.state.verify },
      cacheHints: Object.fromEntries(
        ["tools/list", "prompts/list", "resources/list", "resources/templates/list"].map((list) => [
          list,
          { ttlMs: 300_000, cacheScope: "public" },
        ]),
      ),
    },
  );
  for (const [name, { description, inputSchema, run }] of Object.entries(TOOLS))
    server.registerTool(
      name,
      {
        description,
        inputSchema: fromJsonSchema<Record<string, unknown>>(
          inputSchema ?? { type: "object", properties: {} },
        ),
      },
      (args, context) => run(context, args, hands),
    );
  servePrompts(server.server);
  serveResources(server);
  return server;
}

function serveResources(server: McpServer): void {
  const add = (
    uri: string,
    mimeType: string,
    content: { readonly text: string } | { readonly blob: string },
  ): void => {
    const name = uri.replace("test://", "");
    server.registerResource(
      name,
      uri,
      { description: `The resource ${name}`, mimeType, cacheHint: { ttlMs: 300_000 } },
      () => ({ contents: [{ uri, mimeType, ...content }] }),
    );
  };
  add("test://static-text", "text/plain", {
    text: "This is the content of the static text resource.",
  });
  add("test://static-binary", "image/png", { blob: PICTURE });
  add("test://watched-resource", "text/plain", { text: "Watched resource content" });
  server.registerResource(
    "template",
    new ResourceTemplate("test://template/{id}/data", { list: undefined }),
    { description: "A resource for each id", mimeType: "application/json" },
    ({ href }, { id }) => ({
      contents: [
        {
          uri: href,
          mimeType: "application/json",
          text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` }),
        },
      ],
    }),
  );
  for (const method of ["resources/subscribe", "resources/unsubscribe"] as const)
    server.server.setRequestHandler(method, () => ({}));
}

/** What streams have said, for whoever comes back to one. */
function createEventStore(): EventStore {
  const events: { id: string; stream: string; message: Parameters<EventStore["storeEvent"]>[1] }[] =
    [];
  return {
    async storeEvent(stream, message) {
      const id = `${stream}.${events.length}`;
      events.push({ id, stream, message });
      return id;
    },
    async replayEventsAfter(lastId, { send }) {
      const last = events.findIndex(({ id }) => id === lastId);
      const stream = events[last]?.stream ?? "";
      // The event that only opened the stream holds nothing.
      for (const event of events.slice(last + 1))
        if (event.stream === stream && Object.keys(event.message).length > 0)
          await send(event.id, event.message);
      return stream;
    },
  };
}

/** Sessions of the revisions that have some. */
function createSessions(): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const sessions = new Map<string, NodeStreamableHTTPServerTransport>();
  const open = async (): Promise<NodeStreamableHTTPServerTransport> => {
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: createEventStore(),
      retryInterval: 50,
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    await makeServer().connect(transport);
    return transport;
  };
  return async (request, response) => {
    const id = request.headers["mcp-session-id"];
    const session = typeof id === "string" ? sessions.get(id) : undefined;
    if (id !== undefined && session === undefined) {
      const error = { code: -32001, message: "Session not found" };
      response.writeHead(404, { "content-type": "application/json" });
      response.end(JSON.stringify({ jsonrpc: "2.0", error, id: null }));
      return;
    }
    await (session ?? (await open())).handleRequest(request, response, bodies.get(request));
  };
}

const bodies = new WeakMap<IncomingMessage, unknown>();

/** The body, read once for both eras. */
async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    return undefined;
  }
}

/** A request that a server was sent; Node has one type for these and for answers. */
function isOfServer(
  request: IncomingMessage,
): request is IncomingMessage & { method: string; url: string } {
  return request.method !== undefined && request.url !== undefined;
}

function serveHttp(): void {
  const modern = toNodeHandler(createMcpHandler(makeServer, { legacy: "reject", bus }));
  const legacy = createSessions();
  const isLocal = [localhostHostValidation(), localhostOriginValidation()];
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (!isOfServer(request)) throw new Error("a request without a method");
    if (!isLocal.every((looksFine) => looksFine(request, response))) return;
    if (request.method === "POST") bodies.set(request, await readBody(request));
    const isOld = await isLegacyRequest(await toWebRequest(request, bodies.get(request)));
    await (isOld ? legacy(request, response) : modern(request, response, bodies.get(request)));
  };
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      response.destroy();
    });
  });
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    process.stdout.write(`http://127.0.0.1:${port}/mcp\n`);
  });
}

if (process.argv[2] === "http") serveHttp();
else serveStdio(makeServer);
