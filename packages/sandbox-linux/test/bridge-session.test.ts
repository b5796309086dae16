/**
 * An agent's MCP client, the bridge that it starts, both proxies and a server: the whole way that a
 * tool call takes out of a sandbox, but for the boundary itself. The listener stands for the one
 * that a sandbox hands out.
 */
import { createServer } from "node:net";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { memoryAuditSink } from "@acp/audit";
import { createConsentGate } from "@acp/core";
import { parsePolicy } from "@acp/core/policy";
import { createHttpConsentProxy } from "@acp/proxy-http";
import { createMcpSessions } from "@acp/proxy-mcp";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { describe, expect, it } from "vitest";
import { insideFile, later, until } from "./bridge-kit.js";

const AGENT = { id: "sandboxed" };
const SERVER = [
  process.execPath,
  fileURLToPath(new URL("fixtures/mcp-server.mjs", import.meta.url)),
];
const POLICY = parsePolicy({
  version: "1",
  default: "deny",
  rules: [{ match: { tool: "echo" }, action: "allow" }],
});

interface World {
  readonly port: number;
  readonly audit: ReturnType<typeof memoryAuditSink>;
  /** Open connections of the agent. */
  readonly connections: () => number;
  /** A client as an agent has it, and its bridge's stderr. */
  client(): Promise<{ readonly client: Client; readonly stderr: () => string }>;
}

async function world(sessionsMax = 8): Promise<World> {
  const audit = memoryAuditSink();
  const nobody = { name: "nobody", deliver: () => Promise.reject(new Error("nobody is there")) };
  const gate = createConsentGate({ policy: POLICY, audit, channel: nobody });
  const sessions = createMcpSessions({
    gate,
    upstreams: [{ name: "fs", command: SERVER }],
    log: () => {},
    sessionsMax,
  });
  const proxy = createHttpConsentProxy({
    gate,
    internal: { "mcp.acp.internal:1": (socket, caller) => sessions.serve(socket, caller) },
  });
  later(() => Promise.all([proxy.close(), sessions.close()]));
  let open = 0;
  const listener = createServer({ pauseOnConnect: true }, (socket) => {
    open++;
    socket.once("close", () => open--);
    proxy.attach(socket, { agent: AGENT });
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  later(() => listener.close());
  const address = listener.address();
  if (typeof address !== "object" || address === null) throw new Error("unreachable");
  const { port } = address;
  const client: World["client"] = async () => {
    const transport = new StdioClientTransport({
      command: insideFile("acp-mcp-bridge"),
      env: { ACP_PROXY_PORT: String(port) },
      stderr: "pipe",
    });
    let stderr = "";
    transport.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    const connecting = new Client({ name: "agent", version: "1" });
    later(() => connecting.close());
    await connecting.connect(transport);
    return { client: connecting, stderr: () => stderr };
  };
  return { port, audit, connections: () => open, client };
}

describe("an MCP client inside", () => {
  it("calls tools through the bridge, each judged, and leaves nothing behind", async () => {
    const { client: start, audit, connections } = await world();
    const { client, stderr } = await start();
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["echo", "repeat"]);
    const text = "x".repeat(1_000_000);
    expect(await client.callTool({ name: "echo", arguments: { text } })).toMatchObject({
      content: [{ type: "text", text }],
    });
    expect(await client.callTool({ name: "repeat", arguments: { count: 3 } })).toMatchObject({
      isError: true,
    });
    const judged = audit
      .events()
      .filter(({ eventType }) => /policy_evaluated|forwarded/.test(eventType));
    expect(judged.map(({ agent, eventType }) => `${agent} ${eventType}`)).toEqual([
      "sandboxed policy_evaluated",
      "sandboxed tool_call_forwarded",
      "sandboxed policy_evaluated",
    ]);
    await client.close();
    await until(() => connections() === 0, "for the connection to end");
    expect(stderr()).toBe("");
  });

  it("has several sessions, and is told where there are too many", async () => {
    const { client: start } = await world(2);
    const [first, second] = [await start(), await start()];
    await expect(start()).rejects.toThrow(
      "Cannot open a session: the agent has 2 sessions already",
    );
    for (const { client } of [first, second])
      expect((await client.listTools()).tools).toHaveLength(2);
  });
});
