/** What a server may take: the size of its answers, time, calls at once. */
import { describe, expect, it, onTestFinished } from "vitest";
import { createMcpProxy } from "../src/index.js";
import { pipes } from "./support/line-client.js";
import { server } from "./support/many.js";
import { ALLOW_ALL, ASK_ALL, proxied, scripted } from "./support/proxied.js";
import type { Proxied } from "./support/proxied.js";
import { received } from "./support/received.js";
import { echoServer, events, json, webServer } from "./support/web-server.js";

type Limits = NonNullable<Parameters<typeof createMcpProxy>[0]["upstreams"][number]["limits"]>;

async function limited(limits: Limits, policy: object = ALLOW_ALL): Promise<Proxied> {
  const p = proxied({ policy, upstreams: [{ name: "fs", command: scripted(), limits }] });
  onTestFinished(() => p.proxy.close());
  await p.client.handshake();
  return p;
}

const call = (p: Proxied, id: number, name: string): void =>
  p.client.send({ id, method: "tools/call", params: { name, arguments: {} } });
const answer = async (p: Proxied, wanted: number): Promise<Record<string, unknown>> =>
  (await p.client.find(({ id }) => id === wanted)).message.result ?? {};
const notice = ({ _meta: meta }: Record<string, unknown>): unknown =>
  (meta as Record<string, unknown> | undefined)?.["acp/denied"];
const calls = async (p: Proxied): Promise<readonly string[]> =>
  (await received(p)).filter((line) => line.includes('"tools/call"'));

describe("messageBytesMax", () => {
  it("lets longer answers through, and refuses those that are longer still", async () => {
    const p = await limited({ messageBytesMax: 12 * 1024 * 1024 });
    const { line } = await p.client
      .call(1, "huge", {})
      .then(() => p.client.find(({ id }) => id === 1));
    expect(line.length).toBeGreaterThan(11 * 1024 * 1024);
    await p.proxy.close();
    const less = await limited({ messageBytesMax: 5_000 });
    expect((await less.client.call(1, "huge", {})).error).toMatchObject({
      data: { code: "answer_too_large" },
    });
    await less.proxy.close();
  });

  it("holds over HTTP, where long answers come one at a time", async () => {
    await using web = await webServer(
      echoServer(({ message }, response) => {
        if (message.method !== "vendor/long") return false;
        json(response, 200, { jsonrpc: "2.0", id: message.id, result: "x".repeat(11_000_000) });
        return true;
      }),
    );
    const limits = { messageBytesMax: 12 * 1024 * 1024 };
    const p = proxied({ policy: ALLOW_ALL, upstreams: [{ name: "web", url: web.url, limits }] });
    await p.client.handshake();
    const ids = [1, 2, 3];
    const all = await Promise.all(ids.map((id) => p.client.request(id, "vendor/long")));
    expect(all.map(({ result }) => String(result).length)).toEqual(ids.map(() => 11_000_000));
    await p.proxy.close();
    const less = proxied({
      policy: ALLOW_ALL,
      upstreams: [{ name: "web", url: web.url, limits: { messageBytesMax: 1_000_000 } }],
    });
    await less.client.handshake();
    expect((await less.client.request(1, "vendor/long")).error).toMatchObject({
      data: { code: "answer_too_large" },
    });
    await less.proxy.close();
  });
});

