import { type JsonObject, makeResponse } from "@acp/core";
import { askDouble, manualClock, sampleRequest } from "@acp/testing";
import { afterEach, describe, expect, it } from "vitest";
import {
  OTHER_SECRET,
  type Receiver,
  SECRET,
  later,
  linksOf,
  signed,
  startReceiver,
} from "../test/receiver.js";
import type { WebhookChannelOptions } from "./options.js";
import { createWebhookChannel } from "./webhook-channel.js";

const patience = { timeout: 120_000, interval: 5 };
const stops: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

async function makeChannel({
  approvers = ["alice", "bob"],
  ...options
}: Partial<WebhookChannelOptions> = {}) {
  const clock = manualClock();
  const receiver = await startReceiver(() => clock.now());
  const warnings: string[] = [];
  const warn = (text: string): void => void warnings.push(text);
  const channel = createWebhookChannel({
    url: receiver.url,
    secret: SECRET,
    clock,
    warn,
    approvers,
    ...options,
  });
  stops.push(
    () => receiver.close(),
    () => channel.close(),
  );
  return { clock, receiver, warnings, channel };
}

const question = (): ReturnType<typeof askDouble> =>
  askDouble(sampleRequest({ createdAtMs: manualClock().now() }));

const answerTo = (json: JsonObject, changes: JsonObject = {}): string =>
  JSON.stringify({
    ...makeResponse(
      { id: String(json["id"]), nonce: String(json["nonce"]) },
      { decision: "approved", nowMs: manualClock().now(), channel: "webhook", approverId: "alice" },
    ),
    ...changes,
  });

