/**
 * The gate under every schedule that fast-check finds: parts that throw, hang, answer twice, late,
 * for another request, after abort, with the clock jumping. Callers leave and come back. No
 * schedule releases an action that nobody approved, releases it twice, or before its approval is in
 * the log; none keeps silence as a no, or tells a person that something ran that did not.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Action,
  actionDigest,
  type AuditEventInput,
  type ConsentOutcome,
  createConsentGate,
  isConsentError,
  type JsonObject,
  memoryStore,
  type Pending,
  redeem,
  toolAction,
  type Verdict,
} from "../src/index.js";
import { manualClock, seededIds } from "@acp/testing";
import { askAll, recordingSink, reply, type Shown } from "./gate-kit.js";
import { breakable, type Step, step } from "./schedule-steps.js";

interface Call {
  readonly action: Action;
  readonly agentId: string;
  readonly caller: AbortController;
  readonly opened: Promise<Verdict | Pending>;
  verdict?: Verdict;
  pending?: Pending;
}

interface World {
  readonly sink: ReturnType<typeof recordingSink>;
  readonly calls: readonly Call[];
  readonly accepted: readonly JsonObject[];
  /** Ids of the questions whose action was performed, in order. */
  readonly performed: readonly string[];
  /** What people were told became of a yes. */
  readonly told: ReadonlyMap<string, ConsentOutcome>;
}

const CONTENT = ["one", "two"];
const APPROVERS = [
  { id: "alice", channel: "test", subject: "0" },
  { id: "bob", channel: "test", subject: "1" },
  { id: "agent-1", channel: "test", subject: "2" },
];

async function play(steps: readonly Step[]): Promise<World> {
  const clock = manualClock();
  const sink = recordingSink();
  const broken = breakable(memoryStore(clock));
  const shown: Shown[] = [];
  const calls: Call[] = [];
  const accepted: JsonObject[] = [];
  const performed: string[] = [];
  const told = new Map<string, ConsentOutcome>();
  let channelMode: "shows" | "throws" | "hangs" | "answers twice" = "shows";
  const submit = async (
    question: Shown,
    claim: JsonObject,
    who: number,
    bytes: boolean,
  ): Promise<void> => {
    const receipt = await question.session.submit(
      bytes ? new TextEncoder().encode(JSON.stringify(claim)) : claim,
      {
        subject: String(who),
      },
    );
    if (receipt.status !== "refused") accepted.push({ ...claim, by: who });
  };
  const gate = createConsentGate({
    policy: askAll,
    audit: sink,
    clock,
    ids: seededIds(),
    store: broken.store,
    approvers: APPROVERS,
    channel: {
      name: "test",
      deliver(request, session) {
        if (channelMode === "throws") throw new Error("channel down");
        const question = { request, session };
        shown.push(question);
        void session.outcome.then(
          (outcome) => outcome !== undefined && told.set(request.id, outcome),
        );
        if (channelMode === "hangs") return new Promise(() => undefined);
        if (channelMode === "answers twice")
          void Promise.all(
            [0, 0].map((who) =>
              submit(
                question,
                reply(question, { decision: "approved", validUntilMs: clock.now() + 60_000 }),
                who,
                false,
              ),
            ),
          );
        return Promise.resolve();
      },
    },
  });
  const pick = <T>(list: readonly T[], at: number): T | undefined =>
    list.length === 0 ? undefined : list[at % list.length];
  for (const each of steps) {
    switch (each.do) {
      case "call": {
        const action = toolAction("files", "write_file", {
          path: "a",
          content: CONTENT[each.path] ?? "",
        });
        const caller = new AbortController();
        const agentId = `agent-${each.agent}`;
        const call: Call = {
          action,
          agentId,
          caller,
          opened: gate.open(action, { agent: { id: agentId }, signal: caller.signal }),
        };
        calls.push(call);
        void call.opened.then((opened) => {
          if (opened.decision !== "pending") return void (call.verdict = opened);
          call.pending = opened;
          void opened.settled.then((verdict) => (call.verdict = verdict));
        });
        break;
      }
      case "answer": {
        const question = pick(shown, each.question);
        if (question === undefined) break;
        const claims: Record<typeof each.how, () => JsonObject> = {
          yes: () => reply(question, { decision: "approved", validUntilMs: clock.now() + 60_000 }),
          no: () => reply(question, { decision: "denied", validUntilMs: clock.now() + 60_000 }),
          edit: () =>
            reply(question, {
              decision: "approved_with_modifications",
              modifications: { path: "a", content: "edited" },
              validUntilMs: clock.now() + 60_000,
            }),
          "wrong nonce": () => ({
            ...reply(question, { decision: "approved", validUntilMs: clock.now() + 60_000 }),
            nonce: "n_x",
          }),
          "wrong id": () => ({
            ...reply(question, { decision: "approved", validUntilMs: clock.now() + 60_000 }),
            request_id: "cr_x",
          }),
          nonsense: () => ({ ...reply(question, { decision: "approved" }), decision: "yes" }),
        };
        void submit(question, claims[each.how](), each.who, each.bytes);
        break;
      }
      case "abort":
        pick(calls, each.call)?.caller.abort();
        break;
      case "leave":
        void pick(calls, each.call)?.pending?.leave("gone");
        break;
      case "perform": {
        const verdict = pick(calls, each.call)?.verdict;
        if (verdict?.decision !== "allow") break;
        void gate.perform(verdict, () =>
          Promise.resolve(void performed.push(verdict.requestId ?? "")),
        );
        break;
      }
      case "defer":
        void pick(calls, each.call)?.pending?.defer();
        break;
      case "withdraw":
        void pick(calls, each.call)?.pending?.withdraw("changed my mind");
        break;
      case "advance":
        await clock.advance(each.ms);
        break;
      case "jump":
        clock.jump(each.ms);
        break;
      case "sink":
        sink.mode = each.mode;
        break;
      case "store":
        broken.mode = each.mode;
        break;
      case "channel":
        channelMode = each.mode;
        break;
      default:
        each satisfies never;
    }
    await clock.advance(0);
  }
  // In the end everything is over: expiry and part deadlines end what hangs.
  sink.mode = "works";
  broken.mode = "works";
  await clock.advance(200_000);
  await clock.advance(200_000);
  return { sink, calls, accepted, performed, told };
}

