import { createServer } from "node:http";
import { makeResponse } from "@acp/core";
import { type AnswerKind, type ChannelUnderTest, channelConformance } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { createWebhookChannel, toNodeHandler } from "../src/index.js";
import { SECRET, type Taken, listen, signed, startReceiver, stopServer } from "./receiver.js";

const claimOf = (taken: { readonly id: string; readonly nonce: string }, kind: AnswerKind): string =>
  JSON.stringify(
    makeResponse(
      { id: taken.id, nonce: kind === "wrong_nonce" ? "n_of-another-question" : taken.nonce },
      {
        decision: kind === "deny" ? "denied" : "approved",
        nowMs: Date.now(),
        channel: "webhook",
        approverId: kind === "stranger" ? "mallory" : "alice",
      },
    ),
  );

/** Answers come later, by callback, over a real socket. */
async function callbackChannel(): Promise<ChannelUnderTest> {
  const receiver = await startReceiver();
  let failed = (): void => undefined;
  // The channel tries again until the question ends; the suite wants to go on where nothing carries it.
  const firstFailure = new Promise<void>((resolve) => (failed = resolve));
  const channel = createWebhookChannel({ url: receiver.url, secret: SECRET, approvers: ["alice", "bob"], warn: () => failed() });
  const server = createServer(toNodeHandler(channel.handler));
  const callbackUrl = `http://127.0.0.1:${await listen(server)}/callback`;
  return {
    channel: { name: channel.name, deliver: (request, session) => Promise.race([channel.deliver(request, session), firstFailure]) },
    shown: async () => receiver.shown(),
    async answer(id, kind) {
      const question = receiver.questions.get(id);
      if (question === undefined) return;
      await fetch(callbackUrl, { method: "POST", ...signed(claimOf(question, kind)) }).catch(() => undefined);
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

/** Answers come in the reply to the question, which the receiver holds open until the person answered. */
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
    channel: {
      name: channel.name,
      deliver: (request, session) => Promise.resolve(void channel.deliver(request, session).catch(() => undefined)),
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

describe("webhook channel, answered by callback: conformance", () => {
  const cases = channelConformance(callbackChannel, { subject: "alice", kinds: ["approve", "deny", "wrong_nonce", "stranger"] });
  it.each(cases.map((each) => [each.name, each] as const))("%s", async (_name, each) => {
    await expect(each.run()).resolves.toBeUndefined();
  });
});

describe("webhook channel, answered in the reply: conformance", () => {
  // A reply can be given once, so what a second answer does is the callback's matter.
  const cases = channelConformance(replyChannel, { subject: "alice", kinds: ["approve", "deny"] });
  it.each(cases.map((each) => [each.name, each] as const))("%s", async (_name, each) => {
    await expect(each.run()).resolves.toBeUndefined();
  });
});