describe("callTimeoutMs", () => {
  it("says that the effect is not known, tells the server, and drops what it says later", async () => {
    const p = await limited({ callTimeoutMs: 4_000 });
    call(p, 1, "hang");
    while ((await calls(p)).length === 0);
    await p.clock.advance(3_999);
    expect((await p.client.request("ping", "ping")).result).toEqual({});
    expect(p.client.lines.some((line) => line.includes('"id":1,'))).toBe(false);
    await p.clock.advance(1);
    const result = await answer(p, 1);
    expect(notice(result)).toEqual({
      code: "call_timed_out",
      reason:
        'Server "fs" did not answer within 4000 ms; whether the call took effect is not known',
      remedy: "Check what happened before calling again",
      retryable: false,
    });
    expect(JSON.stringify(result)).not.toContain("Not executed");
    expect((await received(p)).map((line) => JSON.parse(line) as object)).toContainEqual({
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { requestId: 1, reason: "it took too long" },
    });
    // Until its answer came, another one could not be told from it.
    const told = p.client.lines.length;
    p.client.send({ id: 1, method: "ping" });
    // By then that one has its answer, whatever it is.
    await p.client.request("after", "ping");
    expect(p.client.lines.slice(told).join("\n")).toContain("its id is in use");
    const count = p.client.lines.length;
    await p.client.request(2, "vendor/say", { lines: ['{"jsonrpc":"2.0","id":1,"result":{}}'] });
    expect(p.client.lines.length).toBe(count + 1);
    await p.proxy.close();
    const completed = p.audit
      .events()
      .filter(({ eventType }) => eventType === "tool_call_completed");
    expect(completed.map(({ metadata }) => metadata.outcome)[0]).toBe("failed");
  });

  it.each([
    ["one server", "", []],
    ["several servers", "fs__", [server("two")]],
  ])("leaves a server alive whose late answer is too large: %s", async (_, prefix, others) => {
    const limits = { callTimeoutMs: 4_000, messageBytesMax: 5_000 };
    const p = proxied({
      policy: ALLOW_ALL,
      upstreams: [{ name: "fs", command: scripted(), limits }, ...others],
    });
    onTestFinished(() => p.proxy.close());
    await p.client.handshake();
    call(p, 1, `${prefix}hang`);
    const forwarded = (): boolean =>
      p.audit.events().some(({ eventType }) => eventType === "tool_call_forwarded");
    while (!forwarded()) await new Promise((resolve) => setTimeout(resolve, 5));
    await p.clock.advance(4_000);
    await answer(p, 1);
    // The one that hangs has no answer left; this is what it would have been.
    await p.client.call(2, `${prefix}nudge-large`, {});
    expect((await p.client.call(3, `${prefix}echo`, {})).result).toHaveProperty("content");
    expect(p.logs.join()).not.toContain("too long");
  });

  it("does not count the time that a person takes", async () => {
    const p = await limited({ callTimeoutMs: 4_000 }, ASK_ALL);
    call(p, 1, "echo");
    const question = await p.channel.question(0);
    await p.clock.advance(10_000);
    await question.approve();
    expect(await answer(p, 1)).not.toHaveProperty("isError");
    await p.proxy.close();
  });
});

describe("while a person decides about what an answer asks for", () => {
  it("the server has no call of it any more, and no time runs", async () => {
    const rules = [{ match: { tool: "mcp:elicitation/*" }, action: "ask" }];
    const policy = { version: "1", default: "allow", rules };
    const p = await limited({ callTimeoutMs: 4_000, callsMax: 1 }, policy);
    const needs = { inputRequests: { a: { method: "elicitation/create", params: {} } } };
    const asked = p.client.call(1, "answer", { result: needs });
    const question = await p.channel.question(0);
    await p.clock.advance(10_000);
    expect((await p.client.call(2, "echo", {})).result).toHaveProperty("content");
    await question.approve();
    expect((await asked).result).toEqual(needs);
    expect((await received(p)).join("")).not.toContain("notifications/cancelled");
  });
});

