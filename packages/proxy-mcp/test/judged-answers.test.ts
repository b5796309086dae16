/** What a server asks for inside of an answer, reserved names of tools, and whose a request is. */
import { describe, expect, it } from "vitest";
import { NO_SECRETS, opened } from "./support/judged.js";
import type { Message } from "./support/line-client.js";
import { received as receivedByMany, server, two } from "./support/many.js";
import { ALLOW_ALL, FOR_TESTS, proxied } from "./support/proxied.js";
import type { Proxied, Question } from "./support/proxied.js";
import { received } from "./support/received.js";

describe("what a server asks for inside of an answer", () => {
  const NEEDS = {
    resultType: "input_required",
    inputRequests: { a: { method: "elicitation/create", params: { message: "pin?" } } },
    requestState: "s1",
  };
  const answerWith = (p: Proxied, answer: object, more: object = {}, id = 1): Promise<Message> =>
    p.client.call(id, "answer", answer, more);

  it.each([
    ["input", { result: NEEDS }],
    [
      "an address",
      {
        error: {
          code: -32042,
          message: "m",
          data: { elicitations: [{ mode: "url", url: "https://e.com" }] },
        },
      },
    ],
    [
      "a method that is not known",
      { result: { ...NEEDS, inputRequests: { a: { method: "x/y" } } } },
    ],
    ["input in a form that is none", { result: { ...NEEDS, inputRequests: [1] } }],
  ])("is kept from a client whose policy does not name it: %s", async (_, answer) => {
    const p = await opened({ version: "1", default: "allow" });
    const { result, error } = await answerWith(p, answer);
    expect(error).toBeUndefined();
    expect(result).toMatchObject({ isError: true });
    expect(JSON.stringify(result)).not.toMatch(/pin|e\.com/);
    await p.proxy.close();
  });

  it.each([
    ["denied", (question: Question) => question.deny("no"), "consent_denied"],
    ["left open", (_: Question, p: Proxied) => p.clock.advance(45_000), "consent_deferred"],
  ])("does not make its call one that was not executed where it is %s", async (_, end, code) => {
    const rules = [{ match: { tool: "mcp:elicitation/*" }, action: "ask" }];
    const p = await opened({ version: "1", default: "allow", rules });
    const answered = answerWith(p, { result: NEEDS });
    await end(await p.channel.question(0), p);
    const { result } = await answered;
    const text = JSON.stringify(result);
    expect(text).toContain(`Sent, but not answered (${code})`);
    expect(text).not.toMatch(/Not executed|pin/);
    expect(result).toMatchObject({
      isError: true,
      _meta: {
        "acp/denied": { code, retryable: false, requestId: expect.any(String) as string },
      },
    });
    await p.proxy.close();
  });

  it("passes as it came where it is allowed, and its answer goes to who asked for it, about that", async () => {
    const p = await opened(ALLOW_ALL);
    expect((await answerWith(p, { result: NEEDS })).result).toEqual(NEEDS);
    const done = { result: { content: [] } };
    const go = (more: object, id: number): Promise<Message> => answerWith(p, done, more, id);
    const inputResponses = { a: { action: "decline" } };
    expect((await go({ inputResponses, requestState: "s1" }, 2)).result).toEqual(done.result);
    expect((await go({ inputResponses, requestState: "s2" }, 3)).error?.message).toContain(
      "did not ask",
    );
    // What nobody asked about is not sent, as if the server had ignored it.
    const more = { inputResponses: { b: { action: "accept" }, ...inputResponses } };
    expect((await go({ ...more, requestState: "s1" }, 4)).result).toEqual(done.result);
    expect((await received(p)).join("")).not.toContain('"b"');
    expect(
      (await p.client.call(5, "echo", {}, { inputResponses, requestState: "s1" })).error,
    ).toBeDefined();
    expect((await p.client.request(6, "tasks/get", { taskId: "t" })).error).toBeDefined();
    await p.proxy.close();
  });

  it("is not answered with roots that the policy denies", async () => {
    const needs = { ...NEEDS, inputRequests: { r: { method: "roots/list" } } };
    const p = await opened(ALLOW_ALL, { layers: [NO_SECRETS] });
    expect((await answerWith(p, { result: needs })).result).toEqual(needs);
    const inputResponses = { r: { roots: ["file:///home/ada/secret"] } };
    expect(
      (await answerWith(p, { result: {} }, { inputResponses, requestState: "s1" }, 2)).result,
    ).toMatchObject({ isError: true });
    expect((await received(p)).join("")).not.toContain("secret");
    await p.proxy.close();
  });
});

