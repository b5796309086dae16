/**
 * `acp mcp serve`, with a gate of its own and as a client of the resident: the configuration of the
 * specification, a real client, and what is refused.
 */
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { expect, it, onTestFinished } from "vitest";
import { RESIDENT, acp, scratch, startAcp } from "./harness.js";
import { listen } from "./http-world.js";
import { fileServer } from "./mcp-client.js";

/** A remote server of one tool. */
async function remote(): Promise<number> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      if (request.method !== "POST") return response.writeHead(405).end();
      const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString());
      if (id === undefined) return response.writeHead(202).end();
      const results: Readonly<Record<string, unknown>> = {
        initialize: {
          protocolVersion: params?.protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: "github", version: "1" },
        },
        "tools/list": { tools: [{ name: "issues", inputSchema: { type: "object" } }] },
        "tools/call": { content: [{ type: "text", text: "issue 1" }] },
      };
      response.writeHead(200, { "content-type": "application/json" });
      return response.end(JSON.stringify({ jsonrpc: "2.0", id, result: results[method] ?? {} }));
    });
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return listen(server);
}

async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

it.each([
  ["alone", {}],
  ["by the resident", RESIDENT],
])(
  "starts as the specification's configuration says, and serves two agents (%s)",
  async (_, env) => {
    await using at = await scratch();
    const home = join(at.path, "home");
    expect(await acp(["init"], { home })).toMatchObject({ code: 0 });
    const port = await freePort();
    const files = fileServer(at.path);
    // The ACP specification v0.2 §8.1, with the ports and the folder of this test.
    await writeFile(
      join(home, "config.yml"),
      `version: "1"
channel: prompt
proxy:
  port: ${port}
  upstream_servers:
    - name: "default"
      command: ${JSON.stringify(files.map((word) => JSON.stringify(word)).join(" "))}
    - name: "github"
      url: "http://localhost:${await remote()}"
defaults:
  timeout_seconds: 120
  policy: "${home}/policy.yml"
`,
      { mode: 0o600 },
    );
    await writeFile(
      join(home, "policy.yml"),
      'version: "1"\ndefault_action: deny\nrules:\n  - { match: { server: github }, action: allow }\n',
      { mode: 0o600 },
    );
    const policy = 'version: "1"\ndefault_action: deny\n';
    await writeFile(join(home, "bob.yml"), policy, { mode: 0o600 });
    const bob = "token-of-bob-0123456789";
    await writeFile(join(home, "mcp-tokens"), `bob ${bob} bob.yml\n`, { mode: 0o600 });
    const running = startAcp(["mcp", "serve", "--home", home, "--agent", "ada"], {
      env: { ...env, ACP_HOME: home },
    });
    onTestFinished(() => running[Symbol.asyncDispose]());
    await running.seen("stdout", `http://127.0.0.1:${port}/mcp`);
    const tokenOf = async (agent: string): Promise<string> =>
      (await acp(["mcp", "token", agent], { home })).stdout.trim();
    const call = async (agent: string): Promise<unknown> => {
      const headers = { authorization: `Bearer ${await tokenOf(agent)}` };
      const client = new Client({ name: agent, version: "1" });
      const url = new URL(`http://127.0.0.1:${port}/mcp`);
      const transport = new StreamableHTTPClientTransport(url, { requestInit: { headers } });
      await client.connect(transport);
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toContain("github__issues");
      expect(tools.some(({ name }) => name.startsWith("default__"))).toBe(true);
      const { content } = await client.callTool({ name: "github__issues", arguments: {} });
      await transport.terminateSession();
      await client.close();
      return content;
    };
    expect(JSON.stringify(await call("ada"))).toContain("issue 1");
    expect(JSON.stringify(await call("bob"))).toContain("Not executed");
    const { status } = await fetch(`http://127.0.0.1:${port}/mcp`, { method: "POST", body: "{}" });
    expect(status).toBe(401);
    const tokens = [await tokenOf("ada"), await tokenOf("bob")];
    const log = await readFile(join(home, "audit.jsonl"), "utf8");
    for (const token of tokens)
      expect([running.stdout(), running.stderr(), log].join("\n")).not.toContain(token);
    expect(log).toContain('"bob"');
    running.child.kill("SIGTERM");
    expect((await running.ended).code).toBe(0);
    if (env === RESIDENT) await acp(["resident", "stop"], { home });
  },
);
