/** Channel mutants: a channel with one fault each. Source of the laws: spec/ports.md. */
import {
  type AskSession,
  type Channel,
  confirmationWord,
  type ConsentRequest,
  type JsonObject,
  makeResponse,
  parseResponse,
} from "@acp/core";
import type { ChannelUnderTest } from "../channel-case.js";
import type { Mutant } from "./mutant.js";

type Deliver = Channel["deliver"];

/** A channel whose delivery has a fault. */
const delivering = (
  name: string,
  fault: (deliver: Deliver, good: ChannelUnderTest) => Deliver,
): Mutant<ChannelUnderTest> => ({
  name,
  mutate: (good) => ({
    ...bound(good),
    channel: {
      name: good.channel.name,
      deliver: fault((request, session) => good.channel.deliver(request, session), good),
    },
  }),
});

/** A channel that hands answers in otherwise than it got them. */
const submitting = (
  name: string,
  fault: (submit: AskSession["submit"], request: ConsentRequest) => AskSession["submit"],
): Mutant<ChannelUnderTest> =>
  delivering(
    name,
    (deliver) => (request, session) =>
      deliver(request, withSubmit(session, fault(session.submit.bind(session), request))),
  );

/** The session with another submit; the rest of it is asked for when it is needed. */
const withSubmit = (session: AskSession, submit: AskSession["submit"]): AskSession => ({
  redelivery: session.redelivery,
  ended: session.ended,
  outcome: session.outcome,
  submit,
});

const withEnded = (session: AskSession, ended: AskSession["ended"]): AskSession => ({
  redelivery: session.redelivery,
  ended,
  outcome: session.outcome,
  submit: (claim, by) => session.submit(claim, by),
});

function bound(good: ChannelUnderTest): ChannelUnderTest {
  const { seen } = good;
  return {
    channel: good.channel,
    shown: () => good.shown(),
    answer: (id, kind) => good.answer(id, kind),
    breakTransport: () => good.breakTransport(),
    ...(seen === undefined ? {} : { seen: (id: string) => seen.call(good, id) }),
    [Symbol.asyncDispose]: () => good[Symbol.asyncDispose](),
  };
}

const yes = (request: ConsentRequest, change: { readonly grantId?: string } = {}): JsonObject => {
  const word = confirmationWord(request);
  const typed = word === undefined ? {} : { confirmation: word };
  return makeResponse(request, {
    decision: "approved",
    nowMs: request.createdAtMs,
    channel: "mutant",
    ...typed,
    ...change,
  });
};

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A text that never depends on the question. */
const showing = (name: string, change: (text: string) => string): Mutant<ChannelUnderTest> => ({
  name,
  mutate: (good) => ({ ...bound(good), seen: async (id) => change((await good.seen?.(id)) ?? "") }),
});

const BY_ITSELF: readonly Mutant<ChannelUnderTest>[] = [
  delivering("approves by itself", (deliver) => async (request, session) => {
    await deliver(request, session);
    await session.submit(yes(request));
  }),
  delivering("approves by itself a moment later", (deliver) => async (request, session) => {
    await deliver(request, session);
    void later(10).then(() => session.submit(yes(request)));
  }),
  delivering("approves when a question ends", (deliver) => async (request, session) => {
    void session.ended.then(({ status }) =>
      status === "approved" || status === "denied" ? undefined : session.submit(yes(request)),
    );
    await deliver(request, session);
  }),
  delivering(
    "approves when nothing carries the question",
    (deliver) => (request, session) =>
      deliver(request, session).catch(async () => void (await session.submit(yes(request)))),
  ),
  {
    name: "approves when its transport dies",
    mutate(good) {
      const open: (readonly [ConsentRequest, AskSession])[] = [];
      return {
        ...bound(good),
        channel: {
          name: good.channel.name,
          deliver: (request, session) => (
            open.push([request, session]), good.channel.deliver(request, session)
          ),
        },
        async breakTransport() {
          await good.breakTransport();
          for (const [request, session] of open) await session.submit(yes(request));
        },
      };
    },
  },
  delivering("approves a question that reads like one that was approved", (deliver) => {
    const approved = new Set<string>();
    return async (request, session) => {
      const note = withSubmit(session, async (claim, by) => {
        const receipt = await session.submit(claim, by);
        if (receipt.status === "final" && receipt.outcome === "approved")
          approved.add(request.text);
        return receipt;
      });
      await deliver(request, note);
      if (approved.has(request.text)) await session.submit(yes(request));
    };
  }),
];

