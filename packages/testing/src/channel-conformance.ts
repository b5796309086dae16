/**
 * Conformance of a Channel: it shows, hands on and takes back, and nothing that goes wrong becomes
 * a yes. Source: spec/ports.md.
 */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type AnswerKind,
  type ChannelCase,
  type ChannelUnderTest,
  type Requirement,
  STILLNESS_MS,
  answered,
  askFor,
  assertNoYes,
  delivered,
  isShown,
  takenOf,
} from "./channel-case.js";
import { WITH_GATE } from "./channel-gate-cases.js";
import { CONTENT } from "./channel-content-laws.js";
import { type ConformanceCase, withPatience } from "./conformance.js";

/** Options of {@link channelConformance}. */
export interface ChannelConformanceOptions {
  /** Subject of the channel's own person, for the gate; `local` unless given. */
  readonly subject?: string;
  /**
   * Name of the channel that authenticates the person; the channel's own unless given, as for one
   * that is made of others.
   */
  readonly knownAs?: string;
  /**
   * What the person's side can do; cases that need more are left out. `approve`, `deny` and
   * `wrong_nonce` unless given.
   */
  readonly kinds?: readonly AnswerKind[];
  /**
   * How long the channel may take for what it does at once, in milliseconds; 60,000 unless given,
   * because machines stall.
   */
  readonly patienceMs?: number;
}

const ASKING: readonly Requirement[] = [
  {
    name: "name is one that the audit log takes",
    check: async ({ channel }) => assert.match(channel.name, /^[a-z][a-z0-9-]*$/),
  },
  ...(["approve", "deny"] as const).map((kind) => ({
    name: `deliver() shows a question, and submits its ${kind} once`,
    needs: kind,
    check: async (under: ChannelCase) => {
      const ask = await delivered(under);
      await under.answer(ask.request.id, kind);
      await answered(under, ask);
      assert.equal(ask.ending()?.status, kind === "approve" ? "approved" : "denied");
      assert.deepEqual(takenOf(ask), [under.subject]);
      await isShown(under, ask.request.id, false);
    },
  })),
  {
    name: "deliver() keeps two open questions apart, answered in reverse order",
    check: async (under) => {
      const first = await delivered(under);
      const second = await delivered(under);
      await under.answer(second.request.id, "deny");
      await answered(under, second);
      assert.deepEqual(first.submissions, [], "the other question got the answer");
      await under.answer(first.request.id, "approve");
      await answered(under, first);
      assert.deepEqual([first.ending()?.status, second.ending()?.status], ["approved", "denied"]);
    },
  },
  {
    name: "deliver() survives an answer given twice",
    check: async (under) => {
      const ask = await delivered(under);
      const other = await delivered(under);
      await under.answer(ask.request.id, "deny");
      await answered(under, ask);
      await under.answer(ask.request.id, "approve");
      await assertNoYes(other);
      assert.equal(takenOf(ask).length, 1);
      assert.equal(ask.ending()?.status, "denied");
    },
  },
  {
    name: "deliver() survives an answer that comes late",
    check: async (under) => {
      const ask = await delivered(under);
      const other = await delivered(under);
      ask.end({ status: "expired", reason: "nobody answered" });
      await under.answer(ask.request.id, "approve");
      await isShown(under, ask.request.id, false);
      await under.answer(ask.request.id, "approve");
      await assertNoYes(ask);
      await assertNoYes(other);
    },
  },
  {
    name: "deliver() leaves a question open whose answer was made for another",
    needs: "wrong_nonce",
    check: async (under) => {
      const ask = await delivered(under);
      await under.answer(ask.request.id, "wrong_nonce");
      await assertNoYes(ask);
      assert.equal(ask.ending(), undefined);
      await under.answer(ask.request.id, "approve");
      await answered(under, ask);
      assert.equal(ask.ending()?.status, "approved");
    },
  },
  {
    name: "deliver() leaves a critical question open that was approved without its word",
    needs: "confirm",
    check: async (under) => {
      const ask = await delivered(under, {
        policy: { ruleId: "rule_1", ruleName: "", requiredLevel: "critical" },
      });
      await under.answer(ask.request.id, "approve");
      await assertNoYes(ask);
      assert.equal(ask.ending(), undefined);
      await under.answer(ask.request.id, "confirm");
      await answered(under, ask);
      assert.equal(ask.ending()?.status, "approved");
    },
  },
  {
    name: "deliver() leaves a question open that a stranger answered",
    needs: "stranger",
    check: async (under) => {
      const ask = await delivered(under);
      await under.answer(ask.request.id, "stranger");
      await assertNoYes(ask);
      assert.equal(ask.ending(), undefined);
      await under.answer(ask.request.id, "approve");
      await answered(under, ask);
      assert.deepEqual(takenOf(ask), [under.subject]);
    },
  },
];

