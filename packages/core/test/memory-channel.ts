/**
 * A channel in memory and its person, for the conformance suite and for tests of channels that are
 * made of others.
 */
import type { AskSession, Channel, ConsentRequest } from "../src/index.js";
import { confirmationWord, ConsentError, makeResponse } from "../src/index.js";
import type { AnswerKind } from "@acp/testing";

/** One question as the channel got it. */
export interface Held {
  readonly request: ConsentRequest;
  readonly session: AskSession;
}

/** A channel in a test's hands. */
export interface MemoryChannel extends Channel {
  /** What it shows now, by id. */
  readonly shown: ReadonlyMap<string, Held>;
  /** Everything that it was given, in order. */
  readonly given: readonly Held[];
  /** From now on: show, refuse, say that nobody is there, or hang. */
  mode: "shows" | "fails" | "is alone" | "hangs";
  /** Answers as its person, whom it knows by this subject. */
  answer(id: string, kind: AnswerKind, subject?: string): Promise<unknown>;
}

export function memoryChannel(name: string, person = "local"): MemoryChannel {
  const shown = new Map<string, Held>();
  const given: Held[] = [];
  const channel: MemoryChannel = {
    name,
    shown,
    given,
    mode: "shows",
    deliver(request, session) {
      const held = { request, session };
      given.push(held);
      if (channel.mode === "hangs") return new Promise(() => undefined);
      if (channel.mode === "fails") return Promise.reject(new Error(`${name} is down`));
      if (channel.mode === "is alone")
        return Promise.reject(
          new ConsentError("channel_unavailable", "Cannot ask anybody: nobody is there"),
        );
      shown.set(request.id, held);
      void session.ended.then(() => shown.delete(request.id));
      return Promise.resolve();
    },
    async answer(id, kind, subject = kind === "stranger" ? "somebody" : person) {
      const held = given.findLast(({ request }) => request.id === id);
      if (held === undefined || channel.mode !== "shows") return undefined;
      const word = kind === "confirm" ? confirmationWord(held.request) : undefined;
      const parts = {
        decision: kind === "deny" ? "denied" : "approved",
        nowMs: held.request.createdAtMs,
        channel: name,
        ...(word === undefined ? {} : { confirmation: word }),
      } as const;
      const nonce = kind === "wrong_nonce" ? "n_other" : held.request.nonce;
      return held.session.submit(makeResponse({ id, nonce }, parts), { subject });
    },
  };
  return channel;
}
