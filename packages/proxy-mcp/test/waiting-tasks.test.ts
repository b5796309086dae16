/** Clients with tasks: a call that waits for a person is a task of the proxy's own. */
import { describe, expect, it } from "vitest";
import { inProcess } from "./support/in-process.js";
import type { Answer } from "./support/in-process.js";
import type { Message } from "./support/line-client.js";
import { greet, modern, TASKS, URL_MODE, waits, WITH_TASKS } from "./support/waiting-world.js";
import type { Waits } from "./support/waiting-world.js";

const call = modern(WITH_TASKS, { name: "echo", arguments: { text: "x" } });
const about = (
  { client }: Waits,
  [id, method, taskId]: readonly [number, string, unknown],
  more: object = {},
): Promise<Message> => client.request(id, method, modern(WITH_TASKS, { taskId, ...more }));

async function opened(w: Waits): Promise<string> {
  const { result } = await w.client.request(1, "tools/call", call);
  expect(result).toMatchObject({
    resultType: "task",
    taskId: expect.stringMatching(/^acp-[\w-]{32}$/),
    status: "working",
    statusMessage: expect.stringMatching(/person.*cr_.*acp approve/),
    ttlMs: expect.any(Number),
    pollIntervalMs: 5_000,
  });
  return String(result?.["taskId"]);
}