describe("what is judged beside calls", () => {
  const NEEDS = { inputRequests: { r: { method: "roots/list" } }, requestState: "s1" };

  it("takes places of the client's room, and gives them back", async () => {
    const places = { taken: 0, most: 0, max: 100 };
    const room = {
      enter() {
        if (places.taken >= places.max) return { full: "it has none" };
        places.most = Math.max(places.most, ++places.taken);
        return { leave: () => void places.taken-- };
      },
      isShared: () => false,
    };
    const p = await opened(ALLOW_ALL, { room });
    const answer = (id: number, more: object = {}): Promise<Message> =>
      p.client.call(id, "answer", { result: NEEDS }, more);
    expect((await answer(1)).result).toEqual(NEEDS);
    // Its own, and that of what its answer asks for.
    await expect.poll(() => places).toMatchObject({ taken: 0, most: 2 });
    places.max = 1;
    expect((await answer(2)).result).toMatchObject({
      isError: true,
      _meta: { "acp/denied": { code: "client_limit_reached" } },
    });
    const inputResponses = { r: { roots: [{ uri: "file:///ada" }] } };
    const told = await answer(3, { inputResponses, requestState: "s1" });
    expect(told.result).toMatchObject({
      _meta: { "acp/denied": { code: "client_limit_reached" } },
    });
    expect((await received(p)).join("")).not.toContain("ada");
    await p.proxy.close();
  });

  it.each(["one", "several"])(
    "is not asked about any more once its free request is taken back, with servers: %s",
    async (how) => {
      const rules = [{ match: { tool: "mcp:elicitation/*" }, action: "ask" }];
      const policy = { version: "1", default: "allow", rules };
      const p = how === "one" ? proxied({ policy }) : two(policy);
      await p.client.handshake();
      const inner = { inputRequests: { a: { method: "elicitation/create", params: {} } } };
      p.client.send({ id: 1, method: "prompts/list", params: { inner } });
      const asked = await Promise.all(
        (how === "one" ? [0] : [0, 1]).map((at) => p.channel.question(at)),
      );
      p.client.send({ method: "notifications/cancelled", params: { requestId: 1 } });
      await p.client.request("ping", "ping");
      // As with a call: kept for a minute, in case that the same is asked again.
      await p.clock.advance(60_000);
      for (const { session } of asked)
        expect(await Promise.race([session.ended, Promise.resolve("still open")])).toMatchObject({
          status: "cancelled",
        });
      await p.proxy.close();
    },
  );
});

describe("a call whose roots are being judged", () => {
  it("is not sent once it is taken back, and nobody is asked about it any more", async () => {
    const rules = [{ match: { tool: "mcp:roots/*" }, action: "ask" }];
    const p = await opened({ version: "1", default: "allow", rules });
    const needs = { inputRequests: { r: { method: "roots/list" } }, requestState: "s1" };
    const first = p.client.call(1, "answer", { result: needs });
    await (await p.channel.question(0)).approve();
    await first;
    const inputResponses = { r: { roots: [{ uri: "file:///ada" }] } };
    const params = { name: "answer", arguments: {}, inputResponses, requestState: "s1" };
    p.client.send({ id: 2, method: "tools/call", params });
    const question = await p.channel.question(1);
    p.client.send({ method: "notifications/cancelled", params: { requestId: 2 } });
    await p.client.request("ping", "ping");
    await question.approve().catch(() => {});
    expect((await received(p)).join("")).not.toContain("ada");
    expect((await received(p)).join("")).not.toContain("notifications/cancelled");
    await p.proxy.close();
  });
});

