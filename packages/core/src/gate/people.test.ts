/** People are counted and excluded by person, however their names are written. */
import { describe, expect, it } from "vitest";
import { agent, askAll, first, makeKit, reply } from "../../test/gate-kit.js";
import { type AskTerms, type GateOptions, type Layer, toolAction } from "../index.js";
import { parsePolicy } from "../policy.js";

const write = toolAction("files", "write_file", { path: "a.txt" });
const asks = (ask: AskTerms): Layer => ({
  name: "asks",
  judge: () => ({ effect: "ask", ruleId: "asks", reason: "asks", ask }),
});
const twoPeople = parsePolicy({
  version: "1",
  rules: [{ id: "two", match: { kind: "*" }, action: "ask", quorum: 2 }],
});
const approver = (
  id: string,
  subject: string = id,
  channel: string = "test",
): NonNullable<GateOptions["approvers"]>[number] => ({
  id,
  channel,
  subject,
});

describe("a question for several people", () => {
  it("needs named ones: a gate with a static policy is not made", () => {
    expect(() => makeKit({ policy: twoPeople })).toThrow(
      expect.objectContaining({
        code: "options_invalid",
        message: expect.stringMatching(/rule "two" needs 2 people/) as unknown,
      }),
    );
    expect(() =>
      makeKit({ policy: twoPeople, approvers: [approver("ann"), approver("bob")] }),
    ).not.toThrow();
  });

  it.each([
    ["a policy that is a function", { policy: () => twoPeople }],
    ["a layer", { layers: [asks({ quorum: 2 })] }],
    [
      "a layer that names them itself",
      { layers: [asks({ quorum: 2, approvers: ["ann", "bob"] })] },
    ],
  ])("is denied with no_approver where %s asks it of a gate without names", async (_, options) => {
    const { gate, shown } = makeKit(options);
    expect(await gate(write, { agent })).toMatchObject({ decision: "deny", code: "no_approver" });
    expect(shown).toHaveLength(0);
  });

  it("is not made of an edit where the gate has no names", async () => {
    const layer: Layer = {
      name: "strict",
      judge: ({ args }) => ({
        effect: "ask",
        ruleId: "s",
        reason: "s",
        ask: { quorum: (args as { path: string }).path === "a.txt" ? 1 : 2 },
      }),
    };
    const { gate, shown, settle } = makeKit({ layers: [layer] });
    void gate(write, { agent });
    await settle();
    const edited = reply(first(shown), {
      decision: "approved_with_modifications",
      modifications: { path: "b.txt" },
    });
    expect(await first(shown).session.submit(edited)).toMatchObject({
      status: "refused",
      code: "modification_denied",
    });
  });

  it("is denied where one person with several channels is all that may answer", async () => {
    const { gate, shown } = makeKit({
      policy: twoPeople,
      approvers: [approver("ann", "local"), approver("ann", "777", "other")],
    });
    expect(await gate(write, { agent })).toMatchObject({ decision: "deny", code: "no_approver" });
    expect(shown).toHaveLength(0);
  });

  it("knows nobody by the subject of another channel", async () => {
    const { gate, shown, settle } = makeKit({
      approvers: [approver("ann", "1"), approver("bob", "2", "other")],
    });
    void gate(write, { agent });
    await settle();
    const yes = reply(first(shown), { decision: "approved" });
    for (const by of [
      { channel: "other", subject: "1" },
      { channel: "test", subject: "2" },
    ])
      expect(await gate.answer(yes, by)).toMatchObject({ code: "approver_unknown" });
    expect(await gate.answer(yes, { channel: "other", subject: "2" })).toMatchObject({
      status: "final",
    });
  });

  it("counts a person once, on whatever channel", async () => {
    const approvers = [approver("ann", "local"), approver("ann", "777", "other"), approver("bob")];
    const { gate, shown, settle } = makeKit({ policy: twoPeople, approvers });
    const verdict = gate(write, { agent });
    await settle();
    const question = first(shown);
    const yes = reply(question, { decision: "approved" });
    expect(await gate.answer(yes, { channel: "test", subject: "local" })).toMatchObject({
      status: "counted",
      have: 1,
    });
    expect(await gate.answer(yes, { channel: "other", subject: "777" })).toMatchObject({
      code: "already_answered",
    });
    expect(await gate.answer(yes, { channel: "test", subject: "bob" })).toMatchObject({
      status: "final",
    });
    expect(await verdict).toMatchObject({ decision: "allow", approvers: ["ann", "bob"] });
  });
});