const ANSWERS: readonly Mutant<ChannelUnderTest>[] = [
  submitting(
    "turns a denial into an approval",
    (submit, request) => (_, by) => submit(yes(request), by),
  ),
  submitting(
    "turns an approval into a denial",
    (submit, request) => (_, by) =>
      submit(
        makeResponse(request, {
          decision: "denied",
          nowMs: request.createdAtMs,
          channel: "mutant",
        }),
        by,
      ),
  ),
  submitting(
    "drops answers",
    () => () => Promise.resolve({ status: "final", outcome: "approved" }),
  ),
  submitting("accepts an offer with every approval", (submit, request) => (claim, by) => {
    const [offer] = request.offers;
    return submit(
      offer === undefined || parseResponse(claim).decision !== "approved"
        ? claim
        : yes(request, { grantId: offer.id }),
      by,
    );
  }),
  submitting("puts the nonce right", (submit, request) => (claim, by) => {
    const { decision } = parseResponse(claim);
    return submit(decision === "approved" ? yes(request) : claim, by);
  }),
  submitting("types the word for the person", (submit, request) => (claim, by) => {
    const { decision, nonce } = parseResponse(claim);
    return submit(decision === "approved" && nonce === request.nonce ? yes(request) : claim, by);
  }),
  submitting("takes whoever answers for its own person", (submit) => (claim) => submit(claim)),
  delivering("hands every answer to the question that came first", (deliver) => {
    let first: readonly [ConsentRequest, AskSession] | undefined;
    return (request, session) => {
      first ??= [request, session];
      const [asked, holder] = first;
      return deliver(
        request,
        withSubmit(session, (claim, by) =>
          holder.submit({ ...yes(asked), decision: parseResponse(claim).decision }, by),
        ),
      );
    };
  }),
];

const SHOWING: readonly Mutant<ChannelUnderTest>[] = [
  showing("never reads the question", () => "An agent wants to do something. Allow it?"),
  showing("cuts the text and does not say so", (text) => text.slice(0, 200)),
  showing("leaves the middle of a long text out", (text) =>
    text.length > 400 ? text.slice(0, 200) + text.slice(-200) : text,
  ),
  delivering("shows nothing", () => () => Promise.resolve()),
  delivering("shows one question and no other", (deliver) => {
    let isBusy = false;
    return (request, session) => {
      if (isBusy) return Promise.resolve();
      isBusy = true;
      return deliver(request, session);
    };
  }),
  delivering("never says that it has shown a question", (deliver) => (request, session) => {
    void deliver(request, session).catch(() => undefined);
    return new Promise(() => undefined);
  }),
  delivering("fails after it has shown a question", (deliver) => async (request, session) => {
    await deliver(request, session);
    throw new Error("not shown");
  }),
  delivering(
    "keeps questions that ended",
    (deliver) => (request, session) =>
      deliver(request, withEnded(session, new Promise(() => undefined))),
  ),
  delivering(
    "takes a question back at once",
    (deliver) => (request, session) =>
      deliver(
        request,
        withEnded(
          session,
          later(5).then(() => ({ status: "cancelled", reason: "" })),
        ),
      ),
  ),
  delivering(
    "shows another question's id",
    (deliver) => (request, session) => deliver({ ...request, id: `${request.id}x` }, session),
  ),
  {
    name: "has a name that no log takes",
    mutate: (good) => ({
      ...bound(good),
      channel: {
        name: "My Channel",
        deliver: (request, session) => good.channel.deliver(request, session),
      },
    }),
  },
];

/** Faults of channels: {@link channelConformance} must find each of them. */
export const channelMutants: readonly Mutant<ChannelUnderTest>[] = [
  ...BY_ITSELF,
  ...ANSWERS,
  ...SHOWING,
];