describe("an answer that matches no open request", () => {
  const inner = { inputRequests: { a: { method: "elicitation/create", params: {} } } };
  it.each([
    ["7", 7],
    [7, "7"],
    [7, [7]],
  ])("is dropped: %j is asked, %j answered", async (asked, id) => {
    const p = await opened({ version: "1", default: "ask", rules: FOR_TESTS });
    p.client.send({ id: asked, method: "tools/call", params: { name: "echo" } });
    const question = await p.channel.question(0);
    const answers = [
      { id, result: inner },
      { id, error: { code: -32042, message: "inner" } },
    ];
    const lines = answers.map((each) => JSON.stringify({ jsonrpc: "2.0", ...each }));
    await p.client.request("say", "vendor/say", { lines });
    expect(p.client.lines.join("")).not.toMatch(/inputRequests|inner/);
    expect(p.logs.filter((line) => line.includes("dropped")).length).toBe(
      Array.isArray(id) ? 2 : 1,
    );
    await question.approve();
    expect((await p.client.find((each) => each.id === asked)).message.result).toBeDefined();
    await p.proxy.close();
  });

  it("is dropped where its request was taken back", async () => {
    const p = await opened(ALLOW_ALL);
    p.client.send({ id: 7, method: "tools/call", params: { name: "hang", arguments: {} } });
    while (!(await received(p)).some((line) => line.includes("hang")));
    p.client.send({ method: "notifications/cancelled", params: { requestId: 7 } });
    const lines = ['{"jsonrpc":"2.0","id":7,"result":{"late":true}}'];
    await p.client.request("say", "vendor/say", { lines });
    expect(p.client.lines.join("")).not.toContain("late");
    await p.proxy.close();
  });
});

describe("a tool with a reserved name", () => {
  const tools = [
    { name: "mcp:resources/read", inputSchema: { type: "object" } },
    { name: "fine", inputSchema: { type: "object" } },
  ];
  it("is not listed and cannot be called, whoever lists it", async () => {
    const one = proxied({ policy: ALLOW_ALL, upstreams: [server("fs", { tools })] });
    const many = proxied({ policy: ALLOW_ALL, upstreams: [server("a", { tools }), server("b")] });
    for (const [p, prefix] of [
      [one, ""],
      [many, "a__"],
    ] as const) {
      await p.client.handshake();
      const { result } = await p.client.request(1, "tools/list", {});
      const listed = ((result ?? {})["tools"] as readonly { readonly name: string }[]).map(
        ({ name }) => name,
      );
      expect(listed).toContain(`${prefix}fine`);
      expect(listed.join(" ")).not.toContain("mcp:");
      const { error } = await p.client.call(2, `${prefix}mcp:resources/read`, { uri: "x" });
      expect(error?.message).toContain("reserved");
      await p.proxy.close();
    }
  });
});

describe("several servers", () => {
  it("get the reads of their own resources, and a changed one goes to nobody else", async () => {
    const p = two({ version: "1", default: "ask" });
    await p.client.handshake();
    p.client.send({ id: 1, method: "resources/read", params: { uri: "one://doc" } });
    await (await p.channel.question(0)).approve({ uri: "two://doc" });
    expect((await p.client.find(({ id }) => id === 1)).message.error?.message).toContain(
      'not one of server "one"',
    );
    await p.proxy.close();
  });

  it("are judged by name: the rule of one is not the other's", async () => {
    const rules = [
      { match: { server: "one" }, action: "allow" },
      { match: { tool: "received" }, action: "allow" },
    ];
    const p = two({ version: "1", default: "deny", rules });
    await p.client.handshake();
    expect((await p.client.request(1, "prompts/get", { name: "one__greet" })).result).toBeDefined();
    expect((await p.client.request(2, "prompts/get", { name: "two__greet" })).error).toMatchObject({
      code: -1,
    });
    expect((await p.client.request(3, "resources/read", { uri: "two://doc" })).error).toMatchObject(
      { code: -1 },
    );
    expect((await receivedByMany(p, "two")).map(({ method }) => method)).not.toContain(
      "prompts/get",
    );
    await p.proxy.close();
  });
});