describe("createWebhookChannel(): the question", () => {
  it("is posted as S0 writes it, signed, and nothing else with it", async () => {
    const { channel, receiver } = await makeChannel();
    const ask = question();
    await channel.deliver(ask.request, ask.session);
    expect(receiver.taken).toHaveLength(1);
    expect(receiver.questions.get(ask.request.id)).toEqual(ask.request);
    expect(receiver.taken[0]?.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(Object.keys(receiver.taken[0]?.json ?? {})).not.toContain("links");
  });

  it("carries a link for each approver where pages are served", async () => {
    const { channel, receiver } = await makeChannel({ linkUrl: "https://gate.example/acp" });
    const ask = question();
    await channel.deliver(ask.request, ask.session);
    const links = linksOf(receiver, ask.request.id);
    expect(Object.keys(links)).toEqual(["alice", "bob"]);
    for (const link of Object.values(links))
      expect(link).toMatch(/^https:\/\/gate\.example\/acp\/q_[A-Za-z0-9_-]{43}$/);
  });

  it("goes to the holder of the secret where no approver is named, who answers as one person", async () => {
    const { receiver, clock } = await makeChannel();
    const channel = createWebhookChannel({
      url: receiver.url,
      secret: SECRET,
      linkUrl: "https://gate.example/acp",
      clock,
    });
    stops.push(() => channel.close());
    const ask = question();
    await channel.deliver(ask.request, ask.session);
    expect(Object.keys(linksOf(receiver, ask.request.id))).toEqual(["webhook"]);
    const callback = signed(answerTo(receiver.taken[0]?.json ?? {}), { nowMs: clock.now() });
    await channel.handler(new Request("https://gate.example/", { method: "POST", ...callback }));
    expect(ask.submissions.map(({ subject }) => subject)).toEqual(["webhook"]);
  });

  it("is signed with every secret while one replaces another", async () => {
    const { channel, receiver } = await makeChannel({ secret: [OTHER_SECRET, SECRET] });
    const ask = question();
    await channel.deliver(ask.request, ask.session);
    expect(receiver.refused).toEqual([]);
    expect(String(receiver.taken[0]?.headers["webhook-signature"]).split(" ")).toHaveLength(2);
  });

  it("comes again under the same id until it is taken", async () => {
    const { channel, receiver, clock, warnings } = await makeChannel();
    let failures = 0;
    receiver.respond = (taken, response) => {
      if (failures++ < 2) response.writeHead(500).end();
      else later(taken, response);
    };
    const ask = question();
    const delivered = channel.deliver(ask.request, ask.session);
    for (const failed of [1, 2]) {
      // The warning comes with the failed reply; only then time may pass.
      await expect.poll(() => warnings.length, patience).toBe(failed);
      await clock.advance(36_000);
    }
    await delivered;
    expect(receiver.taken).toHaveLength(3);
    expect(new Set(receiver.taken.map(({ id }) => id)).size).toBe(1);
  });

  it("is denied where the receiver refuses it", async () => {
    const { channel, receiver } = await makeChannel();
    receiver.respond = (_taken, response) => void response.writeHead(404).end();
    const ask = question();
    await expect(channel.deliver(ask.request, ask.session)).rejects.toMatchObject({
      code: "channel_failed",
    });
  });

  it("is asked of nobody where nobody may answer", async () => {
    const { channel, receiver } = await makeChannel({ approvers: [] });
    const ask = question();
    await expect(channel.deliver(ask.request, ask.session)).rejects.toMatchObject({
      code: "channel_unavailable",
    });
    expect(receiver.taken).toEqual([]);
  });
});

describe("createWebhookChannel(): the reply", () => {
  it("answers where it is signed", async () => {
    const { channel, receiver, clock } = await makeChannel();
    receiver.respond = ({ json }, response) => {
      const { headers, body } = signed(answerTo(json), { nowMs: clock.now() });
      response.writeHead(200, headers).end(body);
    };
    const ask = question();
    await channel.deliver(ask.request, ask.session);
    expect(ask.ending()?.status).toBe("approved");
    expect(ask.submissions.map(({ subject }) => subject)).toEqual(["alice"]);
  });

  const replies: readonly (readonly [
    string,
    string,
    (json: JsonObject, nowMs: number) => ReturnType<typeof signed>,
  ])[] = [
    ["without a signature", "headers_missing", (json) => ({ headers: {}, body: answerTo(json) })],
    [
      "of another secret",
      "signature_invalid",
      (json, nowMs) => signed(answerTo(json), { nowMs, secret: OTHER_SECRET }),
    ],
    [
      "of an hour ago",
      "timestamp_outside_tolerance",
      (json, nowMs) => signed(answerTo(json), { nowMs: nowMs - 3_600_000 }),
    ],
    ["that says ok", "response_invalid", (_json, nowMs) => signed("ok", { nowMs })],
    [
      "that says approved: no",
      "response_invalid",
      (_json, nowMs) => signed('{"approved":"no"}', { nowMs }),
    ],
    [
      "for another question",
      "request_unknown",
      (json, nowMs) => signed(answerTo(json, { request_id: "cr_other" }), { nowMs }),
    ],
    [
      "of a stranger",
      "approver_unknown",
      (json, nowMs) =>
        signed(answerTo(json, { approver: { id: "mallory", channel: "webhook" } }), { nowMs }),
    ],
    [
      "that is too long",
      "longer than an answer",
      (json, nowMs) => signed(answerTo(json) + " ".repeat(2 * 1024 * 1024), { nowMs }),
    ],
    [
      "that repeats the question",
      "response_invalid",
      (json, nowMs) => signed(JSON.stringify(json), { nowMs }),
    ],
  ];

  it.each(replies)("decides nothing %s", async (_name, code, make) => {
    const { channel, receiver, warnings, clock } = await makeChannel();
    receiver.respond = ({ json }, response) => {
      const { headers, body } = make(json, clock.now());
      response.writeHead(200, headers).end(body);
    };
    const ask = question();
    await channel.deliver(ask.request, ask.session);
    expect(ask.ending()).toBeUndefined();
    expect(warnings).toEqual([expect.stringContaining(code)]);
    expect(receiver.shown()).toEqual([ask.request.id]);
    // It can still be answered later.
    const { handler } = channel;
    const callback = signed(answerTo(receiver.taken[0]?.json ?? {}), { nowMs: clock.now() });
    expect(
      (await handler(new Request("https://gate.example/", { method: "POST", ...callback }))).status,
    ).toBe(200);
    expect(ask.ending()?.status).toBe("approved");
  });

  it.each([200, 202, 204])("that is empty (%i) means later", async (status) => {
    const { channel, receiver, warnings } = await makeChannel();
    receiver.respond = (_taken, response) => void response.writeHead(status).end();
    const ask = question();
    await channel.deliver(ask.request, ask.session);
    expect([ask.ending(), warnings]).toEqual([undefined, []]);
  });

  it("answers no question but its own, also not one that is open", async () => {
    const { channel, receiver, warnings, clock } = await makeChannel();
    const [first, second] = [question(), question()];
    await channel.deliver(first.request, first.session);
    receiver.respond = (_taken, response) => {
      const { headers, body } = signed(answerTo(receiver.taken[0]?.json ?? {}), {
        nowMs: clock.now(),
      });
      response.writeHead(200, headers).end(body);
    };
    await channel.deliver(second.request, second.session);
    expect([...first.submissions, ...second.submissions]).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining("request_unknown")]);
  });

  it("cannot be used again for another question", async () => {
    const { channel, receiver, clock } = await makeChannel();
    const [first, second] = [question(), question()];
    let reply: ReturnType<typeof signed> | undefined;
    receiver.respond = ({ json }, response) => {
      reply ??= signed(answerTo(json), { nowMs: clock.now() });
      response.writeHead(200, reply.headers).end(reply.body);
    };
    await channel.deliver(first.request, first.session);
    await channel.deliver(second.request, second.session);
    expect([first.ending()?.status, second.ending()]).toEqual(["approved", undefined]);
    expect(second.submissions).toEqual([]);
  });
});

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
      expect.stringContaining("It was taken back."),
    ]);
  });

  it("is told of each of two hundred questions that end at once, and nothing warns of a leak", async () => {
    const emitted: string[] = [];
    const note = ({ name }: Error): void => void emitted.push(name);
    process.on("warning", note);
    stops.push(async () => void process.off("warning", note));
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
    expect(warnings).toEqual([expect.stringMatching(/^Cannot tell the receiver/)]);
  });

  it("does not wait for a notice that would have to be sent again", async () => {
    const { channel, receiver, warnings } = await makeChannel();
    receiver.respondToEnd = (_taken, response) => void response.writeHead(503).end();
    const ask = question();
    await channel.deliver(ask.request, ask.session);
    ask.end({ status: "expired", reason: "" });
    await expect.poll(() => warnings.length, patience).toBe(1);
    await channel.close();
    expect(warnings.at(-1)).toMatch(/^Cannot tell the receiver/);
    expect(receiver.taken).toHaveLength(2);
  });
});
