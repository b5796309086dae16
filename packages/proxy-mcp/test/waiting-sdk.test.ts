/** Real clients of both lines of the SDK, and how they get from a question to its answer. */
import { Client as ModernClient } from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import {
  ElicitationCompleteNotificationSchema,
  ElicitRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Heard, inProcess } from "./support/in-process.js";
import { ASK_ALL, type Proxied, proxied } from "./support/proxied.js";
import { streamTransport } from "./support/sdk-client.js";
import { addressOf, ORIGIN, URL_MODE } from "./support/waiting-world.js";

const info = { name: "t", version: "1" };
const called = { name: "echo", arguments: { text: "x" } };
/** What a server of the stateless era says of itself. */
const discovered = {
  resultType: "complete",
  supportedVersions: ["2026-07-28"],
  capabilities: { tools: {} },
  serverInfo: { name: "fs", version: "1" },
  ttlMs: 0,
  cacheScope: "private",
};

function world(): {
  readonly p: Proxied;
  readonly transport: ReturnType<typeof streamTransport>["transport"];
  readonly calls: () => number;
} {
  const server = inProcess((heard, say) => {
    const results: Readonly<Record<string, object>> = {
      initialize: {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {}, tasks: { requests: { tools: { call: {} } } } },
        serverInfo: { name: "fs", version: "1" },
      },
      "server/discover": discovered,
      "tools/list": {
        resultType: "complete",
        ttlMs: 0,
        cacheScope: "private",
        tools: [{ name: "echo", inputSchema: { type: "object" } }],
      },
      "tools/call": { resultType: "complete", content: [{ type: "text", text: "done" }] },
    };
    const result = heard.method === undefined ? undefined : results[heard.method];
    if (result === undefined) return undefined;
    say(JSON.stringify({ jsonrpc: "2.0", id: heard.id, result }));
    return true;
  });
  const { transport, input, output } = streamTransport();
  const upstreams = [server.upstream];
  const answerAddress = addressOf;
  const p = proxied({ policy: ASK_ALL, upstreams, input, output, answerAddress });
  onTestFinished(() => p.proxy.close());
  const calls = (): number =>
    server.lines.filter((line) => (JSON.parse(line) as Heard).method === "tools/call").length;
  return { p, transport, calls };
}

describe("the SDK's client", () => {
  it("of the line with sessions shows the page, hears that it is over, and gets the result", async () => {
    const { p, transport, calls } = world();
    const client = new Client(info, { capabilities: URL_MODE });
    const shown: unknown[] = [];
    const over: unknown[] = [];
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      shown.push("url" in params ? params.url : undefined);
      return { action: "accept" };
    });
    client.setNotificationHandler(ElicitationCompleteNotificationSchema, ({ params }) => {
      over.push(params.elicitationId);
    });
    await client.connect(transport);
    const result = client.callTool(called);
    const question = await p.channel.question(0);
    await expect.poll(() => shown).toEqual([`${ORIGIN}/#/q/${question.request.id}`]);
    expect(calls()).toBe(0);
    await question.approve();
    expect((await result).content).toEqual([{ type: "text", text: "done" }]);
    await expect.poll(() => over.length).toBe(1);
    expect(calls()).toBe(1);
    await client.close();
  });

  it("of the line with sessions gets a task while a person decides, and its result after", async () => {
    const { p, transport, calls } = world();
    const client = new Client(info, { capabilities: {} });
    await client.connect(transport);
    const stream = client.experimental.tasks.callToolStream(called, undefined, {
      task: { ttl: 60_000 },
    });
    const heard: string[] = [];
    for await (const message of stream) {
      heard.push(message.type);
      if (message.type === "taskCreated") await (await p.channel.question(0)).approve();
      if (message.type === "result")
        expect(message.result.content).toEqual([{ type: "text", text: "done" }]);
    }
    expect([heard[0], heard.at(-1)]).toEqual(["taskCreated", "result"]);
    expect(calls()).toBe(1);
    await client.close();
  });

  it.each([["approved"], ["denied"]])(
    "of the line without sessions shows the page and comes back: %s",
    async (decision) => {
      const { p, transport, calls } = world();
      const client = new ModernClient(info, {
        capabilities: URL_MODE,
        versionNegotiation: { mode: { pin: "2026-07-28" } },
      });
      const shown: unknown[] = [];
      client.setRequestHandler("elicitation/create", async ({ params }) => {
        shown.push("url" in params ? params.url : undefined);
        const question = await p.channel.question(0);
        await (decision === "approved" ? question.approve() : question.deny("no"));
        return { action: "accept" };
      });
      await client.connect(transport);
      const result = await client.callTool(called);
      expect(shown).toEqual([`${ORIGIN}/#/q/${p.channel.questions[0]?.request.id}`]);
      expect(result.isError === true).toBe(decision === "denied");
      expect(calls()).toBe(decision === "approved" ? 1 : 0);
      expect(p.channel.questions).toHaveLength(1);
      await client.close();
    },
  );
});
