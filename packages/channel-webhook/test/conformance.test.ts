import { createServer } from "node:http";
import { type ConsentRequest, confirmationWord, makeResponse } from "@acp/core";
import { type AnswerKind, type ChannelUnderTest, channelConformance } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { createWebhookChannel, toNodeHandler } from "../src/index.js";
import { openPage, sendForm } from "./browser.js";
import {
  SECRET,
  type Taken,
  linksOf,
  listen,
  signed,
  startReceiver,
  stopServer,
} from "./receiver.js";

// For machines that have other things to do.
const patienceMs = 120_000;

function claimOf(request: ConsentRequest, kind: AnswerKind): string {
  const nonce = kind === "wrong_nonce" ? "n_of-another-question" : request.nonce;
  const confirmation = kind === "confirm" ? confirmationWord(request) : undefined;
  const claim = makeResponse(
    { id: request.id, nonce },
    {
      decision: kind === "deny" ? "denied" : "approved",
      nowMs: Date.now(),
      channel: "webhook",
      approverId: kind === "stranger" ? "mallory" : "alice",
      ...(confirmation === undefined ? {} : { confirmation }),
    },
  );
  return JSON.stringify(claim);
}

/** Answers come later, by callback, over a real socket. */
async function callbackChannel(): Promise<ChannelUnderTest> {
  const receiver = await startReceiver();
  const channel = createWebhookChannel({
    url: receiver.url,
    secret: SECRET,
    approvers: ["alice", "bob"],
  });
  const server = createServer(toNodeHandler(channel.handler));
  const callbackUrl = `http://127.0.0.1:${await listen(server)}/callback`;
  return {
    channel,
    shown: async () => receiver.shown(),
    async answer(id, kind) {
      const question = receiver.questions.get(id);
      if (question === undefined) return;
      await fetch(callbackUrl, { method: "POST", ...signed(claimOf(question, kind)) }).catch(
        () => undefined,
      );
    },
    async breakTransport() {
      await receiver.close();
      await stopServer(server);
    },
    async [Symbol.asyncDispose]() {
      await channel.close();
      await receiver.close();
      await stopServer(server);
    },
  };
}

/**
 * Answers come in the reply to the question, which the receiver holds open until the person
 * answered.
 */
async function replyChannel(): Promise<ChannelUnderTest> {
  const receiver = await startReceiver();
  const waiting = new Map<string, (claim: string) => void>();
  receiver.respond = ({ json }: Taken, response) =>
    void waiting.set(String(json["id"]), (claim) => {
      if (response.headersSent) return;
      const { headers, body } = signed(claim);
      response.writeHead(200, headers).end(body);
    });
  const channel = createWebhookChannel({ url: receiver.url, secret: SECRET, approvers: ["alice"] });
  return {
    // Delivery lasts until the reply is there; the suite goes on once the question is shown.
    channel: {
      name: channel.name,
      deliver: async (request, session) =>
        void channel.deliver(request, session).catch(() => undefined),
    },
    shown: async () => receiver.shown(),
    async answer(id, kind) {
      const question = receiver.questions.get(id);
      if (question !== undefined) waiting.get(id)?.(claimOf(question, kind));
    },
    breakTransport: () => receiver.close(),
    async [Symbol.asyncDispose]() {
      await channel.close();
      await receiver.close();
    },
  };
}

/** Answers come from the page behind a link. */
async function linkChannel(): Promise<ChannelUnderTest> {
  const receiver = await startReceiver();
  const server = createServer((incoming, response) => serve(incoming, response));
  const linkUrl = `http://127.0.0.1:${await listen(server)}/acp`;
  const channel = createWebhookChannel({
    url: receiver.url,
    secret: SECRET,
    approvers: ["alice", "bob"],
    linkUrl,
  });
  const serve = toNodeHandler(channel.handler);
  return {
    channel,
    shown: async () => receiver.shown(),
    async answer(id, kind) {
      const url = linksOf(receiver, id)["alice"];
      const page = url === undefined ? undefined : await openPage(url).catch(() => undefined);
      if (url === undefined || page === undefined) return;
      const decision = kind === "deny" ? "denied" : "approved";
      await sendForm(url, {
        key: page.key,
        decision,
        confirmation: kind === "confirm" ? "approve" : "",
      }).catch(() => undefined);
    },
    async breakTransport() {
      await receiver.close();
      await stopServer(server);
    },
    async [Symbol.asyncDispose]() {
      await channel.close();
      await receiver.close();
      await stopServer(server);
    },
  };
}

describe("webhook channel, answered by callback: conformance", () => {
  const kinds = ["approve", "deny", "confirm", "wrong_nonce", "stranger"] as const;
  const cases = channelConformance(callbackChannel, { subject: "alice", patienceMs, kinds });
  it.each(cases.map((each) => [each.name, each] as const))("%s", async (_name, each) => {
    await expect(each.run()).resolves.toBeUndefined();
  });
});

describe("webhook channel, answered in the reply: conformance", () => {
  // A reply can be given once, so what a second answer to a question does is the callback's matter.
  const cases = channelConformance(replyChannel, {
    subject: "alice",
    patienceMs,
    kinds: ["approve", "deny"],
  });
  it.each(cases.map((each) => [each.name, each] as const))("%s", async (_name, each) => {
    await expect(each.run()).resolves.toBeUndefined();
  });
});

describe("webhook channel, answered from a link: conformance", () => {
  const cases = channelConformance(linkChannel, {
    subject: "alice",
    patienceMs,
    kinds: ["approve", "deny", "confirm"],
  });
  it.each(cases.map((each) => [each.name, each] as const))("%s", async (_name, each) => {
    await expect(each.run()).resolves.toBeUndefined();
  });
});
