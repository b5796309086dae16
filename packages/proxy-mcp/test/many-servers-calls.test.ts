import { describe, expect, it } from "vitest";
import type { Message } from "./support/line-client.js";
import { received, text, two } from "./support/many.js";
import { ASK_ALL } from "./support/proxied.js";

describe("tool calls to several servers", () => {
  it("reach the server by its prefix; the Action and the server see the tool's own name", async () => {
    const p = two(ASK_ALL);
    await p.client.handshake();
    p.client.raw(
      '{"params":{"requestState":"s","name":"two__echo","_meta":{"progressToken":"tok"},"arguments":{"text":"\\u0061"}},"id":"seven","method":"tools/call","jsonrpc":"2.0"}\n',
    );
    const question = await p.channel.question(0);
    expect(question.request.action).toMatchObject({ tool: "echo", server: "two" });
    await question.approve();
    const { message, line } = await p.client.find(({ id }) => id === "seven");
    expect(text(message)).toMatch(
      /^\{"params":\{"requestState":"s","name":"echo","_meta":\{"progressToken":(\d+)\},"arguments":\{"text":"\\u0061"\}\},"id":\1,"method":"tools\/call","jsonrpc":"2\.0"\}$/,
    );
    expect(line).toContain('"n":12345678901234567890,"\\u0076endor":1.0} }');
    await p.proxy.close();
  });

  it("carry edited arguments, with and without arguments before", async () => {
    const p = two(ASK_ALL);
    await p.client.handshake();
    p.client.send({
      id: 1,
      method: "tools/call",
      params: { name: "one__echo", arguments: { text: "old" } },
    });
    await (await p.channel.question(0)).approve({ text: "new" });
    expect(JSON.parse(text((await p.client.find(({ id }) => id === 1)).message))).toMatchObject({
      params: { name: "echo", arguments: { text: "new" } },
    });
    p.client.send({ id: 2, method: "tools/call", params: { name: "one__echo" } });
    await (await p.channel.question(1)).approve({ text: "new" });
    expect(JSON.parse(text((await p.client.find(({ id }) => id === 2)).message))).toMatchObject({
      params: { name: "echo", arguments: { text: "new" } },
    });
    await p.proxy.close();
  });

  it("are judged by server, so that one rule can hold for one server only", async () => {
    const p = two({
      version: "1",
      default: "allow",
      rules: [{ match: { server: "two", tool: "echo" }, action: "deny" }],
    });
    await p.client.handshake();
    expect((await p.client.call(1, "one__echo", {})).result).not.toHaveProperty("isError");
    expect((await p.client.call(2, "two__echo", {})).result).toMatchObject({
      isError: true,
      _meta: { "acp/denied": { code: "policy_denied" } },
    });
    await p.proxy.close();
  });

  it.each(["echo", "three__echo", "__echo", "one_echo", "ONE__echo"])(
    "are an error when no server has %j",
    async (name) => {
      const p = two();
      await p.client.handshake();
      expect((await p.client.call(1, name, {})).error).toMatchObject({
        code: -32602,
        message: expect.stringContaining("no server has it") as string,
      });
      await p.proxy.close();
    },
  );

  it("keep equal ids and tokens of one client apart from those of the servers", async () => {
    const p = two();
    await p.client.handshake();
    const ids = Array.from({ length: 40 }, (_, index) => index);
    for (const id of ids)
      p.client.send({
        id,
        method: "tools/call",
        params: {
          name: `${id % 2 === 0 ? "one" : "two"}__progress`,
          arguments: {},
          _meta: { progressToken: id },
        },
      });
    for (const id of ids)
      await p.client.find((message) => message.id === id && message.result !== undefined);
    const reports = p.client.lines
      .map((line) => JSON.parse(line) as Message)
      .filter(({ method }) => method === "notifications/progress");
    expect(
      reports
        .map(({ params }) => params?.progressToken)
        .sort((one, other) => Number(one) - Number(other)),
    ).toEqual(ids.flatMap((id) => [id, id]));
    await p.proxy.close();
  });

  it("are cancelled under the id that the server knows", async () => {
    const p = two();
    await p.client.handshake();
    p.client.send({
      id: "slow",
      method: "tools/call",
      params: { name: "two__hang", arguments: {} },
    });
    let hang: Message | undefined;
    while (hang === undefined)
      hang = (await received(p, "two")).find(({ params }) => params?.name === "hang");
    p.client.send({
      method: "notifications/cancelled",
      params: { requestId: "slow", reason: "enough" },
    });
    expect(
      (await received(p, "two")).find(({ method }) => method === "notifications/cancelled")?.params,
    ).toEqual({
      requestId: hang.id,
      reason: "enough",
    });
    expect(
      (await received(p, "one")).some(({ method }) => method === "notifications/cancelled"),
    ).toBe(false);
    await p.proxy.close();
  });

  it("report no progress after they were cancelled", async () => {
    const p = two();
    await p.client.handshake();
    p.client.send({
      id: 1,
      method: "tools/call",
      params: { name: "two__hang", arguments: {}, _meta: { progressToken: "tok" } },
    });
    while (!(await received(p, "two")).some(({ params }) => params?.name === "hang"));
    await p.client.call(2, "two__nudge");
    p.client.send({ method: "notifications/cancelled", params: { requestId: 1 } });
    await p.client.call(3, "two__nudge");
    expect(p.client.lines.filter((line) => line.includes("notifications/progress"))).toHaveLength(
      1,
    );
    await p.proxy.close();
  });

  it("tell no server of a cancelled call that waits for a person", async () => {
    const p = two({
      version: "1",
      default: "allow",
      rules: [{ match: { tool: "echo" }, action: "ask" }],
    });
    await p.client.handshake();
    p.client.send({ id: 1, method: "tools/call", params: { name: "one__echo" } });
    const { session } = await p.channel.question(0);
    p.client.send({ method: "notifications/cancelled", params: { requestId: 1 } });
    await expect
      .poll(() => p.audit.events().some(({ eventType }) => eventType === "consent_deferred"))
      .toBe(true);
    await p.clock.advance(60_000);
    expect(await session.ended).toMatchObject({ status: "cancelled" });
    expect(
      (await received(p, "one")).some(
        ({ method, params }) => method === "notifications/cancelled" || params?.name === "echo",
      ),
    ).toBe(false);
    await p.proxy.close();
  });

  it("are checked against the schema of the server's own tool", async () => {
    const p = two(ASK_ALL);
    await p.client.handshake();
    expect((await p.client.call(1, "two__typed", { count: 0 })).result).toMatchObject({
      _meta: { "acp/denied": { code: "arguments_invalid" } },
    });
    expect(p.channel.questions).toHaveLength(0);
    await p.proxy.close();
  });

  it("report progress of a task after its answer, and find the task's server", async () => {
    const p = two();
    await p.client.handshake();
    expect(
      (await p.client.call(1, "two__task", {}, { task: { ttl: 1 }, _meta: { progressToken: "t" } }))
        .result,
    ).toMatchObject({
      task: { taskId: "two-task" },
    });
    expect(
      (await p.client.find(({ method }) => method === "notifications/progress")).message.params,
    ).toMatchObject({ progressToken: "t" });
    expect((await p.client.request(2, "tasks/get", { taskId: "two-task" })).result).toMatchObject({
      by: "two",
    });
    expect((await p.client.request(3, "tasks/get", { taskId: "nobody" })).error).toMatchObject({
      code: -32602,
    });
    expect((await p.client.request(4, "tasks/list")).result?.tasks).toEqual([
      { taskId: "two-task", status: "completed" },
    ]);
    expect((await p.client.request(5, "tasks/cancel", { taskId: "one-task" })).error).toMatchObject(
      {
        message: 'Cannot find the task "one-task": this client did not get it',
      },
    );
    await p.proxy.close();
  });
});