const yesDigests = (events: readonly AuditEventInput[]): readonly string[] =>
  events
    .filter(({ eventType }) => eventType === "consent_approved")
    .map(({ metadata }) => String(metadata["effective_digest"]));

function checkWorld({ sink, calls, accepted, performed, told }: World): void {
  // One yes is performed once at most, and nobody is told that something ran that did not, or that
  // nobody came where somebody did.
  expect(new Set(performed).size).toBe(performed.length);
  for (const [id, { status }] of told)
    if (status !== "unknown")
      expect([id, status]).toEqual([id, performed.includes(id) ? "ran" : status]);
  for (const [id, { status }] of told) if (status === "ran") expect(performed).toContain(id);
  const allowed = calls.flatMap(({ verdict }) =>
    verdict?.decision === "allow" ? [verdict.requestId] : [],
  );
  expect(new Set(allowed).size).toBe(allowed.length);
  // Silence is never kept: who is told at once that nobody answered, or that somebody said no, was
  // not told so by silence.
  for (const { pending, verdict } of calls)
    if (pending === undefined) expect(verdict).not.toMatchObject({ code: "consent_expired" });
  const noes = calls.filter(
    ({ verdict }) => verdict?.decision === "deny" && verdict.code === "consent_denied",
  );
  expect(noes.length).toBeLessThanOrEqual(
    sink.events.filter(({ eventType }) => eventType === "consent_denied").length,
  );
  const approvals = [...yesDigests(sink.events)];
  const accepters = accepted.filter(({ decision }) => decision !== "denied").map(({ by }) => by);
  // Only people of the list, never somebody unknown.
  for (const who of accepters) expect([0, 1, 2]).toContain(who);
  for (const call of calls) {
    const { verdict } = call;
    if (verdict === undefined || verdict.decision === "deny") continue;
    const digest = actionDigest(verdict.action);
    const at = approvals.indexOf(digest);
    // Each release uses up one approval of exactly these bytes that is in the log.
    expect(at).toBeGreaterThanOrEqual(0);
    approvals.splice(at, 1);
    // The agent never approved itself.
    expect(verdict.approvers).not.toContain(call.agentId);
    let releases = 0;
    for (let tries = 0; tries < 2; tries++) {
      try {
        redeem(verdict.permit, verdict.action);
        releases++;
      } catch (error) {
        expect(isConsentError(error)).toBe(true);
      }
    }
    expect(releases).toBeLessThanOrEqual(1);
  }
}

describe("the gate under any schedule", () => {
  it("releases nothing unapproved, nothing twice, nothing unrecorded, and settles every call", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
        const world = await play(steps);
        checkWorld(world);
        for (const { verdict } of world.calls) expect(verdict).toBeDefined();
      }),
      { numRuns: Number(process.env["ACP_RUNS"] ?? 150) },
    );
  });

  it("is a check that can fail: a plain yes is found as a release", async () => {
    const world = await play([
      { do: "call", path: 0, agent: 0 },
      { do: "answer", question: 0, how: "yes", who: 0, bytes: false },
    ]);
    expect(world.calls[0]?.verdict).toMatchObject({ decision: "allow" });
    expect(() => checkWorld({ ...world, sink: { ...world.sink, events: [] } })).toThrow(
      "greater than or equal",
    );
  });
});
