/** The suite for channels catches channels with one fault each. */
import { type AskSession, type ConsentRequest, confirmationWord, makeResponse } from "@acp/core";
import { expect, it } from "vitest";
import type { ChannelUnderTest } from "../channel-case.js";
import { channelConformance } from "../channel-conformance.js";
import { channelMutants } from "./channel-mutants.js";
import { firstBroken } from "./mutant.js";

const OPTIONS = { kinds: ["approve", "deny", "confirm", "wrong_nonce", "stranger"] } as const;

/** A good channel in memory, whose person is its own: `local`. */
async function memoryChannel(): Promise<ChannelUnderTest> {
  const given = new Map<
    string,
    { readonly request: ConsentRequest; readonly session: AskSession }
  >();
  const shown = new Set<string>();
  let isBroken = false;
  return {
    channel: {
      name: "memory",
      async deliver(request, session) {
        if (isBroken) throw new Error("nothing carries it");
        given.set(request.id, { request, session });
        shown.add(request.id);
        void session.ended.then(() => shown.delete(request.id));
      },
    },
    shown: async () => [...shown],
    seen: async (id) => given.get(id)?.request.text ?? "",
    async answer(id, kind) {
      const held = given.get(id);
      if (held === undefined || isBroken) return;
      const word = kind === "confirm" ? confirmationWord(held.request) : undefined;
      const nonce = kind === "wrong_nonce" ? "n_other" : held.request.nonce;
      const parts = {
        decision: kind === "deny" ? "denied" : "approved",
        nowMs: held.request.createdAtMs,
        channel: "memory",
      } as const;
      const claim = makeResponse(
        { id, nonce },
        word === undefined ? parts : { ...parts, confirmation: word },
      );
      await held.session.submit(claim, { subject: kind === "stranger" ? "somebody" : "local" });
    },
    async breakTransport() {
      isBroken = true;
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
}

it("channelConformance() passes the channel that the mutants are made from", async () => {
  expect(await firstBroken(channelConformance(memoryChannel, OPTIONS))).toBeUndefined();
});

it.each(channelMutants.map((mutant) => [mutant.name, mutant] as const))(
  "channelConformance() catches a channel that %s",
  async (_, mutant) => {
    const cases = channelConformance(async () => mutant.mutate(await memoryChannel()), {
      ...OPTIONS,
      patienceMs: 300,
    });
    expect(await firstBroken(cases)).toBeDefined();
  },
);
