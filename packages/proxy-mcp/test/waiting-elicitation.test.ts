/** A client with sessions that can show its user a page (MCP 2025-11-25, elicitation mode "url"). */
import { describe, expect, it } from "vitest";
import { scripted } from "./support/proxied.js";
import { addressOf, elicited, greet, ORIGIN, URL_MODE, waits } from "./support/waiting-world.js";
import type { Waits } from "./support/waiting-world.js";

const call = ({ client }: Waits, id: number, text = "x"): void =>
  client.send({ id, method: "tools/call", params: { name: "echo", arguments: { text } } });

describe("the page of a question", () => {
  it("is shown once, with the server, the tool and no argument, and the call runs once after a yes", async () => {
    const w = waits();
    await greet(w, URL_MODE);
    call(w, 1, "top secret");
    const question = await w.channel.question(0);
    const { id, params } = await elicited(w);
    expect(params).toEqual({
      mode: "url",
      elicitationId: expect.stringMatching(/^[\w-]{36}$/),
      url: `${ORIGIN}/#/q/${question.request.id}`,
      message: expect.stringMatching(/tool "echo" of server "fs".*cr_/s),
    });
    expect(JSON.stringify(params)).not.toContain("top secret");
    expect(params?.["elicitationId"]).not.toBe(question.request.id);
    w.client.send({ id, result: { action: "accept" } });
    await w.client.request(2, "ping");
    // Its user opened a page, and no more.
    expect(w.calls()).toEqual([]);
    await question.approve();
    await w.client.find((message) => message.id === 1 && message.result !== undefined);
    expect(w.calls()).toHaveLength(1);
    expect(w.told("notifications/elicitation/complete").map((each) => each.params)).toEqual([
      { elicitationId: params?.["elicitationId"] },
    ]);
    expect(w.told("elicitation/create")).toHaveLength(1);
    expect(w.told("notifications/cancelled")).toEqual([]);
    // No server hears of the proxy's own request, or of what came back.
    expect(w.server.lines.slice(1).join("\n")).not.toMatch(/elicitation|accept/);
  });

  it.each([
    [{ result: { action: "accept", content: { approved: true } } }],
    [{ result: { action: "cancel" } }],
    [{ result: { action: "approved" } }],
    [{ result: {} }],
    [{ error: { code: -1, message: "no" } }],
  ])("is closed with %o, which neither approves nor ends the question", async (said) => {
    const w = waits();
    await greet(w, URL_MODE);
    call(w, 1);
    const question = await w.channel.question(0);
    w.client.send({ id: (await elicited(w)).id, ...said });
    await w.client.request(2, "ping");
    await w.clock.advance(1_000);
    expect(w.calls()).toEqual([]);
    await question.approve();
    await w.client.find((message) => message.id === 1 && message.result !== undefined);
    expect(w.calls()).toHaveLength(1);
  });

  it("that the client's user declines ends the question, and the model hears not to repeat the call", async () => {
    const w = waits();
    await greet(w, URL_MODE);
    call(w, 1);
    const question = await w.channel.question(0);
    w.client.send({ id: (await elicited(w)).id, result: { action: "decline" } });
    const { message } = await w.client.find(({ id }) => id === 1);
    expect(await question.session.ended).toMatchObject({ status: "cancelled" });
    expect(message.result?.["_meta"]).toMatchObject({
      "acp/denied": { code: "consent_cancelled", retryable: false, requestId: question.request.id },
    });
    expect(JSON.stringify(message.result)).toContain("Do not repeat the call");
    expect(w.calls()).toEqual([]);
  });

  it("that is still open when a person has answered is closed", async () => {
    const w = waits();
    await greet(w, URL_MODE);
    call(w, 1);
    const question = await w.channel.question(0);
    const { id } = await elicited(w);
    await question.deny("no");
    await w.client.find((message) => message.id === 1 && message.result !== undefined);
    expect(w.told("notifications/cancelled").map(({ params }) => params?.["requestId"])).toEqual([
      id,
    ]);
    // Too late: it is nobody's word any more, and no server's business.
    w.client.send({ id, result: { action: "decline" } });
    await w.client.request(2, "ping");
    expect(w.server.lines.join("\n")).not.toContain("decline");
  });

  it('is not shown again for a retry, and can be declined after "pending"', async () => {
    const w = waits();
    await greet(w, URL_MODE);
    call(w, 1);
    const question = await w.channel.question(0);
    const { id } = await elicited(w);
    await w.clock.advance(45_000);
    await w.client.find((message) => message.id === 1 && message.result !== undefined);
    expect(w.told("notifications/elicitation/complete")).toEqual([]);
    call(w, 2);
    await w.client.request(3, "ping");
    await w.clock.advance(0);
    w.client.send({ id, result: { action: "decline" } });
    const { message } = await w.client.find((each) => each.id === 2 && each.result !== undefined);
    expect(await question.session.ended).toMatchObject({ status: "cancelled" });
    expect(message.result).toMatchObject({ isError: true });
    expect(w.told("elicitation/create")).toHaveLength(1);
    expect(w.told("notifications/elicitation/complete")).toHaveLength(1);
  });

  it("is said to be over by the question's own end, if nobody comes back", async () => {
    const w = waits();
    await greet(w, URL_MODE);
    call(w, 1);
    const { request } = await w.channel.question(0);
    await elicited(w);
    await w.clock.advance(45_000);
    await w.clock.advance(request.expiresAtMs - w.clock.now());
    expect(w.told("notifications/elicitation/complete")).toHaveLength(1);
  });

  it.each([
    ["says nothing", {}, "2025-11-25"],
    ["has forms only", { elicitation: {} }, "2025-11-25"],
    ["has forms only, and says so", { elicitation: { form: {} } }, "2025-11-25"],
    ["speaks an older version", URL_MODE, "2025-06-18"],
    ["says it in another form", { elicitation: { url: true } }, "2025-11-25"],
  ])("is not shown where the client %s", async (_, capabilities, version) => {
    const w = waits();
    await greet(w, capabilities, version);
    call(w, 1);
    await (await w.channel.question(0)).approve();
    await w.client.find((message) => message.id === 1 && message.result !== undefined);
    expect(w.told("elicitation/create")).toEqual([]);
    expect(w.told("notifications/elicitation/complete")).toEqual([]);
  });

  it.each([
    ["none", async () => undefined],
    ["one that cannot be had", () => Promise.reject(new Error("no"))],
    ["one that others could hold", async () => "http://localhost:8789/#/q/x"],
    ["one with a password", async () => "https://a:b@inbox.example.com/"],
    ["no address", async () => "inbox"],
  ])("is not shown where its address is %s", async (_, answerAddress) => {
    const w = waits({ answerAddress });
    await greet(w, URL_MODE);
    call(w, 1);
    await (await w.channel.question(0)).approve();
    await w.client.find((message) => message.id === 1 && message.result !== undefined);
    expect(w.told("elicitation/create")).toEqual([]);
  });

  it("is shown for at most 16 questions at a time", async () => {
    const w = waits();
    await greet(w, URL_MODE);
    for (let id = 1; id <= 20; id++) call(w, id, `${id}`);
    const last = await w.channel.question(19);
    await w.client.request("p", "ping");
    expect(w.told("elicitation/create")).toHaveLength(16);
    await (await w.channel.question(0)).deny("no");
    call(w, 21, "21");
    await w.channel.question(20);
    await expect.poll(() => w.told("elicitation/create").length).toBe(17);
    await last.deny("no");
  });

  it("of one of several servers is the proxy's own request, under an id that no server's answer has", async () => {
    const w = waits({
      upstreams: [
        { name: "one", command: scripted() },
        { name: "two", command: scripted() },
      ],
      answerAddress: addressOf,
    });
    await greet(w, URL_MODE);
    w.client.send({ id: 1, method: "tools/call", params: { name: "two__echo", arguments: {} } });
    const question = await w.channel.question(0);
    const { id, params } = await elicited(w);
    expect(params?.["message"]).toContain('tool "echo" of server "two"');
    w.client.send({ id, result: { action: "decline" } });
    await w.client.find((message) => message.id === 1 && message.result !== undefined);
    expect(await question.session.ended).toMatchObject({ status: "cancelled" });
    expect(w.logs.join("\n")).not.toContain("no server made");
  });
});
