import { type ConsentRequest, makeResponse } from "@acp/core";
import { type AnswerKind, type ChannelUnderTest, channelConformance } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { attachApprover, createTerminalChannel } from "../src/index.js";
import { temporaryHome } from "./temporary-home.js";

function claimFor(request: ConsentRequest, kind: AnswerKind) {
  const nonce = kind === "wrong_nonce" ? "n_of-another-question" : request.nonce;
  return makeResponse(
    { id: request.id, nonce },
    {
      decision: kind === "deny" ? "denied" : "approved",
      nowMs: Date.now(),
      channel: "terminal",
      ...(kind === "confirm" ? { confirmation: "approve" } : {}),
    },
  );
}

/** The socket front with one attached client; the person remembers every question they saw. */
async function socketFront(): Promise<ChannelUnderTest> {
  const home = await temporaryHome();
  const channel = createTerminalChannel({ terminal: false, socketPath: home.socketPath });
  await channel.ready;
  const client = await attachApprover({
    socketPath: home.socketPath,
    signal: new AbortController().signal,
  });
  const seen = new Map<string, ConsentRequest>();
  const look = () =>
    client.pending().map(({ request }) => (seen.set(request.id, request), request.id));
  return {
    channel,
    shown: async () => look(),
    async answer(id, kind) {
      look();
      const request = seen.get(id);
      if (request !== undefined)
        await client.answer(claimFor(request, kind)).catch(() => undefined);
    },
    async breakTransport() {
      look();
      await client.close();
      await expect.poll(channel.attached).toBe(0);
    },
    async [Symbol.asyncDispose]() {
      await client.close();
      await channel.close();
      await home[Symbol.asyncDispose]();
    },
  };
}

describe("terminal channel, socket front: conformance", () => {
  it.each(
    channelConformance(socketFront, { kinds: ["approve", "deny", "confirm", "wrong_nonce"] }).map(
      (each) => [each.name, each] as const,
    ),
  )("%s", async (_name, each) => {
    await expect(each.run()).resolves.toBeUndefined();
  });
});
