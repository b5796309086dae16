import type { JsonObject } from "@acp/core";
import { describe, expect, it, onTestFinished } from "vitest";
import { answerTo, makeChannel, patience, question } from "../test/channel-kit.js";
import { OTHER_SECRET, SECRET, later, linksOf, signed } from "../test/receiver.js";
import { createWebhookChannel } from "./webhook-channel.js";

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
    onTestFinished(() => channel.close());
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