describe("callTimeoutMs over HTTP", () => {
  it.each([false, true])("gives the connection back (as a stream: %s)", async (isStream) => {
    let closed = 0;
    await using web = await webServer(
      echoServer(({ message }, response) => {
        if (message.method !== "tools/call") return false;
        response.on("close", () => closed++);
        if (isStream) events(response);
        return true;
      }),
    );
    const limits = { callTimeoutMs: 4_000 };
    const p = proxied({ policy: ALLOW_ALL, upstreams: [{ name: "web", url: web.url, limits }] });
    onTestFinished(() => p.proxy.close());
    await p.client.handshake();
    call(p, 1, "echo");
    while (!web.asked.some(({ message }) => message.method === "tools/call"))
      await new Promise((resolve) => setTimeout(resolve, 5));
    await p.clock.advance(4_000);
    expect(notice(await answer(p, 1))).toMatchObject({ code: "call_timed_out" });
    while (closed === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(web.asked.map(({ message }) => message.method)).toContain("notifications/cancelled");
    expect(p.client.lines.filter((line) => /"id": ?1\b/u.test(line))).toHaveLength(1);
  });
});

describe("callsMax", () => {
  it("has further calls wait in their order; one that is taken back is never sent", async () => {
    const p = await limited({ callsMax: 1, callTimeoutMs: 5_000 });
    call(p, 1, "hang");
    while ((await calls(p)).length < 1);
    for (const id of [2, 3, 4]) call(p, id, "echo");
    await p.client.request("ping", "ping");
    expect(await calls(p)).toHaveLength(1);
    p.client.send({ method: "notifications/cancelled", params: { requestId: 3 } });
    await p.client.request("ping-2", "ping");
    await p.clock.advance(5_000);
    await answer(p, 4);
    const order = p.client.lines.flatMap((line) => /"id": ?([124])\b/u.exec(line)?.[1] ?? []);
    expect(order).toEqual(["1", "2", "4"]);
    expect(await calls(p)).toHaveLength(3);
    await p.proxy.close();
  });

  it("says of a call that waited when the server died that it was not executed", async () => {
    const greeting = `process.stderr.write(String(process.pid) + "\\n")`;
    const command = [process.execPath, "--import", `data:text/javascript,${greeting}`];
    const upstream = { name: "fs", command: [...command, ...scripted().slice(1)] };
    const p = proxied({
      policy: ALLOW_ALL,
      upstreams: [{ ...upstream, limits: { callsMax: 1 } }],
    });
    onTestFinished(() => p.proxy.close());
    await p.client.handshake();
    call(p, 1, "hang");
    call(p, 2, "echo");
    await p.client.request("ping", "ping");
    const forwarded = (): number =>
      p.audit.events().filter(({ eventType }) => eventType === "tool_call_forwarded").length;
    while (forwarded() < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    process.kill(Number(p.logs.find((line) => /^\[fs\] \d+$/u.test(line))?.slice(5)), "SIGKILL");
    expect(notice(await answer(p, 1))).toMatchObject({ retryable: false });
    expect(notice(await answer(p, 2))).toMatchObject({
      reason: 'Server "fs" was ended by SIGKILL',
      retryable: true,
    });
    await p.proxy.close();
  });

  it("of one server is no other's", async () => {
    const p = proxied({
      policy: ALLOW_ALL,
      upstreams: [{ ...server("one"), limits: { callsMax: 1 } }, server("two")],
    });
    await p.client.handshake();
    call(p, 1, "one__hang");
    call(p, 2, "one__echo");
    call(p, 3, "two__echo");
    await answer(p, 3);
    expect(p.client.lines.some((line) => /"id": ?2\b/u.test(line))).toBe(false);
    await p.proxy.close();
  });

  it("holds nobody up whose client has left", async () => {
    const p = await limited({ callsMax: 1 });
    call(p, 1, "hang");
    while ((await calls(p)).length < 1);
    call(p, 2, "echo");
    await p.client.request("ping", "ping");
    p.client.end();
    await p.clock.advance(0);
    let isDone = false;
    void p.proxy.done.then(() => (isDone = true));
    while (!isDone) {
      await p.clock.advance(10_000);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(p.client.lines.some((line) => /"id": ?2\b/u.test(line))).toBe(true);
  });
});

describe("startTimeoutMs", () => {
  it("is the server's own", async () => {
    const p = proxied({
      policy: ALLOW_ALL,
      upstreams: [
        { name: "fs", command: scripted({ silent: true }), limits: { startTimeoutMs: 2_000 } },
      ],
    });
    p.client.send({ id: 1, method: "initialize", params: {} });
    await p.clock.advance(0);
    await p.clock.advance(2_000);
    expect((await p.client.find(({ id }) => id === 1)).message.error?.message).toBe(
      'Server "fs" did not answer "initialize" within 2000 ms',
    );
    await p.proxy.done;
  });
});

describe("limits that are none", () => {
  it.each([
    [{ messageBytesMax: 0 }],
    [{ messageBytesMax: 256 * 1024 * 1024 + 1 }],
    [{ messageBytesMax: Number.NaN }],
    [{ callTimeoutMs: -1 }],
    [{ callsMax: 0.5 }],
    [{ startTimeoutMs: Number.POSITIVE_INFINITY }],
  ])("are refused: %j", (limits) => {
    const { input, output } = pipes();
    const start = (): unknown =>
      createMcpProxy({
        gate: undefined as never,
        agent: { id: "a" },
        upstreams: [{ name: "fs", command: ["x"], limits }],
        input,
        output,
        log: () => {},
      });
    expect(start).toThrow(expect.objectContaining({ code: "options_invalid" }));
  });
});
