/** A call with an id of its caller's: its events have it, and nothing else is taken for one. */
import { describe, expect, it } from "vitest";
import { agent, allowAll, asPending, first, makeKit, reply } from "../../test/gate-kit.js";
import { toolAction } from "../index.js";

const write = toolAction("files", "write_file", { path: "a" });
const idOf = (digit: string): string => `cc_${digit.repeat(32)}`;

describe("GateContext.call", () => {
  it("stands in every event of an allowed call", async () => {
    const { gate, sink } = makeKit({ policy: allowAll });
    const verdict = await gate(write, { agent, call: idOf("1") });
    if (verdict.decision !== "allow") throw new Error(verdict.code);
    await gate.perform(verdict, () => Promise.resolve(1));
    expect(sink.events.map(({ eventType, metadata }) => [eventType, metadata["call"]])).toEqual(
      [
        "tool_call_intercepted",
        "policy_evaluated",
        "tool_call_forwarded",
        "tool_call_completed",
      ].map((type) => [type, idOf("1")]),
    );
  });

  it("stands in every event of its question, and of what came of the answer", async () => {
    const kit = makeKit();
    const asking = kit.gate(write, { agent, call: idOf("1") });
    await kit.settle();
    await first(kit.shown).session.submit(reply(first(kit.shown), { decision: "approved" }));
    await kit.settle();
    const verdict = await asking;
    if (verdict.decision !== "allow") throw new Error(verdict.code);
    await kit.gate.perform(verdict, () => Promise.resolve(1));
    expect(kit.types()).toContain("tool_call_completed");
    expect(new Set(kit.sink.events.map(({ metadata }) => metadata["call"]))).toEqual(
      new Set([idOf("1")]),
    );
  });

  it("is a retry's own from when it waits for the question of an earlier call", async () => {
    const kit = makeKit();
    const one = asPending(await kit.gate.open(write, { agent, call: idOf("1") }));
    await kit.settle();
    await one.defer();
    const before = kit.sink.events.length;
    const two = asPending(await kit.gate.open(write, { agent, call: idOf("2") }));
    expect(two.requestId).toBe(one.requestId);
    await first(kit.shown).session.submit(reply(first(kit.shown), { decision: "approved" }));
    await kit.settle();
    const verdict = await two.settled;
    if (verdict.decision !== "allow") throw new Error(verdict.code);
    await kit.gate.perform(verdict, () => Promise.resolve(1));
    const since = kit.sink.events.slice(before);
    expect(since.map(({ metadata }) => metadata["call"])).toEqual(since.map(() => idOf("2")));
  });

  it("is the retry's own where that takes a kept answer", async () => {
    const kit = makeKit();
    const one = asPending(await kit.gate.open(write, { agent, call: idOf("1") }));
    await kit.settle();
    await one.defer();
    await first(kit.shown).session.submit(
      reply(first(kit.shown), { decision: "approved", validUntilMs: kit.clock.now() + 300_000 }),
    );
    await kit.settle();
    const verdict = await kit.gate(write, { agent, call: idOf("2") });
    if (verdict.decision !== "allow") throw new Error(verdict.code);
    await kit.gate.perform(verdict, () => Promise.resolve(1));
    const forwarded = kit.sink.events.find(({ eventType }) => eventType === "tool_call_forwarded");
    expect(forwarded?.metadata["call"]).toBe(idOf("2"));
  });

  it.each([
    "",
    "cc_1",
    `cc_${"g".repeat(32)}`,
    `CC_${"1".repeat(32)}`,
    `cr_${"1".repeat(32)}`,
    `${idOf("1")}\n`,
    ` ${idOf("1")}`,
    7,
    {},
  ])("is refused where it is %j", async (call) => {
    const { gate, sink } = makeKit({ policy: allowAll });
    // @ts-expect-error -- JavaScript may hand in anything
    const verdict = await gate(write, { agent, call });
    expect(verdict).toMatchObject({ decision: "deny", code: "context_invalid" });
    expect(JSON.stringify(sink.events)).not.toContain("cc_");
  });
});