describe("a call of a client with the tasks extension", () => {
  it("is a task until a person answers, however long that takes, and then has its result", async () => {
    const w = waits();
    const taskId = await opened(w);
    const question = await w.channel.question(0);
    await w.clock.advance(60_000);
    expect((await about(w, [2, "tasks/get", taskId])).result).toMatchObject({
      resultType: "complete",
      taskId,
      status: "working",
    });
    expect(w.calls()).toEqual([]);
    await question.approve();
    await expect.poll(() => w.calls().length).toBe(1);
    const { result } = await about(w, [3, "tasks/get", taskId]);
    expect(result).toMatchObject({ status: "completed", result: { content: [{ type: "text" }] } });
    expect((await about(w, [4, "tasks/get", taskId])).result).toEqual(result);
    expect(w.client.lines.filter((line) => line.includes('"id":1,'))).toHaveLength(1);
  });

  it("that is denied is completed with the reason", async () => {
    const w = waits();
    const taskId = await opened(w);
    await (await w.channel.question(0)).deny("not today");
    await expect
      .poll(async () => (await about(w, [w.client.lines.length + 9, "tasks/get", taskId])).result)
      .toMatchObject({
        status: "completed",
        result: { isError: true, _meta: { "acp/denied": { reason: "not today" } } },
      });
    expect(w.calls()).toEqual([]);
  });

  it("that is canceled ends the question", async () => {
    const w = waits();
    const taskId = await opened(w);
    expect((await about(w, [2, "tasks/cancel", taskId])).result).toEqual({
      resultType: "complete",
    });
    expect((await (await w.channel.question(0)).session.ended).status).toBe("cancelled");
    expect((await about(w, [3, "tasks/get", taskId])).result).toMatchObject({
      status: "cancelled",
    });
    expect(w.calls()).toEqual([]);
  });

  it("is no other client's, and nobody's who does not have tasks", async () => {
    const [w, other] = [waits(), waits()];
    const taskId = await opened(w);
    for (const [n, method] of ["tasks/get", "tasks/cancel", "tasks/update"].entries()) {
      expect((await about(other, [n + 1, method, taskId])).error?.code).toBe(-32_602);
      const bare = await w.client.request(n + 10, method, modern({}, { taskId }));
      expect(bare.error).toMatchObject({
        code: -32_021,
        data: { requiredCapabilities: { extensions: { [TASKS]: {} } } },
      });
      const stateful = await w.client.request(n + 20, method, { taskId });
      expect(stateful.error?.code).toBe(-32_602);
    }
    expect(w.channel.questions).toHaveLength(1);
    await (await w.channel.question(0)).approve();
    await expect.poll(() => w.calls().length).toBe(1);
  });

  it("is one of at most 100; more are held as ever", async () => {
    const w = waits();
    const params = (text: number): object =>
      modern(WITH_TASKS, { name: "echo", arguments: { text } });
    const policyMax = 20; // of one agent's open questions
    for (let id = 1; id <= policyMax; id++)
      expect((await w.client.request(id, "tools/call", params(id))).result?.["resultType"]).toBe(
        "task",
      );
    for (const question of w.channel.questions) await question.deny("no");
  });

  it("keeps its answer for an hour after its question's end", async () => {
    const w = waits();
    const taskId = await opened(w);
    const { request, approve } = await w.channel.question(0);
    await approve();
    await expect.poll(() => w.calls().length).toBe(1);
    const leftMs = request.expiresAtMs - w.clock.now() + 3_600_000;
    await w.clock.advance(leftMs - 1_000);
    expect((await about(w, [2, "tasks/get", taskId])).result).toMatchObject({
      status: "completed",
    });
    await w.clock.advance(2_000);
    expect((await about(w, [3, "tasks/get", taskId])).error?.code).toBe(-32_602);
  });

  it("shows its page first where the client can, and is a task from then on", async () => {
    const w = waits();
    const both = { ...URL_MODE, ...WITH_TASKS };
    const params = (more: object): object => modern(both, { name: "echo", arguments: {}, ...more });
    const first = await w.client.request(1, "tools/call", params({}));
    expect(first.result?.["resultType"]).toBe("input_required");
    const again = await w.client.request(
      2,
      "tools/call",
      params({
        requestState: first.result?.["requestState"],
        inputResponses: { acp_approval: { action: "accept" } },
      }),
    );
    expect(again.result?.["resultType"]).toBe("task");
    await (await w.channel.question(0)).approve();
    await expect.poll(() => w.calls().length).toBe(1);
  });

  it("stands for the task that its server makes of it", async () => {
    const w = waits({
      answer(heard, say) {
        const answer = (result: object): boolean => {
          say(JSON.stringify({ jsonrpc: "2.0", id: heard.id, result }));
          return true;
        };
        if (heard.method === "tools/call")
          return answer({ resultType: "task", taskId: "theirs", status: "working" });
        if (heard.method === "tasks/get")
          return answer({
            resultType: "complete",
            taskId: heard.params?.["taskId"],
            status: "completed",
            result: { content: [] },
          });
        return undefined;
      },
    });
    const taskId = await opened(w);
    await (await w.channel.question(0)).approve();
    await expect.poll(() => w.calls().length).toBe(1);
    const { result } = await about(w, [2, "tasks/get", taskId]);
    expect(result).toEqual({
      resultType: "complete",
      taskId,
      status: "completed",
      result: { content: [] },
    });
    expect(w.server.lines.at(-1)).toContain('"taskId":"theirs"');
  });

  it("is said to be possible to clients that have tasks, and to no others", async () => {
    const discovered = {
      resultType: "complete",
      supportedVersions: ["2026-07-28"],
      capabilities: { tools: {} },
    };
    const w = waits({
      answer(heard, say) {
        if (heard.method !== "server/discover") return undefined;
        say(JSON.stringify({ jsonrpc: "2.0", id: heard.id, result: discovered }));
        return true;
      },
    });
    const bare = await w.client.request(1, "server/discover", modern({}));
    expect(bare.result).toEqual(discovered);
    const withTasks = await w.client.request(2, "server/discover", modern(WITH_TASKS));
    expect(withTasks.result).toEqual({
      ...discovered,
      capabilities: { tools: {}, extensions: { [TASKS]: {} } },
    });
  });
});

/** A server that says that its calls may be tasks. */
const withTasks =
  (answer: Answer = () => undefined): Answer =>
  (heard, say, line) => {
    if (heard.method !== "initialize") return answer(heard, say, line);
    const capabilities = { tools: {}, tasks: { requests: { tools: { call: {} } } } };
    const serverInfo = { name: "fs", version: "1" };
    const result = { protocolVersion: "2025-11-25", capabilities, serverInfo };
    say(JSON.stringify({ jsonrpc: "2.0", id: heard.id, result }));
    return true;
  };

