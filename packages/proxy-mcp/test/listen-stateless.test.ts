/** Agents over HTTP, without sessions (2026-07-28). */
import { describe, expect, it } from "vitest";
import { eventsOf, listening, send, stateless, TOKENS } from "./support/http-agent.js";
import { type Heard, inProcess } from "./support/in-process.js";

const call = (id: unknown, params: object = {}) =>
  stateless(id, "tools/call", { name: "echo", arguments: {}, ...params });

describe("a message without a session", () => {
  it("is answered as it is, under the id that its client gave", async () => {
    const odd = '{"resultType":"complete","n":1.0e+2,"ttlMs":5000,"tools":[]}';
    const server = inProcess((heard, say) => {
      if (heard.method !== "server/discover") return undefined;
      say(`{"jsonrpc":"2.0", "id":${JSON.stringify(heard.id)},"result":${odd}}`);
      return true;
    });
    const at = await listening({ upstreams: [server.upstream] });
    const answer = await send(at, stateless("own id", "server/discover"));
    expect(answer.headers.get("content-type")).toBe("application/json");
    expect(answer.headers.get("mcp-session-id")).toBeNull();
    expect(await answer.text()).toBe(`{"jsonrpc":"2.0", "id":"own id","result":${odd}}`);
  });

  it("is one of several at once, of the same id and token, and each gets its own", async () => {
    const asked: [Heard, (line: string) => void][] = [];
    const server = inProcess((heard, say) => {
      if (heard.method !== "tools/call") return undefined;
      asked.push([heard, say]);
      return true;
    });
    const at = await listening({ upstreams: [server.upstream] });
    const params = (text: string): object => ({
      arguments: { text },
      _meta: { progressToken: "p" },
    });
    const sent = ["a", "b"].map((text) => send(at, call(1, params(text))));
    await expect.poll(() => asked.length).toBe(2);
    for (const [heard, say] of asked) {
      const { arguments: args, _meta: meta } = heard.params as {
        arguments: { text: string };
        _meta: { progressToken: string };
      };
      say(
        `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"${meta.progressToken}","progress":1,"message":"${args.text}"}}`,
      );
    }
    for (const [heard, say] of asked.toReversed()) {
      const { arguments: args } = heard.params as { arguments: { text: string } };
      say(`{"jsonrpc":"2.0","id":${JSON.stringify(heard.id)},"result":{"of":"${args.text}"}}`);
    }
    for (const [n, text] of ["a", "b"].entries()) {
      const answer = await sent[n];
      const events = answer === undefined ? [] : await eventsOf(answer);
      expect(events.map(({ data }) => data)).toEqual([
        `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1,"message":"${text}"}}`,
        `{"jsonrpc":"2.0","id":1,"result":{"of":"${text}"}}`,
      ]);
    }
    expect(at.served()).toBe(1);
  });

  it("shares nothing with another client's", async () => {
    const server = inProcess();
    const at = await listening({ upstreams: [server.upstream] });
    for (const token of [TOKENS.ada, TOKENS.bob])
      await (await send(at, { ...call(1), token })).text();
    expect(server.counts.started).toBe(2);
  });

  it("is taken back by closing the response", async () => {
    const server = inProcess((heard) => (heard.method === "vendor/x" ? true : undefined));
    const at = await listening({ upstreams: [server.upstream] });
    const stop = new AbortController();
    const sent = send(at, { ...stateless("x", "vendor/x"), signal: stop.signal });
    await expect.poll(() => server.lines.length).toBe(1);
    stop.abort();
    await expect(sent).rejects.toThrow("abort");
    await expect.poll(() => server.lines.length).toBe(2);
    const [first, second] = server.lines.map((line) => JSON.parse(line) as Heard);
    expect(second).toMatchObject({
      method: "notifications/cancelled",
      params: { requestId: first?.id },
    });
  });

  it("is taken back by a message with the id that its client gave, and no other request is", async () => {
    const server = inProcess((heard) => (heard.method === "vendor/x" ? true : undefined));
    const at = await listening({ upstreams: [server.upstream] });
    const sent = send(at, stateless("x", "vendor/x"));
    const left = send(at, stateless("y", "vendor/x"));
    await expect.poll(() => server.lines.length).toBe(2);
    const [first, second] = server.lines.map((line) => JSON.parse(line) as Heard);
    const own = first?.id;
    // The listener's own id is none of the client's.
    for (const requestId of [own, second?.id, "z", 1, "x"]) {
      const { body, headers } = stateless(0, "notifications/cancelled", { requestId });
      const answer = await send(at, { headers, body: { ...body, id: undefined } });
      expect(answer.status).toBe(202);
    }
    const answer = await sent;
    expect([answer.status, await answer.json()]).toMatchObject([409, { id: "x" }]);
    await expect.poll(() => server.lines.length).toBe(3);
    expect(JSON.parse(server.lines[2] ?? "")).toMatchObject({
      method: "notifications/cancelled",
      params: { requestId: own },
    });
    server.say(`{"jsonrpc":"2.0","id":${JSON.stringify(second?.id)},"result":{}}`);
    expect((await left).status).toBe(200);
  });

  it("that waits for a person reaches no server once its response is closed, and the answer is kept for a retry", async () => {
    const server = inProcess();
    const at = await listening({
      upstreams: [server.upstream],
      policy: { version: "1", default: "ask" },
    });
    const first = send(at, call(1));
    await (await at.channel.question(0)).approve();
    expect(await (await first).text()).toContain('"id":1');
    const stop = new AbortController();
    const second = send(at, { ...call(2, { arguments: { n: 2 } }), signal: stop.signal });
    const question = await at.channel.question(1);
    stop.abort();
    await expect(second).rejects.toThrow("abort");
    await (await send(at, stateless(3, "tools/list"))).text();
    await question.approve();
    expect(server.lines.filter((line) => line.includes('"n":2'))).toEqual([]);
    const third = await send(at, call(4, { arguments: { n: 2 } }));
    expect(await third.text()).toContain('"id":4');
    expect(at.channel.questions).toHaveLength(2);
  });

  it("has its subscriptions, called by the id that its client gave", async () => {
    let says: (line: string) => void = () => {};
    let own: unknown;
    const server = inProcess((heard, say) => {
      if (heard.method !== "subscriptions/listen") return undefined;
      says = say;
      own = heard.id;
      return true;
    });
    const at = await listening({ upstreams: [server.upstream] });
    const sent = send(at, stateless("listen-1", "subscriptions/listen", { notifications: {} }));
    await expect.poll(() => own).toBeDefined();
    const changed = (id: unknown): string =>
      JSON.stringify({
        jsonrpc: "2.0",
        method: "notifications/tools/list_changed",
        params: { _meta: { "io.modelcontextprotocol/subscriptionId": id } },
      });
    says(changed(own));
    const events = await eventsOf(await sent, (data) => data.includes("list_changed"));
    expect(events.map(({ data }) => data)).toEqual([changed("listen-1")]);
  });

  it.each([
    [-32_601, 404],
    [-32_020, 400],
    [-32_021, 400],
    [-32_022, 400],
    [-32_602, 200],
    [-31_000, 200],
  ])("whose answer is the error %i has the status %i", async (code, status) => {
    const server = inProcess((heard, say) => {
      if (heard.method !== "vendor/x") return undefined;
      say(JSON.stringify({ jsonrpc: "2.0", id: heard.id, error: { code, message: "no" } }));
      return true;
    });
    const at = await listening({ upstreams: [server.upstream] });
    const answer = await send(at, stateless(1, "vendor/x"));
    expect(answer.status).toBe(status);
    expect(await answer.text()).toContain(`"code":${code}`);
  });
});

