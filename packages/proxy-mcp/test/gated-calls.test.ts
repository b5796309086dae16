import { describe, expect, it } from "vitest";
import { ALLOW_ALL, ASK_ALL, proxied } from "./support/proxied.js";
import { received } from "./support/received.js";
import type { Message } from "./support/line-client.js";

const DENY_ECHO = {
  version: "1",
  default: "allow",
  rules: [{ id: "no-echo", reason: "echo is off", match: { tool: "echo" }, action: "deny" }],
};

function texts({ result }: Message): readonly string[] {
  return ((result ?? {}).content as readonly { text: string }[]).map(({ text }) => text);
}

describe("a tool call through the proxy", () => {
  it("is forwarded with the bytes as received when the policy allows it", async () => {
    const p = proxied({ policy: ALLOW_ALL });
    await p.client.handshake();
    const line =
      ' {"jsonrpc":"2.0" ,"id":7,\t"method":"tools\\/call","params":{"name":"echo","arguments":{"text":"\\u0061\\/é"},"_meta":{"progressToken":1.0}}}';
    p.client.raw(`${line}\n`);
    const { message, line: answer } = await p.client.find(({ id }) => id === 7);
    expect(texts(message)).toEqual([line]);
    expect(answer).toContain('"n":12345678901234567890,"\\u0076endor":1.0} }');
    expect(p.audit.events().map(({ eventType }) => eventType)).toEqual([
      "tool_call_intercepted",
      "policy_evaluated",
      "tool_call_forwarded",
      "tool_call_completed",
    ]);
    await p.proxy.close();
  });

  it("reaches its server without what nobody judged, logged or showed", async () => {
    const p = proxied({ policy: ALLOW_ALL });
    await p.client.handshake();
    p.client.send({
      id: 1,
      method: "tools/call",
      params: {
        name: "echo",
        arguments: { text: "x" },
        _meta: { capability: "all", progressToken: 7 },
      },
    });
    const { message } = await p.client.find(({ id }) => id === 1);
    expect(texts(message).join("")).toContain('"_meta":{"progressToken":7}');
    expect(texts(message).join("")).not.toContain("capability");
    p.client.send({
      id: 2,
      method: "tools/call",
      params: { name: "echo", arguments: { text: "x" }, capability: "all" },
    });
    const { message: refused } = await p.client.find(({ id }) => id === 2);
    expect(refused.error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('"capability"') as string,
    });
    await p.proxy.close();
  });

  it("is answered with an error result and never forwarded when the policy denies it", async () => {
    const p = proxied({ policy: DENY_ECHO });
    await p.client.handshake();
    const answer = await p.client.call(1, "echo", { text: "x" });
    const notice = {
      code: "policy_denied",
      reason: "echo is off",
      retryable: false,
      ruleId: "no-echo",
      remedy: expect.any(String) as string,
    };
    expect(answer.result).toMatchObject({ isError: true, _meta: { "acp/denied": notice } });
    expect(answer.result).not.toHaveProperty("structuredContent");
    const [sentence, data] = texts(answer);
    expect(sentence).toContain("echo is off");
    expect(JSON.parse(data ?? "")).toEqual(notice);
    expect((await received(p)).filter((line) => line.includes("tools/call"))).toEqual([]);
    await p.proxy.close();
  });

  it("waits for a person, holds up nothing else, and goes through when they say yes", async () => {
    const p = proxied({ policy: ASK_ALL });
    await p.client.handshake();
    p.client.send({
      id: 1,
      method: "tools/call",
      params: { name: "echo", arguments: { text: "wait" } },
    });
    const question = await p.channel.question(0);
    expect(question.request.action).toMatchObject({
      tool: "echo",
      server: "fs",
      parameters: { text: "wait" },
    });
    expect((await p.client.request(2, "ping")).result).toEqual({});
    expect((await received(p)).some((line) => line.includes("tools/call"))).toBe(false);
    await question.approve();
    expect(texts((await p.client.find(({ id }) => id === 1)).message)[0]).toContain(
      '"text":"wait"',
    );
    await p.proxy.close();
  });

  it("carries the arguments that a person edited, and every other byte as received", async () => {
    const p = proxied({ policy: ASK_ALL });
    await p.client.handshake();
    p.client.raw(
      '{"id":1,"params":{"_meta" : {"progressToken":"s" },"arguments": {"text":"old"} ,"name":"echo"},"method":"tools/call","jsonrpc":"2.0"}\n',
    );
    await (await p.channel.question(0)).approve({ text: "new" });
    const { message } = await p.client.find(({ id }) => id === 1);
    expect(texts(message)).toEqual([
      '{"id":1,"params":{"_meta" : {"progressToken":"s" },"arguments": {"text":"new"} ,"name":"echo"},"method":"tools/call","jsonrpc":"2.0"}',
    ]);
    await p.proxy.close();
  });

  it("carries edited arguments where it had none", async () => {
    const p = proxied({ policy: ASK_ALL });
    await p.client.handshake();
    p.client.raw('{"id":1,"method":"tools/call","params":{"name":"echo"}}\n');
    await (await p.channel.question(0)).approve({ text: "new" });
    const { message } = await p.client.find(({ id }) => id === 1);
    expect(JSON.parse(texts(message)[0] ?? "")).toEqual({
      id: 1,
      method: "tools/call",
      params: { name: "echo", arguments: { text: "new" } },
    });
    await p.proxy.close();
  });

  it("tells the model what a person said when they say no", async () => {
    const p = proxied({ policy: ASK_ALL });
    await p.client.handshake();
    p.client.send({ id: 1, method: "tools/call", params: { name: "echo", arguments: {} } });
    await (await p.channel.question(0)).deny("use the other file");
    const { message } = await p.client.find(({ id }) => id === 1);
    expect(texts(message)[0]).toContain("use the other file");
    expect(message.result).toMatchObject({
      isError: true,
      _meta: { "acp/denied": { code: "consent_denied", retryable: false } },
    });
    await p.proxy.close();
  });

  it("reports progress every 10 s while a person decides, if it was asked for", async () => {
    const p = proxied({ policy: ASK_ALL });
    await p.client.handshake();
    p.client.send({
      id: 1,
      method: "tools/call",
      params: { name: "echo", arguments: {}, _meta: { progressToken: "t" } },
    });
    p.client.send({
      id: 2,
      method: "tools/call",
      params: { name: "echo", arguments: { text: "no token" } },
    });
    const question = await p.channel.question(1);
    await p.clock.advance(30_000);
    const reports = p.client.lines
      .map((line) => JSON.parse(line) as Message)
      .filter(({ method }) => method === "notifications/progress");
    expect(reports.map(({ params }) => params?.progressToken)).toEqual(["t", "t", "t"]);
    const values = reports.map(({ params }) => Number(params?.progress));
    expect(values).toEqual([...values].sort((one, other) => one - other));
    expect(new Set(values).size).toBe(3);
    expect(values.every((value) => value < 1)).toBe(true);
    expect(reports[0]?.params?.message).toMatch(/cr_/);
    await question.deny("over");
    await p.proxy.close();
  });

  it('is answered "pending" after 45 s, and the retry finds the decision', async () => {
    const p = proxied({ policy: ASK_ALL });
    await p.client.handshake();
    p.client.send({
      id: 1,
      method: "tools/call",
      params: { name: "echo", arguments: { text: "x" } },
    });
    const question = await p.channel.question(0);
    await p.clock.advance(44_999);
    expect(p.client.lines.some((line) => line.includes("acp/pending"))).toBe(false);
    await p.clock.advance(1);
    const { message } = await p.client.find(({ id }) => id === 1);
    const notice = {
      code: "pending",
      retryable: true,
      requestId: question.request.id,
      reason: `a person was asked (${question.request.id}) and has not answered yet`,
    };
    expect(message.result).toMatchObject({ isError: true, _meta: { "acp/pending": notice } });
    expect(message.result).not.toHaveProperty("structuredContent");
    expect(texts(message)[0]).toContain("all again with the same arguments");
    await question.approve();
    const retry = await p.client.call(2, "echo", { text: "x" });
    expect(texts(retry)[0]).toContain('"id":2');
    expect(p.channel.questions).toHaveLength(1);
    await p.proxy.close();
  });

  it("waits again when the retry comes before the decision", async () => {
    const p = proxied({ policy: ASK_ALL });
    await p.client.handshake();
    p.client.send({ id: 1, method: "tools/call", params: { name: "echo", arguments: {} } });
    const question = await p.channel.question(0);
    await p.clock.advance(45_000);
    await p.client.find(({ id }) => id === 1);
    p.client.send({ id: 2, method: "tools/call", params: { name: "echo", arguments: {} } });
    await p.client.request(3, "ping");
    await p.clock.advance(0);
    await question.approve();
    expect(texts((await p.client.find(({ id }) => id === 2)).message)[0]).toContain('"id":2');
    expect(p.channel.questions).toHaveLength(1);
    await p.proxy.close();
  });

  it("of a client that cancels after 30 s and asks again goes through by a yes at 40 s, and the person is asked once", async () => {
    const p = proxied({ policy: ASK_ALL });
    await p.client.handshake();
    p.client.send({ id: 1, method: "tools/call", params: { name: "echo", arguments: {} } });
    const question = await p.channel.question(0);
    await p.clock.advance(30_000);
    p.client.send({
      method: "notifications/cancelled",
      params: { requestId: 1, reason: "timed out" },
    });
    await p.client.request(2, "ping");
    p.client.send({ id: 3, method: "tools/call", params: { name: "echo", arguments: {} } });
    await p.client.request(4, "ping");
    await p.clock.advance(10_000);
    await question.approve();
    expect(texts((await p.client.find(({ id }) => id === 3)).message)[0]).toContain('"id":3');
    expect(p.channel.questions).toHaveLength(1);
    expect(await question.session.outcome).toEqual({ status: "ran", detail: "" });
    expect(p.client.lines.some((line) => (JSON.parse(line) as Message).id === 1)).toBe(false);
    await p.proxy.close();
  });

  it("takes the question back and answers nothing when the client cancels and does not ask again", async () => {
    const p = proxied({ policy: ASK_ALL });
    await p.client.handshake();
    p.client.send({ id: 1, method: "tools/call", params: { name: "echo", arguments: {} } });
    const { session } = await p.channel.question(0);
    p.client.send({
      method: "notifications/cancelled",
      params: { requestId: 1, reason: "changed my mind" },
    });
    await p.client.request(2, "ping");
    await p.clock.advance(60_000);
    expect(await session.ended).toMatchObject({ status: "cancelled" });
    expect((await received(p)).filter((line) => /tools.call|cancelled/.test(line))).toEqual([]);
    expect(p.client.lines.some((line) => (JSON.parse(line) as Message).id === 1)).toBe(false);
    await p.proxy.close();
  });

  it("passes the cancellation on when the server has the call", async () => {
    const p = proxied({ policy: ALLOW_ALL });
    await p.client.handshake();
    p.client.send({ id: 1, method: "tools/call", params: { name: "hang", arguments: {} } });
    while (!(await received(p)).some((line) => line.includes("tools/call")));
    const line =
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1, "reason":"x"}}';
    p.client.raw(`${line}\n`);
    expect(await received(p)).toContain(line);
    expect(p.client.lines.some((text) => (JSON.parse(text) as Message).id === 1)).toBe(false);
    await p.proxy.close();
  });

  it("is answered by nobody but the gate while a person decides", async () => {
    const p = proxied({ policy: ASK_ALL });
    await p.client.handshake();
    p.client.send({ id: 1, method: "tools/call", params: { name: "echo", arguments: {} } });
    const question = await p.channel.question(0);
    await p.client.request(2, "vendor/say", {
      lines: ['{"jsonrpc":"2.0","id":1,"result":{"forged":true}}'],
    });
    await question.deny("no");
    expect((await p.client.find(({ id }) => id === 1)).message.result).toMatchObject({
      _meta: { "acp/denied": { code: "consent_denied" } },
    });
    expect(p.logs).toContain("[fs] answered a call that it was not sent; the answer is dropped");
    await p.proxy.close();
  });

  it("is denied, not forwarded, when the audit log fails", async () => {
    const p = proxied({ policy: ALLOW_ALL });
    await p.client.handshake();
    p.audit.fail(new Error("disk full"));
    expect((await p.client.call(1, "echo", {})).result).toMatchObject({
      isError: true,
      _meta: { "acp/denied": { code: "audit_failed" } },
    });
    expect((await received(p)).filter((line) => line.includes("tools/call"))).toEqual([]);
    await p.proxy.close();
  });

  it("names its result's type to a client of the stateless era", async () => {
    const p = proxied({ policy: DENY_ECHO });
    const answer = await p.client.call(
      1,
      "echo",
      {},
      { _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } },
    );
    expect(answer.result).toMatchObject({ resultType: "complete", isError: true });
    expect((await p.client.call(2, "echo", {})).result).not.toHaveProperty("resultType");
    await p.proxy.close();
  });

  it("runs beside many others, each answered by its own id", async () => {
    const p = proxied({
      policy: {
        version: "1",
        default: "allow",
        rules: [{ match: { tool: "echo", args: { text: "ask*" } }, action: "ask" }],
      },
    });
    await p.client.handshake();
    const ids = Array.from({ length: 200 }, (_, index) => index);
    p.client.raw(
      ids
        .map(
          (id) =>
            `${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "echo", arguments: { text: id % 10 === 0 ? `ask ${id}` : `${id}` } } })}\n`,
        )
        .join(""),
    );
    for (const id of ids.filter((each) => each % 10 !== 0))
      expect(texts((await p.client.find((message) => message.id === id)).message)[0]).toContain(
        `"text":"${id}"`,
      );
    for (let index = 0; index < 20; index++) await (await p.channel.question(index)).approve();
    for (const id of ids.filter((each) => each % 10 === 0))
      expect(texts((await p.client.find((message) => message.id === id)).message)[0]).toContain(
        `"text":"ask ${id}"`,
      );
    await p.proxy.close();
  });
});
