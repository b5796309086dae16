import { manualClock, seededIds } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { agent, asPending, type Kit, makeKit, reply } from "../../test/gate-kit.js";
import { type MemoryChannel, memoryChannel } from "../../test/memory-channel.js";
import { composeWith } from "../channels/compose.js";
import {
  type AskTerms,
  type Channel,
  type GateOptions,
  type JsonObject,
  type Layer,
  memoryStore,
  toolAction,
} from "../index.js";
import { parsePolicy } from "../policy.js";

const write = toolAction("files", "write_file", { path: "a.txt" });
const approvers = [
  { id: "ada", channel: "web", subject: "1" },
  { id: "ada", channel: "phone", subject: "+1" },
  { id: "bob", channel: "phone", subject: "+2" },
  { id: "cid", channel: "desk", subject: "3" },
];
const groups = { oncall: ["bob", "cid"] };
const asks = (ask: AskTerms): Layer => ({
  name: "asks",
  judge: () => ({ effect: "ask", ruleId: "asks", reason: "", ask }),
});

interface World extends Kit {
  readonly web: MemoryChannel;
  readonly phone: MemoryChannel;
  readonly desk: MemoryChannel;
  /** What the log says about delivery, in order. */
  log(): readonly JsonObject[];
  /** Answers the first question as this person of this channel. */
  says(channel: MemoryChannel, subject: string, kind?: "approve" | "deny"): Promise<unknown>;
}

type Make = (
  channels: { readonly web: Channel; readonly phone: Channel; readonly desk: Channel } & ReturnType<
    typeof composeWith
  >,
) => Partial<GateOptions>;

function world(make: Make, clock = manualClock()): World {
  const [web, phone, desk] = [memoryChannel("web"), memoryChannel("phone"), memoryChannel("desk")];
  const options = make({ web, phone, desk, ...composeWith(clock) });
  const kit = makeKit({ clock, approvers, groups, ...options });
  const types = ["consent_delivered", "consent_undelivered", "consent_escalated"];
  return {
    ...kit,
    clock,
    web,
    phone,
    desk,
    log: () =>
      kit.sink.events.flatMap(({ eventType, metadata }) => {
        const told = Object.fromEntries(
          Object.entries(metadata).filter(([key]) => key !== "isolation"),
        );
        return types.includes(eventType)
          ? [{ is: eventType.slice("consent_".length), ...told }]
          : [];
      }),
    says: (channel, subject, kind = "approve") =>
      channel.answer(channel.given[0]?.request.id ?? "", kind, subject),
  };
}

const onBoth: Make = ({ web, phone, toAll }) => ({ channel: toAll(web, phone) });

describe("a gate whose channel is made of others", () => {
  it("knows who answered by the channel that authenticated them", async () => {
    const { gate, settle, says, phone, web, sink, log } = world(onBoth);
    const verdict = gate(write, { agent });
    await settle();
    expect(await says(web, "+2")).toMatchObject({ code: "approver_unknown" });
    expect(await says(phone, "+2")).toMatchObject({ status: "final" });
    expect(await verdict).toMatchObject({ approvers: ["bob"] });
    await settle();
    expect([web.shown.size, phone.shown.size]).toEqual([0, 0]);
    expect(
      sink.events.find(({ eventType }) => eventType === "consent_approved")?.metadata,
    ).toMatchObject({ channels: ["phone"] });
    expect(log()).toEqual([
      { is: "delivered", channel: "all-web-phone", shown_by: ["web", "phone"] },
    ]);
  });

  it("believes no plain channel that speaks for another one", async () => {
    const { gate, settle, web } = world((on) => ({ channel: on.web }));
    void gate(write, { agent });
    await settle();
    const [held] = web.given;
    if (held === undefined) throw new Error("not shown");
    const claim = reply(held, { decision: "approved" });
    expect(await held.session.submit(claim, { subject: "+2", channel: "phone" })).toMatchObject({
      code: "approver_unknown",
    });
  });

  it("counts a person once, on however many channels they say yes", async () => {
    const { gate, settle, says, phone, web } = world((on) => ({
      ...onBoth(on),
      layers: [asks({ quorum: 2 })],
    }));
    const verdict = gate(write, { agent });
    await settle();
    expect(await says(web, "1")).toEqual({ status: "counted", have: 1, need: 2 });
    expect(await says(phone, "+1")).toMatchObject({ code: "already_answered" });
    expect(await says(phone, "+2")).toMatchObject({ status: "final" });
    expect(await verdict).toMatchObject({ approvers: ["ada", "bob"] });
  });

  it("goes on to the next of firstOf(), and writes down where it could not be shown", async () => {
    const { gate, settle, says, web, phone, log } = world((on) => ({
      channel: on.firstOf(on.web, on.phone),
    }));
    web.mode = "fails";
    const verdict = gate(write, { agent });
    await settle();
    expect(log()).toEqual([
      { is: "delivered", channel: "first-web-phone", shown_by: ["phone"] },
      { is: "undelivered", channel: "web", reason: "web is down" },
    ]);
    await says(phone, "+2", "deny");
    expect(await verdict).toMatchObject({ code: "consent_denied" });
  });

  it("denies where none of them can show it", async () => {
    const { gate, web, phone } = world(onBoth);
    [web.mode, phone.mode] = ["is alone", "is alone"];
    expect(await gate(write, { agent })).toMatchObject({ code: "channel_unavailable" });
    phone.mode = "fails";
    expect(await gate(write, { agent })).toMatchObject({
      code: "channel_failed",
      reason: expect.stringContaining("phone is down"),
    });
  });
});

