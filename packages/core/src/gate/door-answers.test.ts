/**
 * What parts and channels hand to a gate is copied and bounded, too; nothing of it makes a gate
 * reject.
 */
import { describe, expect, it } from "vitest";
import { agent, allowAll, askAll, first, makeKit, reply, type Shown } from "../../test/gate-kit.js";
import { type AnswerReceipt, type Channel, type Ids, type Layer, toolAction } from "../index.js";

const write = toolAction("files", "write_file", { path: "a.txt" });
const MEGABYTES_5 = "x".repeat(5 * 1024 * 1024);
const gotcha = (): never => {
  throw new Error("gotcha");
};
const throwIt = (error: unknown): never => {
  throw error;
};
const hostile = new Proxy(
  {},
  { get: gotcha, getOwnPropertyDescriptor: gotcha, getPrototypeOf: gotcha, ownKeys: gotcha },
);
const unprintable = Object.create(null) as unknown;

async function asked(kit = makeKit()): Promise<{
  readonly kit: typeof kit;
  readonly question: Shown;
  readonly verdict: Promise<unknown>;
}> {
  const verdict = kit.gate(write, { agent });
  await kit.settle();
  return { kit, question: first(kit.shown), verdict };
}

describe("who answers", () => {
  it.each<readonly [string, unknown]>([
    ["nothing", undefined],
    ["a Proxy that throws", hostile],
    [
      "a getter that throws",
      Object.defineProperty({ channel: "test" }, "subject", { get: gotcha }),
    ],
    ["a subject of 5 MB", { channel: "test", subject: MEGABYTES_5 }],
    ["a channel of 5 MB", { channel: MEGABYTES_5, subject: "local" }],
    ["an empty subject", { channel: "test", subject: "" }],
    ["a subject that is no text", { channel: "test", subject: 7 }],
  ])("is refused where it is %s", async (_, by) => {
    const { kit, question } = await asked();
    const answer = kit.gate.answer as (claim: unknown, by: unknown) => Promise<AnswerReceipt>;
    expect(await answer(reply(question, { decision: "approved" }), by)).toMatchObject({
      status: "refused",
      code: "approver_unknown",
    });
    expect(JSON.stringify(kit.sink.events).length).toBeLessThan(20_000);
  });

  it("cannot be a Proxy that throws in a channel's hands either", async () => {
    const { question } = await asked();
    const submit = question.session.submit as (
      claim: unknown,
      by: unknown,
    ) => Promise<AnswerReceipt>;
    expect(await submit(reply(question, { decision: "approved" }), hostile)).toMatchObject({
      code: "approver_unknown",
    });
    expect(await submit(hostile, undefined)).toMatchObject({ code: "response_invalid" });
  });

  it("is on the channel that asked, whatever that calls itself meanwhile", async () => {
    let question: Shown | undefined;
    const channel = {
      name: "weak",
      deliver: (request, session) => Promise.resolve(void (question = { request, session })),
    } as { name: string; deliver: Channel["deliver"] };
    const kit = makeKit({
      channel,
      approvers: [
        { id: "ceo", channel: "strong", subject: "1" },
        { id: "ann", channel: "weak", subject: "1" },
      ],
    });
    void kit.gate(write, { agent: { id: "ann" } });
    await kit.settle();
    channel.name = "strong";
    if (question === undefined) throw new Error("nothing was shown");
    const receipt = await question.session.submit(reply(question, { decision: "approved" }), {
      subject: "1",
    });
    expect(receipt).toMatchObject({ code: "approver_not_allowed" });
  });
});

describe("an answer", () => {
  it("as an object may be no larger than as text", async () => {
    const { question } = await asked();
    const claim = {
      ...reply(question, {
        decision: "approved_with_modifications",
        modifications: { content: MEGABYTES_5 },
      }),
    };
    expect(await question.session.submit(claim)).toMatchObject({ code: "response_invalid" });
  });
});

describe("parts that misbehave", () => {
  it.each<readonly [string, unknown]>([
    ["5 MB", MEGABYTES_5],
    ["no text", 7],
    ["an empty text", ""],
    ["a line break", "cr_1\ncr_2"],
  ])("ids that are %s deny and stand in no log", async (_, id) => {
    const ids: Ids = { next: () => id as string };
    for (const policy of [allowAll, askAll]) {
      const { gate, sink } = makeKit({ ids, policy });
      expect(await gate(write, { agent })).toMatchObject({ decision: "deny" });
      expect(sink.events).toEqual([]);
    }
  });

  it.each<readonly [string, unknown]>([
    ["without a text", unprintable],
    ["that throws when it is read", hostile],
    ["with 5 MB of text", new Error(MEGABYTES_5)],
  ])("an error %s denies, and stands in the log cut short", async (_, error) => {
    const throwing: Layer = {
      name: "throws",
      judge: () => {
        throw error;
      },
    };
    const { gate, sink } = makeKit({ layers: [throwing] });
    expect(await gate(write, { agent })).toMatchObject({ decision: "deny", code: "layer_failed" });
    expect(JSON.stringify(sink.events).length).toBeLessThan(20_000);
    const rejecting = makeKit({
      policy: allowAll,
      audit: { append: () => Promise.resolve().then(() => throwIt(error)) },
    });
    expect(await rejecting.gate(write, { agent })).toMatchObject({
      decision: "deny",
      code: "audit_failed",
    });
  });

  it("a judge keeps the name that it had", async () => {
    const layer = {
      name: "calm",
      judge: () => ({ effect: "allow", ruleId: "r", reason: "r" }) as const,
    };
    const { gate, sink } = makeKit({ layers: [layer], policy: allowAll });
    layer.name = MEGABYTES_5;
    expect(await gate(write, { agent })).toMatchObject({ decision: "allow" });
    expect(JSON.stringify(sink.events)).toContain('"calm"');
    expect(() => makeKit({ layers: [layer] })).toThrow(
      expect.objectContaining({ code: "options_invalid" }),
    );
  });
});

describe("the other doors", () => {
  it("perform() denies what is no signal", async () => {
    const { gate } = makeKit({ policy: allowAll });
    const verdict = await gate(write, { agent });
    if (verdict.decision !== "allow") throw new Error(verdict.reason);
    const perform = gate.perform as (...parts: readonly unknown[]) => Promise<unknown>;
    const denied = { ran: false, verdict: { code: "context_invalid" } };
    expect(await perform(verdict, () => Promise.resolve(1), { signal: hostile })).toMatchObject(
      denied,
    );
    expect(await perform(verdict, () => Promise.resolve(1), hostile)).toMatchObject(denied);
    expect(await perform(verdict, () => Promise.resolve(1), { signal: undefined })).toMatchObject({
      ran: true,
    });
  });

  it("revoke() knows no grant of an id that is none, and revokes for whoever has no name", async () => {
    const { gate, sink } = makeKit();
    const revoke = gate.revoke as (...parts: readonly unknown[]) => Promise<unknown>;
    expect(await revoke(MEGABYTES_5, "ann")).toBe(false);
    expect(await revoke(hostile, hostile)).toBe(false);
    expect(await revoke("gr_1", hostile)).toBe(false);
    expect(sink.events).toEqual([]);
  });
});
