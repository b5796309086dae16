/** What reaches the effect of a call by another request, of the built `acp mcp` before a real server. */
import { mkdir, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import {
  StdioClientTransport,
  getDefaultEnvironment,
} from "@modelcontextprotocol/sdk/client/stdio.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, it } from "vitest";
import { readAuditLog } from "@acp/audit";
import { BIN, acp, scratch } from "./harness.js";
import type { Scratch } from "./harness.js";
import { answering } from "./mcp-client.js";

const require = createRequire(new URL("../../proxy-mcp/package.json", import.meta.url));
const EVERYTHING = join(
  dirname(require.resolve("@modelcontextprotocol/server-everything/package.json")),
  "dist/index.js",
);
const DOCUMENT = "demo://resource/static/document/architecture.md";

interface World extends Scratch {
  readonly home: string;
}

/** A home as `acp init` makes it, or with a policy of its own. */
async function world(policy?: string): Promise<World> {
  const at = await scratch();
  const home = join(at.path, "h");
  if (policy === undefined) {
    expect((await acp(["init", "--home", home])).code).toBe(0);
  } else {
    await mkdir(home, { mode: 0o700 });
    await writeFile(join(home, "policy.yml"), policy, { mode: 0o600 });
  }
  return { ...at, home };
}

interface Session extends AsyncDisposable {
  readonly client: Client;
  /** What the server asked of this client. */
  readonly asked: readonly string[];
}

/** A client that answers whatever a server asks. */
async function session({ home, path }: World): Promise<Session> {
  const asked: string[] = [];
  const client = new Client(
    { name: "acp-test", version: "1" },
    { capabilities: { roots: {}, sampling: {}, elicitation: {} } },
  );
  client.setRequestHandler(ListRootsRequestSchema, () => {
    asked.push("roots");
    return { roots: [{ uri: `file://${path}` }] };
  });
  client.setRequestHandler(CreateMessageRequestSchema, () => {
    asked.push("sampling");
    return { role: "assistant", content: { type: "text", text: "sampled" }, model: "m" };
  });
  client.setRequestHandler(ElicitRequestSchema, () => {
    asked.push("elicitation");
    return { action: "cancel" };
  });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [BIN, "mcp", "--home", home, "--", process.execPath, EVERYTHING, "stdio"],
      cwd: path,
      env: { ...getDefaultEnvironment(), ACP_ALONE: "1" },
      stderr: "ignore",
    }),
  );
  return { client, asked, [Symbol.asyncDispose]: () => client.close() };
}

/** Reads, and nothing else. */
const READS: readonly ((client: Client) => Promise<unknown>)[] = [
  (client) => client.readResource({ uri: DOCUMENT }),
  (client) => client.subscribeResource({ uri: DOCUMENT }),
  (client) => client.getPrompt({ name: "simple-prompt" }),
  (client) => client.getPrompt({ name: "args-prompt", arguments: { city: "Bern" } }),
  (client) =>
    client.complete({
      ref: { type: "ref/prompt", name: "completable-prompt" },
      argument: { name: "department", value: "E" },
    }),
];

async function toolsOf(home: string, type: string): Promise<readonly string[]> {
  const tools: string[] = [];
  for await (const { eventType, tool } of readAuditLog(join(home, "audit.jsonl")))
    if (eventType === type) tools.push(tool);
  return tools;
}

describe("acp mcp before server-everything", () => {
  it("asks nothing for reads under the policy of acp init, tells roots, and asks about sampling and elicitation", async () => {
    await using at = await world();
    await using one = await session(at);
    const { client } = one;
    await client.listResources();
    for (const read of READS) expect(await read(client)).toBeDefined();
    expect(
      (await client.callTool({ name: "get-roots-list", arguments: {} })).content,
    ).toMatchObject([{ text: expect.stringContaining(at.path) }]);
    expect(await toolsOf(at.home, "consent_requested")).toEqual([]);
    const asked: string[] = [];
    const result = await answering(
      at.home,
      ({ action }) => {
        asked.push(action.tool);
        return { decision: "approved" };
      },
      async () => [
        await client.callTool({ name: "trigger-sampling-request", arguments: { prompt: "hi" } }),
        await client.callTool({ name: "trigger-elicitation-request", arguments: {} }),
      ],
    );
    expect(JSON.stringify(result)).toContain("sampled");
    expect(asked).toEqual([
      "trigger-sampling-request",
      "mcp:sampling/createMessage",
      "trigger-elicitation-request",
      "mcp:elicitation/create",
    ]);
    expect(one.asked).toEqual(["roots", "sampling", "elicitation"]);
    expect(await toolsOf(at.home, "tool_call_forwarded")).toEqual(
      expect.arrayContaining(["mcp:resources/read", "mcp:prompts/get", "mcp:roots/list"]),
    );
  });

  it.each([
    ["denies everything", "default: deny"],
    [
      "allows one tool",
      "default: deny\nrules:\n  - match: { tool: trigger-sampling-request }\n    action: allow",
    ],
  ])("lets nothing of it through where the policy %s", async (_, rules) => {
    await using at = await world(`version: "1"\n${rules}\n`);
    await using one = await session(at);
    expect((await one.client.listResources()).resources.length).toBeGreaterThan(0);
    for (const read of READS)
      await expect(read(one.client)).rejects.toMatchObject({
        code: -1,
        data: { code: "policy_denied" },
      });
    await one.client.callTool({ name: "trigger-sampling-request", arguments: { prompt: "hi" } });
    expect(one.asked).toEqual([]);
  });

  it("keeps the home's own files from reads of resources, whatever the policy allows", async () => {
    await using at = await world('version: "1"\ndefault: allow\n');
    await using one = await session(at);
    await expect(
      one.client.readResource({ uri: `file://${at.home}/policy.yml` }),
    ).rejects.toMatchObject({ code: -1, data: { ruleId: "guard:acp-home" } });
  });
});
