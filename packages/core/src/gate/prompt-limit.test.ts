import { describe, expect, it } from "vitest";
import { agent, first, last, makeKit, reply } from "../../test/gate-kit.js";
import { toolAction } from "../index.js";
import { parsePolicy } from "../policy.js";

const call = (path: string) => toolAction("files", "write_file", { path });
const promptLimit = { max: 2, windowMs: 600_000 };

describe("promptLimit", () => {
  it("denies what would be one question too many, says when to come back, and writes it down", async () => {
    const { gate, shown, clock, sink } = makeKit({ promptLimit });
    await gate.open(call("a"), { agent });
    await clock.advance(60_000);
    await gate.open(call("b"), { agent });
    const denied = await gate(call("c"), { agent });
    expect(denied).toMatchObject({
      code: "too_many_questions",
      retryable: true,
      retryAfterMs: 540_000,
    });
    expect(last(sink.events)).toMatchObject({
      eventType: "policy_evaluated",
      decision: "deny",
      metadata: { code: "too_many_questions" },
    });
    expect(shown).toHaveLength(2);
    await clock.advance(540_000);
    expect((await gate.open(call("c"), { agent })).decision).toBe("pending");
  });

  it("is 60 questions in ten minutes unless somebody says otherwise, and nobody else's", async () => {
    const { gate } = makeKit({});
    for (let number = 0; number < 60; number++)
      expect((await gate.open(call(String(number)), { agent })).decision).toBe("pending");
    expect(await gate(call("60"), { agent })).toMatchObject({
      code: "too_many_questions",
      retryable: true,
    });
    expect((await gate.open(call("a"), { agent: { id: "other" } })).decision).toBe("pending");
  });

  it("is none where somebody says so", async () => {
    const { gate } = makeKit({ promptLimit: "none" });
    for (let number = 0; number < 100; number++)
      expect((await gate.open(call(String(number)), { agent })).decision).toBe("pending");
  });

  it("counts an agent and all that it started together, and another agent apart", async () => {
    const { gate } = makeKit({ promptLimit });
    await gate.open(call("a"), { agent });
    await gate.open(call("b"), { agent: { id: "sub-1", parents: ["demo"] } });
    expect(
      await gate(call("c"), { agent: { id: "sub-2", parents: ["sub-1", "demo"] } }),
    ).toMatchObject({ code: "too_many_questions" });
    expect((await gate.open(call("c"), { agent: { id: "other" } })).decision).toBe("pending");
  });

  it("counts no call that a rule answers, and no retry that waits for its open question", async () => {
    const policy = parsePolicy({
      version: "1",
      default: "ask",
      rules: [{ match: { tool: "read_*" }, action: "allow" }],
    });
    const { gate, shown } = makeKit({ policy, promptLimit: { ...promptLimit, max: 1 } });
    for (let i = 0; i < 5; i++)
      expect((await gate(toolAction("files", "read_file"), { agent })).decision).toBe("allow");
    const pending = await gate.open(call("a"), { agent });
    if (pending.decision === "pending") await pending.defer();
    expect((await gate.open(call("a"), { agent })).decision).toBe("pending");
    expect(shown).toHaveLength(1);
  });

  it("lets an edit that is shown again through: a person made that question", async () => {
    const guarded = parsePolicy({
      version: "1",
      default: "ask",
      rules: [{ match: { tool: "*", args: { path: "/srv/*" } }, action: "ask", level: "high" }],
    });
    const { gate, shown, settle } = makeKit({
      policy: guarded,
      promptLimit: { ...promptLimit, max: 1 },
    });
    void gate.open(call("a"), { agent });
    await settle();
    const edit = reply(first(shown), {
      decision: "approved_with_modifications",
      modifications: { path: "/srv/a" },
    });
    expect(await first(shown).session.submit(edit)).toMatchObject({ status: "reshow" });
  });

  it.each([
    { max: 0, windowMs: 1 },
    { max: 1.5, windowMs: 1 },
    { max: 1, windowMs: 0 },
    { max: 1, windowMs: Number.NaN },
    { max: 1, windowMs: 86_400_001 },
  ])("does not make a gate where it is %j", (bad) => {
    expect(() => makeKit({ promptLimit: bad })).toThrow(
      expect.objectContaining({ code: "options_invalid" }),
    );
  });
});

describe("prompts", () => {
  it("are in the log, each with the time to its answer", async () => {
    const { gate, shown, sink, clock } = makeKit();
    const pending = await gate.open(call("a"), { agent });
    await clock.advance(7_500);
    await first(shown).session.submit(reply(first(shown), { decision: "denied" }));
    if (pending.decision === "pending") await pending.settled;
    const told = sink.events.flatMap(({ eventType, responseTimeMs, requestId }) =>
      requestId === "" ? [] : [[eventType, responseTimeMs]],
    );
    expect(told).toEqual([
      ["consent_requested", 0],
      ["consent_delivered", 0],
      ["consent_denied", 7_500],
    ]);
  });
});