/** Web with Ada at once, phone with Bob after a minute: said by the channel, or by a rule. */
const byChannel: Make = ({ web, phone, escalate }) => ({
  channel: escalate([
    { channel: web, approvers: ["ada"] },
    { channel: phone, afterMs: 60_000, approvers: ["bob"] },
  ]),
});
const byRule: Make = ({ web, phone, desk }) => ({
  channel: web,
  channels: [phone, desk],
  policy: parsePolicy({
    version: "1",
    rules: [
      {
        match: { tool: "*" },
        action: "ask",
        timeout: 120,
        approvers: ["ada"],
        escalate: [{ after: 60, to: "bob", channel: "phone" }],
      },
    ],
  }),
});

describe.each([
  ["a channel", byChannel],
  ["a rule", byRule],
])("an escalation by %s", (_, make) => {
  it("lets nobody of a later step answer before it is taken, not even with a no", async () => {
    const { gate, settle, says, web, phone, clock, log } = world(make);
    const pending = asPending(await gate.open(write, { agent }));
    await settle();
    expect(phone.given).toEqual([]);
    const claim = reply(web.given[0] as never, { decision: "approved" });
    for (const decision of ["approved", "denied"])
      expect(
        await gate.answer({ ...claim, decision }, { channel: "phone", subject: "+2" }),
      ).toMatchObject({ code: "approver_too_early" });
    expect(await gate.answer(claim, { channel: "desk", subject: "3" })).toMatchObject({
      code: "approver_not_allowed",
    });
    await clock.advance(59_999);
    expect(await gate.answer(claim, { channel: "phone", subject: "+2" })).toMatchObject({
      code: "approver_too_early",
    });
    await clock.advance(1);
    expect(phone.given[0]?.session.redelivery).toBe(false);
    expect(log()).toContainEqual({
      is: "escalated",
      step: 1,
      reason: "time",
      after_ms: 60_000,
      to: ["bob"],
      channel: "phone",
    });
    expect(await says(phone, "+2")).toMatchObject({ status: "final" });
    expect(await pending.settled).toMatchObject({ approvers: ["bob"] });
    await settle();
    expect([web.shown.size, phone.shown.size]).toEqual([0, 0]);
  });

  it("is said in the question, and is part of what is hashed", async () => {
    const { gate, settle, web } = world(make);
    void gate(write, { agent });
    await settle();
    const request = web.given[0]?.request;
    expect(request).toMatchObject({
      approvers: ["ada", "bob"],
      escalation: [{ afterMs: 60_000, approvers: ["bob"], channel: "phone" }],
    });
    expect(request?.text).toContain(
      "after 1 min it may also be answered by bob, and it is also shown on phone",
    );
  });

  it("leaves who was there first able to answer, and stops with the answer", async () => {
    const { gate, settle, says, web, phone, clock } = world(make);
    const verdict = gate(write, { agent });
    await settle();
    await clock.advance(30_000);
    await says(web, "1");
    expect(await verdict).toMatchObject({ approvers: ["ada"] });
    await clock.advance(60_000);
    expect(phone.given).toEqual([]);
  });

  it("is taken at once where the question could be shown nowhere", async () => {
    const { gate, settle, says, web, phone, log } = world(make);
    web.mode = "is alone";
    const verdict = gate(write, { agent });
    await settle();
    expect(log()).toMatchObject([
      { is: "undelivered", channel: "web" },
      { is: "escalated", reason: "not_delivered", step: 1 },
      { is: "delivered", channel: "phone" },
    ]);
    expect(await says(phone, "+2")).toMatchObject({ status: "final" });
    expect(await verdict).toMatchObject({ decision: "allow" });
  });

  it("ends in a deny where no step can show it either", async () => {
    const { gate, web, phone } = world(make);
    [web.mode, phone.mode] = ["fails", "fails"];
    expect(await gate(write, { agent })).toMatchObject({ code: "channel_failed" });
  });

  it("keeps its time over a restart: before, and after a step", async () => {
    // Each process has a clock of its own: that of one that is gone stands still.
    const store = memoryStore(manualClock());
    const one = world((on) => ({ ...make(on), store }));
    void one.gate.open(write, { agent });
    await one.clock.advance(40_000);
    const two = world(
      (on) => ({ ...make(on), store, ids: seededIds(1) }),
      manualClock(one.clock.now()),
    );
    expect(await two.gate.resume()).toBe(1);
    await two.clock.advance(19_999);
    expect([two.web.given[0]?.session.redelivery, two.phone.given.length]).toEqual([true, 0]);
    await two.clock.advance(1);
    expect(two.phone.given[0]?.session.redelivery).toBe(false);
    const three = world(
      (on) => ({ ...make(on), store, ids: seededIds(2) }),
      manualClock(two.clock.now()),
    );
    expect(await three.gate.resume()).toBe(1);
    await three.settle();
    expect([three.web, three.phone].map(({ given }) => given[0]?.session.redelivery)).toEqual([
      true,
      true,
    ]);
    expect(three.log().filter(({ is }) => is === "escalated")).toEqual([]);
    expect(await three.says(three.phone, "+2")).toMatchObject({ status: "final" });
  });

  it("does not go on where the log cannot keep the step", async () => {
    const { gate, settle, web, phone, sink, clock } = world(make);
    void gate(write, { agent });
    await settle();
    sink.mode = "throws";
    await clock.advance(60_000);
    sink.mode = "works";
    expect(phone.given).toEqual([]);
    const claim = reply(web.given[0] as never, { decision: "approved" });
    expect(await gate.answer(claim, { channel: "phone", subject: "+2" })).toMatchObject({
      code: "approver_too_early",
    });
  });
});

