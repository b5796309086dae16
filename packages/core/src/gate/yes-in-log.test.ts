/**
 * What the log says became of a yes that was not performed as asked: one end, once, with the reason
 * that whoever approved it is told.
 */
import { manualClock } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { agent, askAll, denyAll, first, type Kit, makeKit, reply } from "../../test/gate-kit.js";
import {
  type Allowed,
  type AuditEventInput,
  type Claims,
  type ConsentOutcome,
  type GateOptions,
  memoryPending,
  memoryStore,
  type PendingStore,
  type Policy,
  redeem,
  toolAction,
} from "../index.js";
import { parsePolicy } from "../policy.js";

const write = toolAction("files", "write_file", { path: "a" });

async function approve(kit: Kit): Promise<void> {
  const question = first(kit.shown);
  await question.session.submit(
    reply(question, { decision: "approved", validUntilMs: kit.clock.now() + 300_000 }),
  );
  await kit.settle();
}

const outcomeOf = ({ shown }: Kit): Promise<ConsentOutcome | undefined> =>
  first(shown).session.outcome;

describe("what the log says became of a yes", () => {
  /** What it has after the approval. */
  const story = ({ sink }: Kit): readonly AuditEventInput[] =>
    sink.events.slice(
      sink.events.findIndex(({ eventType }) => eventType === "consent_approved") + 1,
    );

  /** A yes whose verdict is in the caller's hands. */
  async function taken(
    options: Partial<GateOptions> = {},
  ): Promise<{ readonly kit: Kit; readonly verdict: Allowed; leave(): void }> {
    const kit = makeKit(options);
    const caller = new AbortController();
    const asking = kit.gate(write, { agent, signal: caller.signal });
    await kit.settle();
    await approve(kit);
    const verdict = await asking;
    if (verdict.decision === "deny") throw new Error(verdict.code);
    return { kit, verdict, leave: () => caller.abort() };
  }

  it("is that nobody knows, where who performs it by itself says no more", async () => {
    const { kit, verdict } = await taken();
    redeem(verdict.permit, verdict.action);
    await kit.clock.advance(30_000 + 900_000);
    expect(story(kit)).toMatchObject([
      {
        eventType: "outcome_unknown",
        requestId: verdict.requestId,
        metadata: { reason: "who performed it did not report what came of it" },
      },
    ]);
  });

  it("is what a host reports while it may, and nothing besides", async () => {
    const { kit, verdict } = await taken();
    redeem(verdict.permit, verdict.action);
    await kit.clock.advance(40_000);
    await kit.gate.report(verdict, { status: "forwarded" });
    await kit.clock.advance(3_600_000);
    await kit.gate.report(verdict, { status: "performed" });
    expect(story(kit).map(({ eventType }) => eventType)).toEqual([
      "tool_call_forwarded",
      "tool_call_completed",
    ]);
    expect(await outcomeOf(kit)).toEqual({ status: "ran", detail: "" });
  });

  let paused: string | undefined;
  let policy: Policy;
  it.each<readonly [string, Partial<GateOptions>, object]>([
    [
      "paused agent",
      { pausedAgent: () => paused },
      { error: "permit_denied", reason: "Cannot redeem the permit: enough" },
    ],
    ["policy that denies it by now", { policy: () => policy }, { error: "permit_denied" }],
    [
      "vault that fails",
      { vault: { inject: () => Promise.reject(new Error("locked")) } },
      { error: "vault_failed" },
    ],
  ])("is that it was not performed, and why, once, with a %s", async (_, options, why) => {
    [paused, policy] = [undefined, askAll];
    const { kit, verdict } = await taken(options);
    [paused, policy] = ["enough", denyAll];
    expect(await kit.gate.perform(verdict, () => Promise.resolve())).toMatchObject({ ran: false });
    await kit.clock.advance(1_000_000);
    expect(story(kit)).toMatchObject([
      {
        eventType: "tool_call_completed",
        requestId: verdict.requestId,
        decision: "allow",
        metadata: { outcome: "not_performed", ...why },
      },
    ]);
  });

  it("is that it was not performed where the agent was paused as it came for the yes", async () => {
    paused = undefined;
    const kit = makeKit({ pausedAgent: () => paused });
    const asking = kit.gate(write, { agent });
    await kit.settle();
    paused = "enough";
    await approve(kit);
    expect(await asking).toMatchObject({ code: "agent_paused" });
    expect(story(kit)).toMatchObject([
      {
        eventType: "tool_call_completed",
        metadata: { outcome: "not_performed", error: "agent_paused", reason: "enough" },
      },
    ]);
    expect(await outcomeOf(kit)).toEqual({ status: "not_performed", detail: "enough" });
  });

  it("is that it was not performed where the rules became stricter than what the person saw", async () => {
    let rules = askAll;
    const kit = makeKit({ policy: () => rules });
    const caller = new AbortController();
    void kit.gate(write, { agent, signal: caller.signal });
    await kit.settle();
    caller.abort();
    await approve(kit);
    rules = parsePolicy({
      version: "1",
      rules: [{ match: { tool: "*" }, action: "ask", level: "high" }],
    });
    expect((await kit.gate.open(write, { agent })).decision).toBe("pending");
    const end = story(kit).find(
      ({ requestId, eventType }) =>
        requestId === first(kit.shown).request.id && eventType !== "consent_deferred",
    );
    expect(end).toMatchObject({
      eventType: "tool_call_completed",
      metadata: {
        outcome: "not_performed",
        reason: "the rules became stricter after it was asked",
      },
    });
  });

  it("is that nothing was done where the caller left before it began, and one thing where it left as it began", async () => {
    const early = await taken();
    early.leave();
    await early.kit.gate.perform(early.verdict, () => Promise.resolve());
    await early.kit.settle();
    expect(story(early.kit)).toMatchObject([
      { eventType: "consent_not_collected", metadata: { reason: "the caller went away" } },
    ]);
    const late = await taken();
    const append = late.kit.sink.append.bind(late.kit.sink);
    late.kit.sink.append = (events) => {
      if (events.some(({ eventType }) => eventType === "tool_call_forwarded")) late.leave();
      return append(events);
    };
    let ran = false;
    expect(await late.kit.gate.perform(late.verdict, async () => void (ran = true))).toMatchObject({
      verdict: { code: "consent_cancelled" },
    });
    await late.kit.settle();
    expect(ran).toBe(false);
    expect(story(late.kit)).toMatchObject([
      { eventType: "tool_call_forwarded" },
      {
        eventType: "tool_call_completed",
        metadata: {
          outcome: "not_performed",
          error: "consent_cancelled",
          forwarded_seq: expect.any(Number),
        },
      },
    ]);
    expect(await outcomeOf(late.kit)).toEqual({
      status: "not_performed",
      detail: "consent_cancelled",
    });
  });

  it("is that it was not performed where the log could not keep that it begins, once it works again", async () => {
    const { kit, verdict } = await taken();
    const append = kit.sink.append.bind(kit.sink);
    kit.sink.append = (events) =>
      events.some(({ eventType }) => eventType === "tool_call_forwarded")
        ? Promise.reject(new Error("busy"))
        : append(events);
    expect(await kit.gate.perform(verdict, () => Promise.resolve())).toMatchObject({
      verdict: { code: "audit_failed" },
    });
    await kit.settle();
    expect(story(kit)).toMatchObject([
      {
        eventType: "tool_call_completed",
        metadata: { outcome: "not_performed", error: "audit_failed" },
      },
    ]);
    expect(await outcomeOf(kit)).toMatchObject({ status: "not_performed" });
  });

  it("is that nobody used it in time, told at once where somebody tries by the wall clock's time", async () => {
    const { kit, verdict } = await taken();
    kit.clock.jump(30_000);
    expect(await kit.gate.perform(verdict, () => Promise.resolve())).toMatchObject({
      verdict: { code: "permit_refused" },
    });
    await kit.settle();
    expect(story(kit)).toMatchObject([
      {
        eventType: "consent_not_collected",
        metadata: { reason: "the permit expired before it was used" },
      },
    ]);
  });

  it("is there before a store that fails is asked to keep it", async () => {
    const pending = memoryPending();
    const transition: PendingStore["transition"] = (id, version, next) =>
      next.outcome === undefined
        ? pending.transition(id, version, next)
        : Promise.reject(new Error("down"));
    const { kit, verdict } = await taken({ store: { pending: { ...pending, transition } } });
    await kit.clock.advance(30_000);
    expect(story(kit)).toMatchObject([
      { eventType: "consent_not_collected", requestId: verdict.requestId },
    ]);
  });

  /** Claims of which a decision's taking fails so. */
  function claimsWith(taking: () => Promise<boolean>): Claims {
    const { claims } = memoryStore(manualClock());
    return {
      ...claims,
      claimOnce: (key, ttlMs) =>
        key.startsWith("adopted:") ? taking() : claims.claimOnce(key, ttlMs),
    };
  }

  it("is not said twice of a yes that somebody had before", async () => {
    const kit = makeKit({ store: { claims: claimsWith(() => Promise.resolve(false)) } });
    const asking = kit.gate(write, { agent });
    await kit.settle();
    await approve(kit);
    expect(await asking).toMatchObject({ code: "store_failed" });
    expect(story(kit)).toMatchObject([{ eventType: "stored_record_ignored" }]);
    expect(await outcomeOf(kit)).toMatchObject({ status: "not_performed" });
  });

  it("is that it was not performed where nobody can say whether somebody had it before", async () => {
    const kit = makeKit({ store: { claims: claimsWith(() => Promise.reject(new Error("down"))) } });
    const asking = kit.gate(write, { agent });
    await kit.settle();
    await approve(kit);
    expect(await asking).toMatchObject({ code: "store_failed" });
    expect(story(kit)).toMatchObject([
      {
        eventType: "tool_call_completed",
        metadata: { outcome: "not_performed", error: "store_failed" },
      },
    ]);
  });
});
