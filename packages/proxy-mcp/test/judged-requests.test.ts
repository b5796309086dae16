/** What reaches the effect of a call by another request is judged like one. */
import { describe, expect, it } from "vitest";
import { NO_SECRETS, opened } from "./support/judged.js";
import type { Message } from "./support/line-client.js";
import { two } from "./support/many.js";
import { ALLOW_ALL } from "./support/proxied.js";
import type { Proxied } from "./support/proxied.js";
import { received } from "./support/received.js";

const DENY_ALL = { version: "1", default: "deny" };
const ONE_TOOL = {
  version: "1",
  default: "deny",
  rules: [{ match: { tool: "echo" }, action: "allow" }],
};
const CLIENT_STARTED: readonly (readonly [string, object])[] = [
  ["resources/read", { uri: "scripted://doc" }],
  ["resources/subscribe", { uri: "scripted://doc" }],
  ["prompts/get", { name: "greet" }],
  ["completion/complete", { ref: { type: "ref/prompt", name: "greet" }, argument: {} }],
  ["subscriptions/listen", {}],
  ["vendor/echo", {}],
  ["sampling/createMessage", {}],
];
const SERVER_STARTED = ["sampling/createMessage", "elicitation/create", "roots/list"];

/** Has the server ask the client; gives what the server got, which the tool's answer tells. */
function sample(
  p: Proxied,
  method: string,
  params: object = {},
  tool = "sample",
): Promise<Message> {
  return p.client
    .call(`sample-${p.client.lines.length}`, tool, { method, params })
    .then(({ result }) => {
      const [content] = (result?.["content"] ?? []) as readonly { readonly text: string }[];
      return JSON.parse(content?.text ?? "{}") as Message;
    });
}

const sawRequest = (p: Proxied): boolean =>
  p.client.lines.some((line) =>
    SERVER_STARTED.includes((JSON.parse(line) as Message).method ?? ""),
  );

describe("what a client starts", () => {
  it.each([
    ["that denies everything", DENY_ALL],
    ["that allows one tool", ONE_TOOL],
  ])("reaches no server under a policy %s", async (_, policy) => {
    const p = await opened(policy);
    for (const [index, [method, params]] of CLIENT_STARTED.entries()) {
      const { error } = await p.client.request(index, method, params);
      expect(error).toMatchObject({ code: -1, data: { code: "policy_denied" } });
      expect(error?.message).toMatch(/^Not executed \(policy_denied\): /);
    }
    for (const [method] of CLIENT_STARTED)
      expect((await received(p)).join("\n")).not.toContain(`"${method}"`);
    expect((await p.client.request("l", "resources/list", {})).result).toBeDefined();
    await p.proxy.close();
  });

  it("is asked about with its arguments, reports progress, and passes as received", async () => {
    const p = await opened({ version: "1", default: "ask" });
    const line =
      '{"id":7, "method":"resources/read","params":{"_meta":{"progressToken":"t"},"uri":"scripted:\\u002f/doc"},"jsonrpc":"2.0"}';
    p.client.raw(`${line}\n`);
    const question = await p.channel.question(0);
    expect(question.request.action).toMatchObject({
      server: "fs",
      tool: "mcp:resources/read",
      parameters: { uri: "scripted://doc" },
    });
    await p.clock.advance(10_000);
    await p.client.find(({ method }) => method === "notifications/progress");
    await question.approve();
    expect((await p.client.find(({ id }) => id === 7)).message.result).toBeDefined();
    expect(await received(p)).toContain(line);
    await p.proxy.close();
  });

  it("goes on as a person changed it, with what is not judged left as it was", async () => {
    const p = await opened({ version: "1", default: "ask" });
    p.client.send({
      id: 1,
      method: "resources/read",
      params: { uri: "nowhere://x", _meta: { progressToken: "t" } },
    });
    await (await p.channel.question(0)).approve({ uri: "scripted://doc" });
    expect((await p.client.find(({ id }) => id === 1)).message.result).toBeDefined();
    expect((await received(p)).at(-2)).toBe(
      '{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"scripted://doc","_meta":{"progressToken":"t"}}}',
    );
    await p.proxy.close();
  });

  it.each([
    [
      "a member in another case",
      '{"id":1,"method":"resources/read","params":{"URI":"a"}}',
      /spelled "uri"/,
    ],
    [
      "a method in another case",
      '{"id":1,"method":"Resources/Read","params":{}}',
      /spelled "resources\/read"/,
    ],
    [
      "a method with blanks",
      '{"id":1,"method":" prompts/get","params":{}}',
      /spelled "prompts\/get"/,
    ],
    [
      "a lone surrogate",
      '{"id":1,"method":"resources/read","params":{"uri":"\\ud800"}}',
      /arguments_invalid/,
    ],
    [
      "params that are a list",
      '{"id":1,"method":"resources/read","params":["a"]}',
      /not an object/,
    ],
    [
      "a state that no server gave",
      '{"id":1,"method":"resources/read","params":{"uri":"a","requestState":"x"}}',
      /did not ask/,
    ],
  ])("is refused with %s", async (_, line, why) => {
    const p = await opened(ALLOW_ALL);
    p.client.raw(`${line}\n`);
    expect(
      (await p.client.find(({ error }) => error !== undefined)).message.error?.message,
    ).toMatch(why);
    expect((await received(p)).join("")).not.toMatch(/read|prompts/i);
    await p.proxy.close();
  });

  it("is refused without an id, whatever it is", async () => {
    const p = await opened(ALLOW_ALL);
    for (const method of ["resources/read", "vendor/echo", "tools/call", "sampling/createMessage"])
      p.client.send({ method, params: {} });
    await p.client.request("end", "ping");
    expect(p.client.lines.filter((line) => line.includes("without an id"))).toHaveLength(4);
    expect((await received(p)).slice(1).join("")).not.toMatch(/read|vendor|call|sampling/);
    await p.proxy.close();
  });

  it("is subscribed to so many resources and no more", async () => {
    const p = await opened(ALLOW_ALL);
    for (let index = 0; index <= 1_000; index++)
      p.client.send({ id: index, method: "resources/subscribe", params: { uri: `x://${index}` } });
    const over = await p.client.find(({ error }) => error !== undefined);
    expect(over.message.error?.message).toContain("1000 resources");
    await p.client.request("u", "resources/unsubscribe", { uri: "x://0" });
    expect((await p.client.request("a", "resources/subscribe", { uri: "x://a" })).result).toEqual(
      {},
    );
    await p.proxy.close();
  });
});

