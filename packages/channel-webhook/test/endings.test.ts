import { describe, expect, it, onTestFinished } from "vitest";
import { answerTo, makeChannel, patience, question } from "./channel-kit.js";
import { type Receiver, linksOf, signed } from "./receiver.js";

describe("createWebhookChannel(): the end", () => {
  const endOf = (receiver: Receiver) =>
    receiver.taken.find(({ json }) => json["type"] === "consent_ended");

  it("is told to the receiver, signed, under an id of its own", async () => {
    const { channel, receiver, clock } = await makeChannel();
    const ask = question();
    await channel.deliver(ask.request, ask.session);
    ask.end({ status: "superseded", reason: "edited", successorId: "cr_next" });
    await expect
      .poll(() => endOf(receiver)?.json, patience)
      .toEqual({
        type: "consent_ended",
        version: "0.2.0",
        request_id: ask.request.id,
        timestamp: new Date(clock.now()).toISOString(),
        status: "superseded",
        reason: "edited",
        successor_id: "cr_next",
      });
    expect(endOf(receiver)?.id).not.toBe(receiver.taken[0]?.id);
  });

  it("of a yes is followed by what became of it, and the end of a no by nothing", async () => {
    const { channel, receiver, clock } = await makeChannel();
    const [yes, no] = [question(), question()];
    for (const ask of [yes, no]) await channel.deliver(ask.request, ask.session);
    no.end({ status: "denied", reason: "" });
    yes.end({ status: "approved", reason: "" });
    const outcomes = (): readonly unknown[] =>
      receiver.taken.flatMap(({ json }) => (json["type"] === "consent_outcome" ? [json] : []));
    await expect
      .poll(
        () => receiver.taken.filter(({ json }) => json["type"] === "consent_ended").length,
        patience,
      )
      .toBe(2);
    expect(outcomes()).toEqual([]);
    yes.settle({ status: "not_collected", detail: "the caller did not call again in time" });
    await expect.poll(outcomes, patience).toEqual([
      {
        type: "consent_outcome",
        version: "0.2.0",
        request_id: yes.request.id,
        timestamp: new Date(clock.now()).toISOString(),
        status: "not_collected",
        detail: "the caller did not call again in time",
      },
    ]);
  });

  it("ends a delivery that is being tried, and is told where the receiver may have heard of the question", async () => {
    const { channel, receiver } = await makeChannel();
    receiver.respond = () => undefined;
    const ask = question();
    const delivering = channel.deliver(ask.request, ask.session);
    await expect.poll(() => receiver.taken.length, patience).toBe(1);
    ask.end({ status: "expired", reason: "nobody answered" });
    await expect(delivering).rejects.toMatchObject({ code: "channel_failed" });
    await expect.poll(() => endOf(receiver)?.json["status"], patience).toBe("expired");
  });

  it("is not told of a question that never left", async () => {
    const { channel, receiver, warnings } = await makeChannel({
      url: "https://receiver.example/",
      resolve: async () => ["10.0.0.1"],
    });
    const ask = question();
    await expect(channel.deliver(ask.request, ask.session)).rejects.toMatchObject({
      code: "channel_failed",
    });
    ask.end({ status: "failed", reason: "" });
    await ask.session.ended;
    await channel.close();
    expect([receiver.taken, warnings]).toEqual([[], []]);
  });

  it("ends its links, which say how", async () => {
    const { channel, receiver } = await makeChannel({ linkUrl: "https://gate.example/acp" });
    const ask = question();
    await channel.deliver(ask.request, ask.session);
    const link = linksOf(receiver, ask.request.id)["alice"] ?? "";
    expect((await channel.handler(new Request(link))).status).toBe(200);
    ask.end({ status: "cancelled", reason: "" });
    await expect.poll(() => endOf(receiver), patience).toBeDefined();
    const late = await channel.handler(new Request(link));
    expect([late.status, await late.text()]).toEqual([
      410,
      expect.stringContaining("It was withdrawn."),
    ]);
  });

  it("is told of each of two hundred questions that end at once, and nothing warns of a leak", async () => {
    const emitted: string[] = [];
    const note = ({ name }: Error): void => void emitted.push(name);
    process.on("warning", note);
    onTestFinished(() => void process.off("warning", note));
    const { channel, receiver } = await makeChannel();
    const asks = Array.from({ length: 200 }, question);
    await Promise.all(asks.map(({ request, session }) => channel.deliver(request, session)));
    expect(receiver.shown()).toHaveLength(200);
    for (const ask of asks) ask.end({ status: "expired", reason: "" });
    await expect.poll(() => receiver.shown(), patience).toEqual([]);
    expect(emitted).not.toContain("MaxListenersExceededWarning");
  });

  it("makes an answer by callback too late", async () => {
    const { channel, receiver, clock } = await makeChannel();
    const ask = question();
    await channel.deliver(ask.request, ask.session);
    ask.end({ status: "expired", reason: "" });
    await expect.poll(() => endOf(receiver), patience).toBeDefined();
    const callback = signed(answerTo(receiver.taken[0]?.json ?? {}), { nowMs: clock.now() });
    const late = await channel.handler(
      new Request("https://gate.example/", { method: "POST", ...callback }),
    );
    expect([late.status, await late.json()]).toEqual([
      410,
      { status: "refused", code: "request_ended", reason: expect.any(String) },
    ]);
    expect(ask.submissions).toEqual([]);
  });
});

describe("createWebhookChannel(): closed", () => {
  it("asks nobody, takes no answer, and stops what it was trying", async () => {
    const { channel, receiver, clock } = await makeChannel();
    receiver.respond = () => undefined;
    const ask = question();
    const delivering = channel.deliver(ask.request, ask.session);
    await expect.poll(() => receiver.taken.length, patience).toBe(1);
    await channel.close();
    await expect(delivering).rejects.toMatchObject({ code: "channel_unavailable" });
    await expect(channel.deliver(ask.request, ask.session)).rejects.toMatchObject({
      code: "channel_unavailable",
    });
    const callback = signed(answerTo(receiver.taken[0]?.json ?? {}), { nowMs: clock.now() });
    expect(
      (await channel.handler(new Request("https://gate.example/", { method: "POST", ...callback })))
        .status,
    ).toBe(503);
    expect(ask.submissions).toEqual([]);
  });

  it("waits for a notice that is under way, and five seconds at most", async () => {
    const { channel, receiver, clock, warnings } = await makeChannel();
    receiver.respondToEnd = () => undefined;
    const ask = question();
    await channel.deliver(ask.request, ask.session);
    ask.end({ status: "expired", reason: "" });
    await expect.poll(() => receiver.taken.length, patience).toBe(2);
    let closed = false;
    const closing = channel.close().then(() => (closed = true));
    await clock.advance(4_999);
    expect(closed).toBe(false);
    await clock.advance(1);
    await closing;
    expect(warnings).toEqual([expect.stringMatching(/^Cannot inform the receiver/)]);
  });

  it("does not wait for a notice that would have to be sent again", async () => {
    const { channel, receiver, warnings } = await makeChannel();
    receiver.respondToEnd = (_taken, response) => void response.writeHead(503).end();
    const ask = question();
    await channel.deliver(ask.request, ask.session);
    ask.end({ status: "expired", reason: "" });
    await expect.poll(() => warnings.length, patience).toBe(1);
    await channel.close();
    expect(warnings.at(-1)).toMatch(/^Cannot inform the receiver/);
    expect(receiver.taken).toHaveLength(2);
  });
});
