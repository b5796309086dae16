/**
 * Conformance of a Channel: it shows, hands on and takes back, and nothing that goes wrong becomes a yes. Source: spec/ports.md.
 */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { type AuditSink, type Channel, type Layer, type Verdict, createConsentGate, toolAction } from "@acp/core";
import { type AskDouble, askDouble } from "./ask-double.js";
import type { ConformanceCase } from "./conformance.js";
import { manualClock } from "./manual-clock.js";

/** What the person on the other side does. */
export type AnswerKind =
  | "approve"
  | "deny"
  /** A yes with the nonce of another question. */
  | "wrong_nonce"
  /** A yes from somebody whom the channel or the gate does not know. */
  | "stranger";

/** A channel of its own for one case, and the person's side of it. */
export interface ChannelUnderTest extends AsyncDisposable {
  readonly channel: Channel;
  /** Ids of the questions that the person's side offers to answer. */
  shown(): Promise<readonly string[]>;
  /** Answers as the person would; resolves when the channel is through with it. For a question that is no longer shown, as a stale message would. */
  answer(requestId: string, kind: AnswerKind): Promise<void>;
  /** Cuts what carries questions and answers, for good. */
  breakTransport(): Promise<void>;
}

/** Options of {@link channelConformance}. */
export interface ChannelConformanceOptions {
  /** Who the channel's own person is, for the gate; `local` unless given. */
  readonly subject?: string;
  /** What the person's side can express; the cases of the rest are left out. All but `stranger` unless given. */
  readonly kinds?: readonly AnswerKind[];
  /** How long the channel may take for what is due at once, in milliseconds; 5,000 unless given. */
  readonly patienceMs?: number;
}

/** A channel, its person, and how to wait for it. */
interface Case extends Pick<ChannelUnderTest, "channel" | "shown" | "answer" | "breakTransport"> {
  readonly subject: string;
  readonly patienceMs: number;
}

type Check = (under: Case) => Promise<void>;

interface Requirement {
  readonly name: string;
  readonly needs?: AnswerKind;
  readonly check: Check;
}

/** How long nothing may happen where nothing should. */
const STILLNESS_MS = 50;

async function eventually({ patienceMs }: Case, what: string, check: () => Promise<boolean> | boolean): Promise<void> {
  const endMs = performance.now() + patienceMs;
  while (!(await check())) {
    assert.ok(performance.now() < endMs, `not so after ${patienceMs} ms: ${what}`);
    await sleep(2);
  }
}

const isShown = (under: Case, id: string, want = true): Promise<void> =>
  eventually(under, `question ${id} is ${want ? "" : "no longer "}shown`, async () => (await under.shown()).includes(id) === want);

const takenOf = (ask: AskDouble): readonly string[] =>
  ask.submissions.filter(({ receipt }) => receipt.status === "final").map(({ subject }) => subject);

const askFor = ({ subject }: Case): AskDouble => askDouble(undefined, { subjects: [subject] });

/** A question that is on the person's side. */
async function delivered(under: Case): Promise<AskDouble> {
  const ask = askFor(under);
  await under.channel.deliver(ask.request, ask.session);
  await isShown(under, ask.request.id);
  return ask;
}

async function answered(under: Case, ask: AskDouble): Promise<void> {
  await eventually(under, "the answer was handed in", () => ask.ending() !== undefined);
}

/** No yes came, now or a moment later. */
async function assertNoYes(ask: AskDouble): Promise<void> {
  await sleep(STILLNESS_MS);
  assert.deepEqual(takenOf(ask), [], "an answer was taken");
}

const ASKING: readonly Requirement[] = [
  { name: "name is one that the audit log takes", check: async ({ channel }) => assert.match(channel.name, /^[a-z][a-z0-9-]*$/) },
  ...(["approve", "deny"] as const).map((kind) => ({
    name: `deliver() shows a question, and hands its ${kind} in once`,
    needs: kind,
    check: async (under: Case) => {
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
      await under.channel.deliver(ask.request, ask.session).catch(() => undefined);
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

interface GateUnderTest extends AsyncDisposable {
  readonly clock: ReturnType<typeof manualClock>;
  ask(signal?: AbortSignal): Promise<Verdict>;
}

/** A real gate that asks for everything, for a minute. */
function gateWith({ channel, subject }: Case): GateUnderTest {
  let seq = -1;
  const audit: AuditSink = {
    async append(events) {
      seq += events.length;
      return { seq, hash: `sha256:${"0".repeat(64)}` };
    },
  };
  const clock = manualClock();
  const asks: Layer = {
    name: "asks",
    judge: () => ({ effect: "ask", ruleId: "ask_all", reason: "everything is asked", ask: { timeoutMs: 60_000 } }),
  };
  const approvers = [{ id: "the-person", channel: channel.name, subject }];
  const gate = createConsentGate({ channel, audit, clock, approvers, layers: [asks] });
  return {
    clock,
    ask: (signal) =>
      gate(toolAction("files", "write_file", { path: "notes.txt" }), {
        agent: { id: "agent-1" },
        ...(signal === undefined ? {} : { signal }),
      }),
    [Symbol.asyncDispose]: () => gate.close(),
  };
}

async function onlyShown(under: Case): Promise<string> {
  await eventually(under, "the gate's question is shown", async () => (await under.shown()).length === 1);
  return (await under.shown())[0] ?? "";
}

const WITH_GATE: readonly Requirement[] = [
  ...(["approve", "deny"] as const).map((kind) => ({
    name: `a gate's question ends with the ${kind} given here`,
    needs: kind,
    check: async (under: Case) => {
      await using gate = gateWith(under);
      const verdict = gate.ask();
      await under.answer(await onlyShown(under), kind);
      assert.equal((await verdict).decision, kind === "approve" ? "allow" : "deny");
    },
  })),
  {
    name: "a gate's question that expires is taken back and denied",
    check: async (under) => {
      await using gate = gateWith(under);
      const verdict = gate.ask();
      const id = await onlyShown(under);
      await gate.clock.advance(60_000);
      assert.equal((await verdict).code, "consent_expired");
      await isShown(under, id, false);
      await under.answer(id, "approve");
    },
  },
  {
    name: "a gate's question whose agent leaves is taken back and denied",
    check: async (under) => {
      await using gate = gateWith(under);
      const leaving = new AbortController();
      const verdict = gate.ask(leaving.signal);
      const id = await onlyShown(under);
      leaving.abort();
      assert.equal((await verdict).decision, "deny");
      await isShown(under, id, false);
    },
  },
  {
    name: "a gate's question without a transport ends in a deny",
    check: async (under) => {
      await under.breakTransport();
      await using gate = gateWith(under);
      const verdict = gate.ask();
      await sleep(STILLNESS_MS);
      await gate.clock.advance(60_000);
      assert.equal((await verdict).decision, "deny");
    },
  },
];

/** The suite for channels that `makeChannel` makes. */
export function channelConformance(
  makeChannel: () => Promise<ChannelUnderTest>,
  { subject = "local", kinds = ["approve", "deny", "wrong_nonce"], patienceMs = 5_000 }: ChannelConformanceOptions = {},
): readonly ConformanceCase[] {
  return [...ASKING, ...ENDING, ...WITH_GATE]
    .filter(({ needs }) => needs === undefined || kinds.includes(needs))
    .map(({ name, check }) => ({
      name,
      async run() {
        await using under = await makeChannel();
        await check({
          channel: under.channel,
          shown: () => under.shown(),
          answer: (requestId, kind) => under.answer(requestId, kind),
          breakTransport: () => under.breakTransport(),
          subject,
          patienceMs,
        });
      },
    }));
}
