/** The SDK's client of the stateless era: to a listener over HTTP, and to a proxy on its streams. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, it, onTestFinished } from "vitest";
import { listening, TOKENS } from "./support/http-agent.js";
import { type Heard, inProcess } from "./support/in-process.js";
import { type HeldChannel, proxied } from "./support/proxied.js";
import { streamTransport } from "./support/sdk-client.js";

const POLICY = {
  version: "1",
  default: "deny",
  rules: [
    { match: { tool: "echo" }, action: "allow" },
    { match: { tool: "slow" }, action: "allow" },
    { match: { tool: "ask" }, action: "ask" },
  ],
};
const CACHED = { resultType: "complete", ttlMs: 0, cacheScope: "private" };
const RESULTS: Readonly<Record<string, object>> = {
  "server/discover": {
    ...CACHED,
    supportedVersions: ["2026-07-28"],
    capabilities: { tools: {} },
    serverInfo: { name: "fs", version: "1" },
  },
  "tools/list": {
    ...CACHED,
    tools: ["echo", "ask", "no", "slow"].map((name) => ({ name, inputSchema: { type: "object" } })),
  },
  "tools/call": { resultType: "complete", content: [{ type: "text", text: "done" }] },
};

/** A server of that era, which answers no call of `slow`. */
function modern() {
  return inProcess((heard, say) => {
    const result = heard.method === undefined ? undefined : RESULTS[heard.method];
    if (heard.params?.name !== "slow" && result !== undefined)
      say(JSON.stringify({ jsonrpc: "2.0", id: heard.id, result }));
    return true;
  });
}

interface World {
  readonly client: Client;
  readonly channel: HeldChannel;
  /** Methods and tools, as the server heard them. */
  readonly heard: () => readonly string[];
}

const newClient = (): Client =>
  new Client(
    { name: "t", version: "1" },
    { capabilities: {}, versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );

const heardBy = (server: ReturnType<typeof modern>) => (): readonly string[] =>
  server.lines.map((line) => {
    const { method = "", params } = JSON.parse(line) as Heard;
    return params?.name === undefined ? method : `${method} ${params.name}`;
  });

async function overHttp(change: (headers: Headers) => void = () => {}): Promise<World> {
  const server = modern();
  const at = await listening({ policy: POLICY, upstreams: [server.upstream] });
  const client = newClient();
  const transport = new StreamableHTTPClientTransport(new URL(`${at.url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${TOKENS.ada}` } },
    fetch(input, init) {
      const headers = new Headers(init?.headers);
      change(headers);
      return fetch(input, { ...init, headers });
    },
  });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return { client, channel: at.channel, heard: heardBy(server) };
}

async function overStreams(): Promise<World> {
  const server = modern();
  const { transport, input, output } = streamTransport();
  const p = proxied({ policy: POLICY, upstreams: [server.upstream], input, output });
  onTestFinished(() => p.proxy.close());
  const client = newClient();
  await client.connect(transport);
  onTestFinished(() => client.close());
  return { client, channel: p.channel, heard: heardBy(server) };
}

describe.each([
  ["over HTTP", overHttp],
  ["on streams", overStreams],
])("the SDK's client of the stateless era, %s", (_, open) => {
  it("lists tools, and has what is allowed done", async () => {
    const { client, heard } = await open();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["echo", "ask", "no", "slow"]);
    expect((await client.callTool({ name: "echo", arguments: {} })).content).toEqual([
      { type: "text", text: "done" },
    ]);
    expect(heard()).toContain("tools/call echo");
    expect(heard()).not.toContain("initialize");
  });

  it("is told by a result that a call is denied", async () => {
    const { client, heard } = await open();
    const { isError, content } = await client.callTool({ name: "no", arguments: {} });
    expect(isError).toBe(true);
    expect(JSON.stringify(content)).toContain("Not executed (policy_denied)");
    expect(heard()).not.toContain("tools/call no");
  });

  it("waits for a person, whose yes has it done", async () => {
    const { client, channel, heard } = await open();
    const called = client.callTool({ name: "ask", arguments: {} });
    const question = await channel.question(0);
    expect(heard()).not.toContain("tools/call ask");
    await question.approve();
    expect((await called).isError).not.toBe(true);
    expect(heard().filter((each) => each === "tools/call ask")).toHaveLength(1);
  });

  it("takes back a call that its server has", async () => {
    const { client, heard } = await open();
    const stop = new AbortController();
    const called = client.callTool({ name: "slow", arguments: {} }, { signal: stop.signal });
    const ended = called.then(
      () => "done",
      () => "taken back",
    );
    await expect.poll(heard).toContain("tools/call slow");
    stop.abort();
    expect(await ended).toBe("taken back");
    await expect.poll(heard).toContain("notifications/cancelled");
  });
});

it("a header of the SDK's client that does not say what the body says is refused", async () => {
  const { client, heard } = await overHttp((headers) => {
    if (headers.get("mcp-name") === "ask") headers.set("mcp-name", "echo");
  });
  await expect(client.callTool({ name: "ask", arguments: {} })).rejects.toThrow(/mismatch/u);
  expect(heard()).not.toContain("tools/call ask");
});