describe("an escalation by a rule", () => {
  it("to a channel that the gate does not have denies the call", async () => {
    const { gate } = world((on) => ({
      channel: on.web,
      layers: [asks({ escalate: [{ afterMs: 5, channel: "pager" }] })],
    }));
    expect(await gate(write, { agent })).toMatchObject({
      code: "channel_failed",
      reason: expect.stringContaining('"pager"'),
    });
  });

  it("beside that of the channel has a person wait for both", async () => {
    const { gate, settle, clock, web } = world((on) => ({
      ...byChannel(on),
      layers: [
        asks({ approvers: ["ada"], escalate: [{ afterMs: 90_000, approvers: ["oncall"] }] }),
      ],
    }));
    void gate(write, { agent });
    await settle();
    expect(web.given[0]?.request).toMatchObject({
      approvers: ["ada", "bob"],
      escalation: [
        { afterMs: 60_000, channel: "phone" },
        { afterMs: 90_000, approvers: ["bob"] },
      ],
    });
    await clock.advance(60_000);
    const claim = reply(web.given[0] as never, { decision: "approved" });
    expect(await gate.answer(claim, { channel: "phone", subject: "+2" })).toMatchObject({
      code: "approver_too_early",
    });
    await clock.advance(30_000);
    expect(await gate.answer(claim, { channel: "phone", subject: "+2" })).toMatchObject({
      status: "final",
    });
  });

  it("never makes the asking agent an approver", async () => {
    const { gate, settle, web } = world((on) => ({
      channel: on.web,
      layers: [asks({ approvers: ["ada"], escalate: [{ afterMs: 5, approvers: ["bob"] }] })],
    }));
    void gate(write, { agent: { id: "bob" } });
    await settle();
    expect(web.given[0]?.request.approvers).toEqual(["ada"]);
    expect(web.given[0]?.request).not.toHaveProperty("escalation");
  });

  it("goes on where it is in the question that an edit makes", async () => {
    const guarded = parsePolicy({
      version: "1",
      rules: [
        {
          match: { tool: "*", args: { path: "/srv/*" } },
          action: "ask",
          level: "critical",
          timeout: 120,
          approvers: ["ada"],
          escalate: [{ after: 60, to: "bob" }],
        },
        {
          match: { tool: "*" },
          action: "ask",
          timeout: 120,
          approvers: ["ada"],
          escalate: [{ after: 30, to: "bob", channel: "phone" }],
        },
      ],
    });
    const { gate, settle, clock, web, phone } = world((on) => ({
      channel: on.web,
      channels: [on.phone],
      policy: guarded,
    }));
    void gate(write, { agent });
    await settle();
    await clock.advance(40_000);
    const edit = reply(phone.given[0] as never, {
      decision: "approved_with_modifications",
      modifications: { path: "/srv/a" },
    });
    expect(await phone.given[0]?.session.submit(edit, { subject: "+2" })).toMatchObject({
      status: "reshow",
    });
    await clock.advance(1);
    const next = web.given[1];
    expect(next?.request).toMatchObject({
      approvers: ["ada", "bob"],
      escalation: [
        { afterMs: 1, channel: "phone" },
        { afterMs: 20_000, approvers: ["bob"] },
      ],
    });
    expect(phone.given).toHaveLength(2);
    const yes = reply(next as never, { decision: "approved", confirmation: "approve" });
    expect(await gate.answer(yes, { channel: "phone", subject: "+2" })).toMatchObject({
      code: "approver_too_early",
    });
    await clock.advance(20_000);
    expect(await gate.answer(yes, { channel: "phone", subject: "+2" })).toMatchObject({
      status: "final",
    });
  });
});
