/**
 * ChannelCase: what the suite for channels is told about a channel, and how its cases wait and
 * look.
 */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { Channel, ConsentRequest } from "@acp/core";
import { type AskDouble, askDouble, sampleRequest } from "./ask-double.js";
import { withPatience } from "./conformance.js";

/** What the person on the other side of the channel does. */
export type AnswerKind =
  | "approve"
  | "deny"
  /** A yes for which the person typed `confirmationWord(request)`. */
  | "confirm"
  /** A yes with the nonce of another question. */
  | "wrong_nonce"
  /** A yes from somebody whom the channel or the gate does not know. */
  | "stranger";

/** A fresh channel for one case, and the person's side of it. */
export interface ChannelUnderTest extends AsyncDisposable {
  /** The channel, connected and ready to deliver. */
  readonly channel: Channel;
  /** Ids of the questions that the person's side offers for an answer. */
  shown(): Promise<readonly string[]>;
  /**
   * Answers as the person would; resolves when the channel is done with it. For a question that is
   * no longer shown, answers as a stale message would.
   */
  answer(requestId: string, kind: AnswerKind): Promise<void>;
  /** Cuts the connection that carries questions and answers, for good. */
  breakTransport(): Promise<void>;
  /**
   * Everything that the person can read of a question, as plain text, over all its pages. Cases
   * about the text are left out if this is absent.
   */
  seen?(requestId: string): Promise<string>;
}

/** A channel, its person, and how to wait for it. */
export interface ChannelCase
  extends Pick<ChannelUnderTest, "channel" | "shown" | "answer" | "breakTransport" | "seen"> {
  readonly subject: string;
  readonly knownAs: string;
  readonly patienceMs: number;
}

type Check = (under: ChannelCase) => Promise<void>;

export interface Requirement {
  readonly name: string;
  readonly needs?: AnswerKind;
  readonly check: Check;
}

/** How long nothing may happen where nothing should. */
export const STILLNESS_MS = 50;

export async function eventually(
  { patienceMs }: ChannelCase,
  what: string,
  check: () => Promise<boolean> | boolean,
): Promise<void> {
  const endMs = performance.now() + patienceMs;
  while (!(await check())) {
    assert.ok(performance.now() < endMs, `not so after ${patienceMs} ms: ${what}`);
    await sleep(2);
  }
}

export const isShown = (under: ChannelCase, id: string, want = true): Promise<void> =>
  eventually(
    under,
    `question ${id} is ${want ? "" : "no longer "}shown`,
    async () => (await under.shown()).includes(id) === want,
  );

export const takenOf = (ask: AskDouble): readonly string[] =>
  ask.submissions.filter(({ receipt }) => receipt.status === "final").map(({ subject }) => subject);

export const askFor = ({ subject }: ChannelCase, overrides?: Partial<ConsentRequest>): AskDouble =>
  askDouble(sampleRequest(overrides), { subjects: [subject] });

/** A question that is on the person's side. */
export async function delivered(
  under: ChannelCase,
  overrides?: Partial<ConsentRequest>,
): Promise<AskDouble> {
  const ask = askFor(under, overrides);
  await withPatience(under.channel.deliver(ask.request, ask.session), under.patienceMs);
  await isShown(under, ask.request.id);
  return ask;
}

export async function answered(under: ChannelCase, ask: AskDouble): Promise<void> {
  await eventually(under, "the answer was submitted", () => ask.ending() !== undefined);
}

/** No yes came, now or a moment later. */
export async function assertNoYes(ask: AskDouble): Promise<void> {
  await sleep(STILLNESS_MS);
  assert.deepEqual(takenOf(ask), [], "an answer was taken");
}
