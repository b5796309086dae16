import { describe, expect, it } from "vitest";
import {
  agent,
  allowAll,
  asPending,
  askAll,
  first,
  last,
  makeKit,
  reply,
} from "../../test/gate-kit.js";
import { type Allowed, type ConsentGate, redeem, toolAction } from "../index.js";

const write = toolAction("files", "write_file", { path: "a.txt" });

async function allowed(gate: ConsentGate): Promise<Allowed> {
  const verdict = await gate(write, { agent });
  if (verdict.decision !== "allow") throw new Error(verdict.code);
  return verdict;
}

const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "taken",
    (error: unknown) => (error instanceof Error && "code" in error ? error.code : error),
  );

describe("report()", () => {
  it("writes forwarded before and completed after, for a permit that was redeemed by hand", async () => {
    const { gate, sink, types } = makeKit({ policy: allowAll });
    const verdict = await allowed(gate);
    redeem(verdict.permit, verdict.action);
    await gate.report(verdict, { status: "forwarded" });
    expect(types().slice(2)).toEqual(["tool_call_forwarded"]);
    await gate.report(verdict, { status: "failed", error: "ENOENT" });
    expect(types().slice(2)).toEqual(["tool_call_forwarded", "tool_call_completed"]);
    expect(last(sink.events).metadata).toMatchObject({
      outcome: "failed",
      error: "ENOENT",
      reported: true,
      forwarded_seq: 2,
    });
  });

  it("writes both where only the end is reported, and names the people of the question", async () => {
    const { gate, sink, shown, settle } = makeKit({ policy: askAll });
    const { settled } = asPending(await gate.open(write, { agent }));
    await settle();
    await first(shown).session.submit(reply(first(shown), { decision: "approved" }));
    const verdict = await settled;
    if (verdict.decision !== "allow") throw new Error(verdict.code);
    redeem(verdict.permit, verdict.action);
    await gate.report(verdict, { status: "performed" });
    const [forwarded, completed] = sink.events.slice(-2);
    expect(forwarded).toMatchObject({
      eventType: "tool_call_forwarded",
      requestId: verdict.requestId,
      metadata: { approvers: ["local"] },
    });
    expect(completed).toMatchObject({
      eventType: "tool_call_completed",
      requestId: verdict.requestId,
      metadata: { outcome: "performed" },
    });
  });

  it("takes one end, also of two at the same time, and forwarded at most once", async () => {
    const { gate, types } = makeKit({ policy: allowAll });
    const verdict = await allowed(gate);
    redeem(verdict.permit, verdict.action);
    await gate.report(verdict, { status: "forwarded" });
    expect(await codeOf(gate.report(verdict, { status: "forwarded" }))).toBe("permit_reported");
    const both = [
      gate.report(verdict, { status: "performed" }),
      gate.report(verdict, { status: "failed" }),
    ].map(codeOf);
    expect(await Promise.all(both)).toEqual(["taken", "permit_reported"]);
    expect(await codeOf(gate.report(verdict, { status: "forwarded" }))).toBe("permit_reported");
    expect(types().slice(2)).toEqual(["tool_call_forwarded", "tool_call_completed"]);
  });

  it("refuses what is not a verdict of this gate whose permit was redeemed", async () => {
    const { gate, types, clock } = makeKit({ policy: allowAll });
    const other = makeKit({ policy: allowAll });
    const verdict = await allowed(gate);
    const done = { status: "performed" } as const;
    expect(await codeOf(gate.report(verdict, done))).toBe("permit_unspent");
    redeem(verdict.permit, verdict.action);
    expect(await codeOf(gate.report({ ...verdict, approvers: ["ceo"] }, done))).toBe(
      "permit_unknown",
    );
    expect(await codeOf(gate.report({ ...verdict, permit: { ...verdict.permit } }, done))).toBe(
      "permit_unknown",
    );
    expect(await codeOf(gate.report(null as never, done))).toBe("permit_unknown");
    expect(await codeOf(other.gate.report(verdict, done))).toBe("permit_other_gate");
    const late = await allowed(gate);
    await clock.advance(30_001);
    expect(() => redeem(late.permit, late.action)).toThrow(
      expect.objectContaining({ code: "permit_expired" }),
    );
    expect(await codeOf(gate.report(late, done))).toBe("permit_unspent");
    expect(types()).not.toContain("tool_call_completed");
  });

  it("refuses to be told of what the gate itself performed", async () => {
    const { gate, types } = makeKit({ policy: allowAll });
    const result = await gate.run(write, () => Promise.resolve(1), { agent });
    if (!result.ran) throw new Error(result.verdict.code);
    expect(await codeOf(gate.report(result.verdict, { status: "failed" }))).toBe("permit_reported");
    expect(types().filter((type) => type === "tool_call_completed")).toHaveLength(1);
  });

  it.each([
    undefined,
    {},
    { status: "approved" },
    { status: ["performed"] },
    { status: "performed", error: "x" },
    { status: "failed", error: "" },
    { status: "failed", error: "x".repeat(101) },
    { status: "failed", error: ["ENOENT"] },
  ])("refuses the outcome %j, and takes a good one afterwards", async (outcome) => {
    const { gate } = makeKit({ policy: allowAll });
    const verdict = await allowed(gate);
    redeem(verdict.permit, verdict.action);
    expect(await codeOf(gate.report(verdict, outcome as never))).toBe("options_invalid");
    expect(await codeOf(gate.report(verdict, { status: "not_performed" }))).toBe("taken");
  });

  it("says that the log could not keep it", async () => {
    const { gate, sink } = makeKit({ policy: allowAll });
    const verdict = await allowed(gate);
    redeem(verdict.permit, verdict.action);
    const second = await allowed(gate);
    redeem(second.permit, second.action);
    await gate.report(second, { status: "forwarded" });
    sink.mode = "throws";
    for (const each of [verdict, second])
      expect(await codeOf(gate.report(each, { status: "performed" }))).toBe("audit_failed");
  });
});