describe("a call of a client with sessions that asks for a task", () => {
  const start = async (w: Waits): Promise<string> => {
    await greet(w, {});
    const { result } = await w.client.request(1, "tools/call", {
      name: "echo",
      arguments: { text: "x" },
      task: { ttl: 60_000 },
    });
    const task = result?.["task"] as { readonly taskId: string };
    expect(task).toMatchObject({ status: "working", pollInterval: 5_000 });
    return task.taskId;
  };

  it("is one, and tasks/result waits for the person and then for the server", async () => {
    const w = waits({ answer: withTasks() });
    const taskId = await start(w);
    const waiting = w.client.request(2, "tasks/result", { taskId });
    expect((await w.client.request(3, "tasks/get", { taskId })).result).toMatchObject({
      taskId,
      status: "working",
    });
    await (await w.channel.question(0)).approve();
    expect((await waiting).result).toMatchObject({
      content: [{ type: "text" }],
      _meta: { "io.modelcontextprotocol/related-task": { taskId } },
    });
    expect((await w.client.request(4, "tasks/result", { taskId })).result).toHaveProperty(
      "content",
    );
    expect(w.calls()).toHaveLength(1);
  });

  it("that is denied gives the reason as its result", async () => {
    const w = waits({ answer: withTasks() });
    const taskId = await start(w);
    const waiting = w.client.request(2, "tasks/result", { taskId });
    await (await w.channel.question(0)).deny("not today");
    expect((await waiting).result).toMatchObject({
      isError: true,
      _meta: {
        "acp/denied": { reason: "not today" },
        "io.modelcontextprotocol/related-task": { taskId },
      },
    });
  });

  it("that is canceled ends the question, and who waits for its result hears so", async () => {
    const w = waits({ answer: withTasks() });
    const taskId = await start(w);
    const waiting = w.client.request(2, "tasks/result", { taskId });
    expect((await w.client.request(3, "tasks/cancel", { taskId })).result).toMatchObject({
      taskId,
      status: "cancelled",
    });
    expect((await waiting).error?.code).toBe(-32_602);
    expect((await (await w.channel.question(0)).session.ended).status).toBe("cancelled");
    expect((await w.client.request(4, "tasks/cancel", { taskId })).error?.code).toBe(-32_602);
    expect(w.calls()).toEqual([]);
  });

  it("that is canceled after the yes, while others have its server's places, is never sent", async () => {
    let answerFirst = (): void => {};
    const server = inProcess(
      withTasks((heard, say) => {
        if (heard.method !== "tools/call") return undefined;
        answerFirst = () => say(JSON.stringify({ jsonrpc: "2.0", id: heard.id, result: {} }));
        return true;
      }),
    );
    const got = (): number => server.lines.filter((line) => line.includes("tools/call")).length;
    const w = waits({ upstreams: [{ ...server.upstream, limits: { callsMax: 1 } }] });
    await start(w);
    await (await w.channel.question(0)).approve();
    await expect.poll(got).toBe(1);
    const { result } = await w.client.request(2, "tools/call", {
      name: "echo",
      arguments: { text: "y" },
      task: {},
    });
    const { taskId } = (result as { readonly task: { readonly taskId: string } }).task;
    await (await w.channel.question(1)).approve();
    await expect
      .poll(
        async () =>
          (await w.client.request(`g${w.client.lines.length}`, "tasks/get", { taskId })).result,
      )
      .toMatchObject({ statusMessage: expect.stringContaining("is answered") });
    expect((await w.client.request(3, "tasks/cancel", { taskId })).result).toMatchObject({
      status: "cancelled",
    });
    answerFirst();
    for (const id of [4, 5, 6]) await w.client.request(id, "ping");
    expect(got()).toBe(1);
  });

  it("stands for its server's task, whose result has our id", async () => {
    const related = "io.modelcontextprotocol/related-task";
    const w = waits({
      answer: withTasks((heard, say) => {
        const answer = (result: object): boolean => {
          say(JSON.stringify({ jsonrpc: "2.0", id: heard.id, result }));
          return true;
        };
        if (heard.method === "tools/call")
          return answer({ task: { taskId: "theirs", status: "working" } });
        if (heard.method === "tasks/result")
          return answer({ content: [], _meta: { [related]: { taskId: "theirs" } } });
        return undefined;
      }),
    });
    const taskId = await start(w);
    await (await w.channel.question(0)).approve();
    await expect.poll(() => w.calls().length).toBe(1);
    expect((await w.client.request(2, "tasks/result", { taskId })).result).toEqual({
      content: [],
      _meta: { [related]: { taskId } },
    });
  });

  it("is answered as ever where nobody told the client of tasks", async () => {
    const w = waits();
    await greet(w, {});
    const params = { name: "echo", arguments: {}, task: { ttl: 60_000 } };
    const held = w.client.request(1, "tools/call", params);
    await (await w.channel.question(0)).approve();
    expect((await held).result).toHaveProperty("content");
  });
});
