/** Clients over HTTP that wait for a person: what is one client's is no other's. */
import { describe, expect, it } from "vitest";
import type { Message } from "./support/line-client.js";
import {
  begin,
  eventsOf,
  initialize,
  listening,
  send,
  stateless,
  TOKENS,
} from "./support/http-agent.js";
import type { Listening } from "./support/http-agent.js";
import { inProcess } from "./support/in-process.js";
import { addressOf, ORIGIN, URL_MODE, WITH_TASKS } from "./support/waiting-world.js";

const world = async (): Promise<Listening & { readonly calls: () => readonly string[] }> => {
  const server = inProcess();
  const at = await listening({
    upstreams: [server.upstream],
    policy: { version: "1", default: "ask" },
    answerAddress: addressOf,
  });
  return { ...at, calls: () => server.lines.filter((line) => line.includes("tools/call")) };
};

async function ask(
  at: Listening,
  id: number,
  { method = "tools/call", token = TOKENS.ada as string, params = {}, can = URL_MODE as object },
): Promise<Message> {
  const own = method === "tools/call" ? { name: "echo", arguments: { text: "x" } } : {};
  const meta = { "io.modelcontextprotocol/clientCapabilities": can };
  const answer = await send(at, {
    ...stateless(id, method, { ...own, ...params, _meta: meta }),
    token,
  });
  return (await answer.json()) as Message;
}

describe("a call over HTTP without a session", () => {
  it("comes back with its state, which works for nobody else, and once", async () => {
    const at = await world();
    const { result } = await ask(at, 1, {});
    const { requestState } = result ?? {};
    const answers = { requestState, inputResponses: { acp_approval: { action: "accept" } } };
    const [question] = at.channel.questions;
    expect(JSON.stringify(result)).toContain(`${ORIGIN}/#/q/${question?.request.id}`);
    const stolen = await ask(at, 2, { token: TOKENS.bob, params: answers });
    expect(stolen.error?.code).toBe(-32_602);
    await question?.approve();
    expect((await ask(at, 3, { params: answers })).result).toHaveProperty("content");
    expect((await ask(at, 4, { params: answers })).error?.code).toBe(-32_602);
    expect([at.calls().length, at.channel.questions.length]).toEqual([1, 1]);
    expect(at.calls()[0]).not.toContain("requestState");
  });

  it("is a task that the client finds again with another connection, and no other client does", async () => {
    const at = await world();
    const can = WITH_TASKS;
    const { result } = await ask(at, 1, { can });
    const params = { taskId: result?.["taskId"] };
    expect((await ask(at, 2, { method: "tasks/get", can, params })).result).toMatchObject({
      status: "working",
    });
    const other = { method: "tasks/get", can, params, token: TOKENS.bob };
    expect((await ask(at, 3, other)).error?.code).toBe(-32_602);
    await at.channel.questions[0]?.approve();
    await expect.poll(() => at.calls().length).toBe(1);
    expect((await ask(at, 4, { method: "tasks/get", can, params })).result).toMatchObject({
      status: "completed",
      result: { content: [{ type: "text" }] },
    });
  });
});

describe("a call over HTTP in a session", () => {
  it("has its page shown on its own stream, and another session's answer counts for nothing", async () => {
    const at = await world();
    const opening = {
      ...initialize(),
      params: { ...(initialize() as { params: object }).params, capabilities: URL_MODE },
    };
    const opened = await send(at, { body: opening });
    const headers = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
    await opened.text();
    const told = { jsonrpc: "2.0", method: "notifications/initialized" };
    await (await send(at, { headers, body: told })).text();
    const params = { name: "echo", arguments: { text: "x" } };
    const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
    const stream = await send(at, { headers, body });
    const isAsked = (data: string): boolean => data.includes("elicitation/create");
    const [first, second] = stream.body?.tee() ?? [];
    const events = await eventsOf(new Response(first), isAsked);
    const asked = JSON.parse(events.at(-1)?.data ?? "{}") as Message;
    const answer = { jsonrpc: "2.0", id: asked.id, result: { action: "decline" } };
    const others = await begin(at, TOKENS.bob);
    await (await send(at, { headers: others, token: TOKENS.bob, body: answer })).text();
    expect((await send(at, { headers, token: TOKENS.bob, body: answer })).status).toBe(404);
    await at.channel.questions[0]?.approve();
    const rest = await eventsOf(new Response(second));
    expect(rest.at(-1)?.data).toContain('"content"');
    expect(at.calls()).toHaveLength(1);
  });
});