const ENDING: readonly Requirement[] = [
  {
    name: "deliver() takes a question back that ended",
    check: async (under) => {
      const ask = await delivered(under);
      ask.end({ status: "cancelled", reason: "the agent took it back" });
      await isShown(under, ask.request.id, false);
      await assertNoYes(ask);
    },
  },
  {
    name: "deliver() does not keep a question that was over before",
    check: async (under) => {
      const ask = askFor(under);
      ask.end({ status: "cancelled", reason: "the agent took it back" });
      await under.channel.deliver(ask.request, ask.session).catch(() => undefined);
      await isShown(under, ask.request.id, false);
      await under.answer(ask.request.id, "approve");
      await assertNoYes(ask);
    },
  },
  {
    name: "deliver() does not keep a question that ended meanwhile",
    check: async (under) => {
      const ask = askFor(under);
      const delivering = under.channel.deliver(ask.request, ask.session).catch(() => undefined);
      ask.end({ status: "expired", reason: "nobody answered" });
      await delivering;
      await isShown(under, ask.request.id, false);
      await under.answer(ask.request.id, "approve");
      await assertNoYes(ask);
    },
  },
  {
    name: "deliver() rejects or leaves the question open where nothing carries it",
    check: async (under) => {
      await under.breakTransport();
      const ask = askFor(under);
      // A channel may wait for its transport for as long as the question is open.
      await Promise.race([
        under.channel.deliver(ask.request, ask.session).catch(() => undefined),
        sleep(STILLNESS_MS),
      ]);
      await assertNoYes(ask);
    },
  },
  {
    name: "deliver() leaves a question open whose transport dies",
    check: async (under) => {
      const ask = await delivered(under);
      await under.breakTransport();
      await assertNoYes(ask);
      assert.equal(ask.ending(), undefined);
    },
  },
];

/**
 * The conformance suite for channels.
 *
 * @param makeChannel - Makes a fresh channel for each case.
 */
export function channelConformance(
  makeChannel: () => Promise<ChannelUnderTest>,
  {
    subject = "local",
    knownAs,
    kinds = ["approve", "deny", "wrong_nonce"],
    patienceMs = 60_000,
  }: ChannelConformanceOptions = {},
): readonly ConformanceCase[] {
  return [...ASKING, ...CONTENT, ...ENDING, ...WITH_GATE]
    .filter(({ needs }) => needs === undefined || kinds.includes(needs))
    .map(({ name, check }) => ({
      name,
      async run() {
        await using under = await makeChannel();
        const running = check({
          channel: under.channel,
          shown: () => under.shown(),
          answer: (requestId, kind) => under.answer(requestId, kind),
          breakTransport: () => under.breakTransport(),
          ...(under.seen === undefined
            ? {}
            : { seen: (requestId: string) => under.seen?.(requestId) ?? Promise.resolve("") }),
          subject,
          knownAs: knownAs ?? under.channel.name,
          patienceMs,
        });
        await withPatience(running, 20 * patienceMs);
      },
    }));
}
