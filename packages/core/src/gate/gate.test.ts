import { manualClock } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { agent, allowAll, denyAll, first, makeKit, reply } from "../../test/gate-kit.js";
import { type Clock, createConsentGate, type Layer, redeem, toolAction } from "../index.js";

const write = toolAction("files", "write_file", { path: "a.txt", content: "hello" });

describe("createConsentGate() with an allow", () => {
  it("allows, after both events are durable, with a permit that opens once", async () => {
    const { gate, types } = makeKit({ policy: allowAll });
    const verdict = await gate(write, { agent });
    if (verdict.decision !== "allow") throw new Error(verdict.code);
    expect(verdict.code).toBe("policy_allowed");
    expect(types()).toEqual(["tool_call_intercepted", "policy_evaluated"]);
    expect(redeem(verdict.permit, verdict.action).action).toBe(write);
    expect(() => redeem(verdict.permit, verdict.action)).toThrow(
      expect.objectContaining({ code: "permit_spent" }),
    );
  });

  it("denies with audit_failed when the log cannot keep the decision", async () => {
    const { gate, sink } = makeKit({ policy: allowAll });
    sink.mode = "throws";
    expect(await gate(write, { agent })).toMatchObject({ decision: "deny", code: "audit_failed" });
  });

  it("denies with audit_failed when the log is silent for too long", async () => {
    const { gate, sink, clock } = makeKit({ policy: allowAll });
    sink.mode = "hangs";
    const verdict = gate(write, { agent });
    await clock.advance(30_001);
    expect(await verdict).toMatchObject({ decision: "deny", code: "audit_failed" });
  });
});

describe("createConsentGate() with a deny", () => {
  it("denies by the default and writes it down", async () => {
    const { gate, types } = makeKit({ policy: denyAll });
    expect(await gate(write, { agent })).toMatchObject({
      decision: "deny",
      code: "policy_denied",
      ruleId: "default",
      retryable: false,
    });
    expect(types()).toEqual(["tool_call_intercepted", "policy_evaluated"]);
  });

  it("denies although the log is broken", async () => {
    const { gate, sink } = makeKit({ policy: denyAll });
    sink.mode = "throws";
    expect(await gate(write, { agent })).toMatchObject({ code: "policy_denied" });
  });

  it("denies where there is neither policy nor layer", async () => {
    const { clock: _, ...kit } = makeKit();
    const gate = createConsentGate({
      channel: { name: "test", deliver: () => Promise.resolve() },
      audit: kit.sink,
    });
    expect(await gate(write, { agent })).toMatchObject({ code: "policy_denied" });
  });

  it("denies an action that no constructor made, and a call without an agent", async () => {
    const { gate } = makeKit({ policy: allowAll });
    const forged = JSON.parse(JSON.stringify(write)) as typeof write;
    expect(await gate(forged, { agent })).toMatchObject({ code: "action_invalid" });
    expect(await gate(write, { agent: { id: "" } })).toMatchObject({ code: "context_invalid" });
    expect(await gate(write, undefined as unknown as { agent: typeof agent })).toMatchObject({
      code: "context_invalid",
    });
  });

  it("ends a question whose time nobody can measure", async () => {
    const real = manualClock();
    // Only the time of the question is too long for it.
    const sleep: Clock["sleep"] = (ms, options) =>
      ms > 60_000 ? Promise.reject(new Error("no timers left")) : real.sleep(ms, options);
    const clock: Clock = { ...real, sleep };
    const { gate } = makeKit({ clock });
    expect(await gate(write, { agent })).toMatchObject({
      code: "internal_error",
      reason: expect.stringContaining("no timers left"),
    });
  });

  it("denies with policy_failed when the policy function throws", async () => {
    const { gate } = makeKit({
      policy: () => {
        throw new Error("gone");
      },
    });
    expect(await gate(write, { agent })).toMatchObject({ code: "policy_failed", reason: "gone" });
  });

  it.each([
    [
      "throws",
      {
        name: "bad",
        judge: () => {
          throw new Error("boom");
        },
      },
    ],
    ["returns null", { name: "bad", judge: () => null as never }],
    [
      "returns a promise",
      { name: "bad", judge: () => Promise.resolve({ effect: "allow" }) as never },
    ],
    [
      "misspells its effect",
      { name: "bad", judge: () => ({ effect: "alow", ruleId: "x", reason: "" }) as never },
    ],
    [
      "asks with NaN for a timeout",
      {
        name: "bad",
        judge: () => ({ effect: "ask", ruleId: "x", reason: "", ask: { timeoutMs: Number.NaN } }),
      },
    ],
  ] satisfies readonly (readonly [string, Layer])[])(
    "denies with layer_failed when a layer %s",
    async (_, layer) => {
      const { gate } = makeKit({ policy: allowAll, layers: [layer] });
      expect(await gate(write, { agent })).toMatchObject({
        decision: "deny",
        code: "layer_failed",
      });
    },
  );
});