describe("names of people", () => {
  it.each<readonly [string, Partial<GateOptions>]>([
    ["two spellings of one name", { approvers: [approver("ann"), approver("Ann ", "2")] }],
    [
      "one subject of a channel for two people",
      { approvers: [approver("ann", "x"), approver("bob", "X")] },
    ],
    ["a name that nobody sees", { approvers: [approver("\u200b")] }],
    ["a subject that nobody sees", { approvers: [approver("ann", "\u200b")] }],
    ["a name of 300 characters", { approvers: [approver("a".repeat(300))] }],
    [
      "a name that is a number",
      { approvers: [{ id: 1 as never, channel: "test", subject: "ann" }] },
    ],
    [
      "a group that is named like an approver",
      { approvers: [approver("ann")], groups: { "ANN ": ["ann"] } },
    ],
    [
      "two groups of one name",
      { approvers: [approver("ann")], groups: { OPS: ["ann"], Ops: ["ann"] } },
    ],
    ["a group of strangers", { approvers: [approver("ann")], groups: { ops: ["bob"] } }],
  ])("make no gate: %s", (_, options) => {
    expect(() => makeKit(options)).toThrow(expect.objectContaining({ code: "options_invalid" }));
  });

  it.each([
    ["the agent", { id: "ag" }],
    ["a parent of the agent", { id: "child", parents: ["root", " AG"] }],
  ])("keep an approver from answering for %s, whatever the spelling", async (_, asking) => {
    const named = makeKit({ approvers: [approver("Ag")] });
    expect(await named.gate(write, { agent: asking })).toMatchObject({
      decision: "deny",
      code: "no_approver",
    });
    const unnamed = makeKit();
    void unnamed.gate(write, { agent: asking });
    await unnamed.settle();
    const yes = reply(first(unnamed.shown), { decision: "approved" });
    expect(await first(unnamed.shown).session.submit(yes, { subject: "aG " })).toMatchObject({
      code: "approver_not_allowed",
    });
  });

  it("of rules, groups and steps are found in any spelling, and shown as the gate knows them", async () => {
    const ask: AskTerms = {
      approvers: ["OPS"],
      escalate: [{ afterMs: 1_000, approvers: ["CARL "] }],
    };
    const approvers = [approver("Ann"), approver("bob"), approver("carl")];
    const { gate, shown, settle } = makeKit({
      policy: askAll,
      layers: [asks(ask)],
      approvers,
      groups: { ops: ["ann", "BOB"] },
    });
    void gate(write, { agent });
    await settle();
    expect(first(shown).request).toMatchObject({
      approvers: ["Ann", "bob", "carl"],
      escalation: [{ afterMs: 1_000, approvers: ["carl"] }],
    });
    const yes = reply(first(shown), { decision: "approved" });
    expect(await first(shown).session.submit(yes, { subject: "carl" })).toMatchObject({
      code: "approver_too_early",
    });
    expect(await first(shown).session.submit(yes, { subject: "bob" })).toMatchObject({
      status: "final",
    });
  });

  it("a list of the gate's approvers that changes later changes nobody's rights", async () => {
    const approvers = [approver("ann")];
    const { gate, shown, settle } = makeKit({ approvers });
    approvers.push(approver("eve"));
    void gate(write, { agent });
    await settle();
    expect(first(shown).request.approvers).toEqual(["ann"]);
    const yes = reply(first(shown), { decision: "approved" });
    expect(await first(shown).session.submit(yes, { subject: "eve" })).toMatchObject({
      code: "approver_unknown",
    });
  });
});