describe("headers of a message without a session", () => {
  const { body, headers } = call(1);
  const without = (name: string): Record<string, string> =>
    Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name));
  const uri = stateless(1, "resources/read", { uri: "file:///ü" });
  const encoded = `=?base64?${Buffer.from("file:///ü").toString("base64")}?=`;

  it.each<readonly [string, object, Readonly<Record<string, string>>, number, number | undefined]>([
    ["say what the body says", body, headers, 200, undefined],
    ["name another tool", body, { ...headers, "mcp-name": "read" }, 400, -32_020],
    ["name another method", body, { ...headers, "mcp-method": "tools/list" }, 400, -32_020],
    ["differ in case", body, { ...headers, "mcp-method": "Tools/Call" }, 400, -32_020],
    [
      "name another version",
      body,
      { ...headers, "mcp-protocol-version": "2025-11-25" },
      400,
      -32_020,
    ],
    ["lack the version", body, without("mcp-protocol-version"), 400, -32_020],
    ["lack the method", body, without("mcp-method"), 400, -32_020],
    ["lack the name", body, without("mcp-name"), 400, -32_020],
    ["have an encoded name", uri.body, { ...uri.headers, "mcp-name": encoded }, 200, undefined],
    ["have no Base64", uri.body, { ...uri.headers, "mcp-name": "=?base64?*?=" }, 400, -32_020],
    [
      "are of a version that the body lacks",
      { jsonrpc: "2.0", id: 1, method: "tools/list" },
      { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" },
      400,
      -32_602,
    ],
  ])("that %s: %#", async (_, sent, given, status, code) => {
    const server = inProcess();
    const at = await listening({ upstreams: [server.upstream] });
    const answer = await send(at, { body: sent, headers: given });
    const said = (await answer.json()) as { error?: { code: number } };
    expect([answer.status, said.error?.code]).toEqual([status, code]);
    expect(server.lines).toHaveLength(status === 200 ? 1 : 0);
  });

  it("say what the arguments say, where the tool's schema wants that", async () => {
    const tool = {
      name: "echo",
      inputSchema: {
        type: "object",
        properties: { region: { type: "string", "x-mcp-header": "Region" } },
      },
    };
    const server = inProcess((heard, say) => {
      if (heard.method !== "tools/list") return undefined;
      say(JSON.stringify({ jsonrpc: "2.0", id: heard.id, result: { tools: [tool] } }));
      return true;
    });
    const at = await listening({ upstreams: [server.upstream] });
    await (await send(at, stateless(1, "tools/list"))).text();
    const one = call(2, { arguments: { region: "eu" } });
    const statusWith = async (more: Readonly<Record<string, string>>): Promise<number> => {
      const answer = await send(at, { body: one.body, headers: { ...one.headers, ...more } });
      await answer.text();
      return answer.status;
    };
    expect(await statusWith({ "mcp-param-region": "eu" })).toBe(200);
    expect(await statusWith({ "mcp-param-region": "=?base64?ZXU=?=" })).toBe(200);
    expect(await statusWith({ "mcp-param-region": "us" })).toBe(400);
    expect(await statusWith({})).toBe(400);
  });
});

describe("a requestState", () => {
  it("works for the client that it was given to, and for no other", async () => {
    const server = inProcess((heard, say) => {
      if (heard.method !== "tools/call") return undefined;
      const isFirst = heard.params?.["requestState"] === undefined;
      const result = isFirst
        ? { resultType: "input_required", inputRequests: {}, requestState: "state of ada" }
        : { resultType: "complete", content: [] };
      say(JSON.stringify({ jsonrpc: "2.0", id: heard.id, result }));
      return true;
    });
    const at = await listening({ upstreams: [server.upstream] });
    expect(await (await send(at, call(1))).text()).toContain("state of ada");
    const again = call(2, { requestState: "state of ada", inputResponses: {} });
    const stolen = await send(at, { ...again, token: TOKENS.bob });
    expect(stolen.status).toBe(400);
    expect(await stolen.text()).toContain("-32602");
    const invented = await send(at, call(3, { requestState: "state of nobody" }));
    expect(invented.status).toBe(400);
    await invented.text();
    const own = await send(at, again);
    expect(own.status).toBe(200);
    expect(await own.text()).toContain('"complete"');
    expect(server.lines.filter((line) => line.includes("requestState"))).toHaveLength(1);
  });
});