describe("createConsentGate() with an ask", () => {
  it("asks, and a yes releases the action that was shown", async () => {
    const { gate, shown, settle, types } = makeKit();
    const verdict = gate(write, { agent });
    await settle();
    const question = first(shown);
    expect(question.request.text).toContain("write_file");
    expect(await question.session.submit(reply(question, { decision: "approved" }))).toEqual({
      status: "final",
      outcome: "approved",
    });
    expect(await verdict).toMatchObject({
      decision: "allow",
      code: "consent_approved",
      action: write,
      approvers: ["local"],
    });
    expect(await question.session.ended).toMatchObject({ status: "approved" });
    expect(types()).toEqual([
      "tool_call_intercepted",
      "policy_evaluated",
      "consent_requested",
      "consent_delivered",
      "consent_approved",
    ]);
  });

  it("denies with the person's no", async () => {
    const { gate, shown, settle } = makeKit();
    const verdict = gate(write, { agent });
    await settle();
    await first(shown).session.submit(
      reply(first(shown), { decision: "denied", reason: "not today" }),
    );
    expect(await verdict).toMatchObject({
      code: "consent_denied",
      reason: "not today",
      retryable: false,
    });
  });

  it("takes an answer that comes before deliver resolves", async () => {
    const kit = makeKit({
      channel: {
        name: "test",
        deliver: async (request, session) =>
          void (await session.submit(reply({ request, session }, { decision: "approved" }))),
      },
    });
    expect(await kit.gate(write, { agent })).toMatchObject({ decision: "allow" });
  });

  it("expires by the monotonic clock although the wall clock went back, and refuses late answers", async () => {
    const { gate, shown, clock, settle } = makeKit();
    const verdict = gate(write, { agent });
    await settle();
    clock.jump(-3_600_000);
    await clock.advance(120_001);
    expect(await verdict).toMatchObject({ code: "consent_expired", retryable: true });
    expect(
      await first(shown).session.submit(reply(first(shown), { decision: "approved" })),
    ).toMatchObject({
      status: "refused",
      code: "request_ended",
    });
  });

  it("refuses an answer after the wall clock jumped past the expiry", async () => {
    const { gate, shown, clock, settle } = makeKit();
    const verdict = gate(write, { agent });
    await settle();
    clock.jump(24 * 3_600_000);
    expect(
      await first(shown).session.submit(
        reply(first(shown), { decision: "approved", validUntilMs: clock.now() + 1_000 }),
      ),
    ).toMatchObject({ status: "refused" });
    await clock.advance(120_001);
    expect(await verdict).toMatchObject({ decision: "deny" });
  });

  it("denies at once when the channel has nobody to ask, with the channel's own words", async () => {
    const { ConsentError } = await import("../errors.js");
    const { gate } = makeKit({
      channel: {
        name: "test",
        deliver: () =>
          Promise.reject(new ConsentError("channel_unavailable", "Cannot ask: no terminal")),
      },
    });
    expect(await gate(write, { agent })).toMatchObject({
      code: "channel_unavailable",
      reason: "Cannot ask: no terminal",
      retryable: true,
    });
  });

  it("denies with channel_failed when deliver throws, also synchronously", async () => {
    const sync = makeKit({
      channel: {
        name: "test",
        deliver: () => {
          throw new Error("no route");
        },
      },
    });
    expect(await sync.gate(write, { agent })).toMatchObject({ code: "channel_failed" });
  });

  it("denies with audit_failed when the yes cannot be kept", async () => {
    const { gate, shown, sink, settle } = makeKit();
    const verdict = gate(write, { agent });
    await settle();
    sink.mode = "throws";
    expect(
      await first(shown).session.submit(reply(first(shown), { decision: "approved" })),
    ).toEqual({
      status: "final",
      outcome: "failed",
    });
    expect(await verdict).toMatchObject({ decision: "deny", code: "audit_failed" });
  });

  it("takes the question back when the caller aborts and the gate holds none, before and after the yes", async () => {
    const { gate, shown, settle } = makeKit({ retryWindowMs: 0 });
    const caller = new AbortController();
    const verdict = gate(write, { agent, signal: caller.signal });
    await settle();
    caller.abort();
    expect(await verdict).toMatchObject({ code: "consent_cancelled" });
    expect(await first(shown).session.ended).toMatchObject({ status: "cancelled" });
    expect(await gate(write, { agent, signal: caller.signal })).toMatchObject({
      code: "consent_cancelled",
    });
  });

  it("denies while paused, grants and stored decisions included", async () => {
    const { gate, shown } = makeKit({ paused: () => "paused by the operator" });
    expect(await gate(write, { agent })).toMatchObject({
      code: "paused",
      reason: "paused by the operator",
      retryable: true,
    });
    expect(shown).toHaveLength(0);
  });

  it("closes: open questions end in a deny and no new action is taken", async () => {
    const { gate, settle, shown } = makeKit();
    const verdict = gate(write, { agent });
    await settle();
    await gate.close();
    expect(await verdict).toMatchObject({ code: "gate_closed" });
    expect(await gate(write, { agent })).toMatchObject({ code: "gate_closed" });
    expect(await first(shown).session.ended).toMatchObject({ status: "cancelled" });
  });
});

describe("resume()", () => {
  it("shows again what is open and ends what is out of time", async () => {
    const { memoryStore } = await import("../stores/memory-store.js");
    const before = makeKit();
    const store = memoryStore(before.clock);
    const old = makeKit({ store, clock: before.clock });
    await old.gate.open(write, { agent });
    await old.settle();
    const fresh = makeKit({ store, clock: before.clock });
    expect(await fresh.gate.resume()).toBe(1);
    expect(first(fresh.shown).session.redelivery).toBe(true);
    expect(await fresh.gate.resume()).toBe(0);
    before.clock.jump(10 * 60_000);
    const later = makeKit({ store, clock: before.clock });
    expect(await later.gate.resume()).toBe(0);
    expect(later.types()).toEqual(["consent_expired"]);
  });
});