describe("what a server starts", () => {
  it.each([
    ["nothing", DENY_ALL],
    ["everything, by default", { version: "1", default: "allow" }],
    [
      "everything, by a wildcard",
      { version: "1", default: "allow", rules: [{ match: { tool: "*" }, action: "allow" }] },
    ],
  ])("never reaches the client under a policy that allows %s", async (_, policy) => {
    const rules = [{ match: { tool: "sample" }, action: "allow" }];
    const p = await opened({
      ...policy,
      rules: [...rules, ...("rules" in policy ? policy.rules : [])],
    });
    expect(await sample(p, "sampling/createMessage")).toMatchObject({ error: { code: -1 } });
    expect(await sample(p, "elicitation/create")).toMatchObject({ result: { action: "decline" } });
    expect(await sample(p, "roots/list")).toMatchObject({ error: { code: -1 } });
    expect(await sample(p, "vendor/ask")).toMatchObject({ error: { code: -32601 } });
    expect(sawRequest(p)).toBe(false);
    await p.proxy.close();
  });

  it("tells the server nothing of the policy", async () => {
    const p = await opened({
      ...ALLOW_ALL,
      rules: [{ match: { tool: "mcp:*" }, action: "deny", reason: "ada says no" }],
    });
    expect(JSON.stringify(await sample(p, "sampling/createMessage"))).not.toContain("ada");
    await p.proxy.close();
  });

  it("is asked about with what the server wants to know, and passes as the server sent it", async () => {
    const ask = [{ match: { tool: "mcp:elicitation/*" }, action: "ask" }];
    const p = await opened({ ...ALLOW_ALL, rules: ask });
    const answered = sample(p, "elicitation/create", { message: "your pin?" });
    const question = await p.channel.question(0);
    expect(question.request.action).toMatchObject({
      server: "fs",
      tool: "mcp:elicitation/create",
      parameters: { message: "your pin?" },
    });
    expect(sawRequest(p)).toBe(false);
    await question.approve();
    const { line } = await p.client.find(({ method }) => method === "elicitation/create");
    expect(line).toBe(
      '{"jsonrpc":"2.0","id":0,"method":"elicitation/create","params":{"message":"your pin?","_meta":{"progressToken":0}}}',
    );
    p.client.raw('{"jsonrpc":"2.0","id":0, "result":{"action":"cancel"}}\n');
    expect(await answered).toEqual({ jsonrpc: "2.0", id: 0, result: { action: "cancel" } });
    p.client.raw('{"jsonrpc":"2.0","id":0,"result":{"action":"accept"}}\n');
    await p.client.request("end", "ping");
    expect((await received(p)).join("")).not.toContain("accept");
    await p.proxy.close();
  });

  it("gets no roots that the policy denies, and never hears which", async () => {
    const p = await opened(ALLOW_ALL, { layers: [NO_SECRETS] });
    const answered = sample(p, "roots/list");
    const { message } = await p.client.find(({ method }) => method === "roots/list");
    p.client.send({ id: message.id, result: { roots: ["file:///home/ada/secret"] } });
    expect(await answered).toMatchObject({ error: { code: -1 } });
    expect((await received(p)).join("")).not.toContain("secret");
    await p.proxy.close();
  });

  it.each([
    ["two methods", '{"jsonrpc":"2.0","id":5,"method":"sampling/createMessage","method":"ping"}'],
    ["a method in another case", '{"jsonrpc":"2.0","id":5,"Method":"sampling/createMessage"}'],
    ["a batch", '[{"jsonrpc":"2.0","id":5,"method":"sampling/createMessage"}]'],
    [
      "two on a line",
      '{"jsonrpc":"2.0","method":"notifications/x"}{"id":5,"method":"sampling/createMessage"}',
    ],
    ["no id", '{"jsonrpc":"2.0","method":"sampling/createMessage"}'],
    ["an escaped method", '{"jsonrpc":"2.0","id":5,"method":"sampling\\u002fcreateMessage"}'],
    ["blanks around the method", '{"jsonrpc":"2.0","id":5,"method":"sampling/createMessage "}'],
  ])("never reaches the client as %s", async (_, line) => {
    const p = await opened({ version: "1", default: "allow" });
    await p.client.request("say", "vendor/say", { lines: [line] });
    await p.client.request("end", "ping");
    expect(p.client.lines.filter((each) => each.includes("sampling"))).toEqual([]);
    await p.proxy.close();
  });

  it("has the name of its server in front, where there are several", async () => {
    const p = two();
    await p.client.handshake();
    const asks: readonly (readonly [string, object, object])[] = [
      ["elicitation/create", { message: "pin?" }, { message: "[two] pin?" }],
      [
        "sampling/createMessage",
        { messages: [{ role: "user", content: { type: "text", text: "hi" } }] },
        { messages: [{ role: "user", content: { type: "text", text: "[two] hi" } }] },
      ],
      [
        "sampling/createMessage",
        {
          messages: [{ role: "user", content: [{ type: "image", data: "" }] }],
          systemPrompt: "be",
        },
        { systemPrompt: "[two] be" },
      ],
      ["sampling/createMessage", { messages: [] }, { systemPrompt: "[two]" }],
    ];
    for (const [index, [method, params, shown]] of asks.entries()) {
      const answered = sample(p, method, params, "two__sample");
      const { message } = await p.client.find(({ id }) => id === index + 1);
      expect(message.params).toMatchObject(shown);
      p.client.send({ id: message.id, result: {} });
      expect(await answered).toMatchObject({ result: {} });
    }
    await p.proxy.close();
  });

  it("is refused under an id that its server has in use", async () => {
    const rules = [{ match: { tool: "mcp:elicitation/*" }, action: "ask" }];
    const p = await opened({ ...ALLOW_ALL, rules });
    const lines = ["one", "two"].map((message) =>
      JSON.stringify({
        jsonrpc: "2.0",
        id: "s",
        method: "elicitation/create",
        params: { message },
      }),
    );
    await p.client.request("say", "vendor/say", { lines });
    await p.channel.question(0);
    const refused = (await received(p)).filter((line) => line.includes("its id is in use"));
    expect(refused.map((line) => JSON.parse(line) as Message)).toMatchObject([
      { id: "s", error: { code: -32_600 } },
    ]);
    expect(p.channel.questions).toHaveLength(1);
    await p.proxy.close();
  });

  it("waits for its turn with people, so many of one server, and not where rules allow it", async () => {
    const rules = [
      { match: { tool: "mcp:elicitation/*" }, action: "ask" },
      { match: { tool: "mcp:sampling/*" }, action: "allow" },
    ];
    const p = await opened({ ...ALLOW_ALL, rules });
    let said = 0;
    const say = (...messages: readonly object[]): Promise<Message> => {
      const lines = messages.map((each) => JSON.stringify({ jsonrpc: "2.0", ...each }));
      return p.client.request(`say-${said++}`, "vendor/say", { lines });
    };
    const asks = (id: string, method = "elicitation/create") => ({ id, method, params: { id } });
    const idOf = async (at: number): Promise<unknown> =>
      (await p.channel.question(at)).request.action.parameters;
    await say(...Array.from({ length: 18 }, (_, n) => asks(`s${n}`)));
    expect([await idOf(0), await idOf(1)]).toEqual([{ id: "s0" }, { id: "s1" }]);
    const refused = (await received(p)).filter((line) => line.includes("16 are waiting"));
    expect(refused.map((line) => (JSON.parse(line) as Message).id)).toEqual(["s16", "s17"]);
    // What waits and is taken back is asked about by nobody, and its place is another's.
    await say(
      ...["s2", "s4"].map((requestId) => ({
        method: "notifications/cancelled",
        params: { requestId },
      })),
      asks("a", "sampling/createMessage"),
    );
    await p.client.find(({ method }) => method === "sampling/createMessage");
    expect(p.channel.questions).toHaveLength(2);
    await (await p.channel.question(0)).approve();
    expect(await idOf(2)).toEqual({ id: "s3" });
    await (await p.channel.question(1)).deny("no");
    expect(await idOf(3)).toEqual({ id: "s5" });
    await p.proxy.close();
    expect(p.channel.questions).toHaveLength(4);
  });
});

describe("the question that the proxy itself asks", () => {
  it.each(["authorize", "Authorize", "AUTHORIZE", " authorize", "auth\u200borize", "ａuthorize"])(
    "cannot be asked by a client's method: %j",
    async (method) => {
      const p = await opened({ version: "1", default: "ask" });
      const params = { scope: "all", sign_in: "run this" };
      expect((await p.client.request(1, method, params)).error).toMatchObject({ code: -32_601 });
      expect(p.channel.questions).toEqual([]);
      await p.proxy.close();
    },
  );
});
