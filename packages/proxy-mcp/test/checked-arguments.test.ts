import { describe, expect, it } from "vitest";
import { ALLOW_ALL, ASK_ALL, proxied, scripted } from "./support/proxied.js";
import { received } from "./support/received.js";

describe("a tool call whose arguments are checked against its tool's schema", () => {
  it("is refused before anybody is asked when its arguments do not fit the tool's schema", async () => {
    const p = proxied({ policy: ASK_ALL });
    await p.client.handshake();
    await p.client.request(1, "tools/list");
    const answer = await p.client.call(2, "typed", { count: 0 });
    expect(answer.result).toMatchObject({
      isError: true,
      _meta: {
        "acp/denied": {
          code: "arguments_invalid",
          reason: '"count" must be >= 1',
          retryable: false,
        },
      },
    });
    expect(p.channel.questions).toHaveLength(0);
    expect(p.audit.events().at(-1)).toMatchObject({
      eventType: "policy_evaluated",
      decision: "deny",
      metadata: { code: "arguments_invalid", denied: '"count" must be >= 1' },
    });
    await p.proxy.close();
  });

  it("is not forwarded with arguments that a person edited so that they do not fit", async () => {
    const p = proxied({ policy: ASK_ALL });
    await p.client.handshake();
    await p.client.request(1, "tools/list");
    p.client.send({
      id: 2,
      method: "tools/call",
      params: { name: "typed", arguments: { count: 1 } },
    });
    const question = await p.channel.question(0);
    await expect(question.approve({ count: 0 })).rejects.toThrow(
      /modification_invalid.*must be >= 1/,
    );
    await expect(question.approve({ COUNT: 2 })).rejects.toThrow(
      /modification_invalid.*in case only/,
    );
    await question.approve({ count: 2 });
    await p.client.find(({ id }) => id === 2);
    const calls = (await received(p)).filter((line) => line.includes("tools/call"));
    expect(
      calls.map(
        (line) => (JSON.parse(line) as { params: { arguments: unknown } }).params.arguments,
      ),
    ).toEqual([{ count: 2 }]);
    await p.proxy.close();
  });

  it("is checked also when the client never listed the tools", async () => {
    const p = proxied({ policy: ASK_ALL });
    await p.client.handshake();
    expect((await p.client.call(1, "typed", {})).result).toMatchObject({
      _meta: { "acp/denied": { code: "arguments_invalid" } },
    });
    expect((await p.client.call(2, "typed", { count: "1" })).result).toMatchObject({
      _meta: { "acp/denied": { code: "arguments_invalid" } },
    });
    expect((await received(p)).filter((line) => line.includes("tools/list"))).toHaveLength(1);
    expect(p.client.lines.some((line) => line.includes("inputSchema"))).toBe(false);
    await p.proxy.close();
  });

  it("goes on to the gate when the server does not answer the proxy's list in time, and the late list stays with the proxy", async () => {
    const p = proxied({
      policy: ALLOW_ALL,
      upstreams: [{ name: "fs", command: scripted({ heldList: true }) }],
    });
    await p.client.handshake();
    p.client.send({ id: 1, method: "tools/call", params: { name: "echo", arguments: {} } });
    while (!(await received(p)).some((line) => line.includes("tools/list")));
    expect((await received(p)).some((line) => line.includes("tools/call"))).toBe(false);
    await p.clock.advance(5_000);
    await p.client.find(({ id }) => id === 1);
    await p.client.request(2, "vendor/release-list");
    await p.client.request(3, "ping");
    expect(p.client.lines.some((line) => line.includes("inputSchema"))).toBe(false);
    await p.proxy.close();
  });

  it("asks the server for no list before the handshake is over", async () => {
    const p = proxied({ policy: ALLOW_ALL });
    await p.client.call(1, "typed", { count: 1 });
    expect((await received(p)).filter((line) => line.includes("tools/list"))).toEqual([]);
    await p.proxy.close();
  });

  it("is checked against the new schema after the tools changed", async () => {
    const p = proxied({ policy: ALLOW_ALL });
    await p.client.handshake();
    await p.client.request(1, "tools/list");
    await p.client.request(2, "vendor/change-tools", {
      tools: [{ name: "typed", inputSchema: { required: ["other"] } }],
    });
    expect((await p.client.call(3, "typed", { count: 1 })).result).toMatchObject({
      _meta: { "acp/denied": { reason: "the arguments must have required property 'other'" } },
    });
    await p.proxy.close();
  });

  it.each([
    ["a number beyond 2^53", '{"text":9007199254740993}', "beyond"],
    ["a lone surrogate", '{"text":"\\ud800"}', "surrogate"],
    ["nesting beyond the limit", `{"text":${"[".repeat(100)}${"]".repeat(100)}}`, "nested deeper"],
  ])("is refused with a result when its arguments hold %s", async (_what, args, reason) => {
    const p = proxied({ policy: ALLOW_ALL });
    p.client.raw(
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":${args}}}\n`,
    );
    const { message } = await p.client.find(({ id }) => id === 1);
    expect(message.result).toMatchObject({
      isError: true,
      _meta: {
        "acp/denied": {
          code: "arguments_invalid",
          reason: expect.stringContaining(reason) as string,
        },
      },
    });
    await p.proxy.close();
  });
});
