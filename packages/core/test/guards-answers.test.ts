/** One test a guard on answers and edits: each goes red when its guard is taken out. */
import { describe, expect, it } from "vitest";
import { bootTimeOf } from "../src/boot-time.js";
import {
  type AskTerms,
  type Layer,
  memoryStore,
  type PendingRecord,
  toolAction,
  type Verdict,
} from "../src/index.js";
import { parsePolicy } from "../src/policy.js";
import { agent, asPending, first, type Kit, last, macs, makeKit, reply } from "./gate-kit.js";

const write = toolAction("files", "write_file", { path: "a.txt" });

const asks = (ask: AskTerms, more: object = {}): Layer => ({
  name: "asks",
  judge: () => ({ effect: "ask", ruleId: "asks", reason: "", ask, ...more }),
});

describe("an answer", () => {
  async function question(
    options: Parameters<typeof makeKit>[0] = {},
  ): Promise<Kit & { readonly verdict: Promise<Verdict> }> {
    const kit = makeKit(options);
    const verdict = kit.gate(write, { agent });
    await kit.settle();
    return { ...kit, verdict };
  }

  it("that comes late is told that the question is over, whatever else is wrong with it", async () => {
    const { shown } = await question();
    const shownFirst = first(shown);
    await shownFirst.session.submit(reply(shownFirst, { decision: "denied" }));
    const edit = reply(shownFirst, {
      decision: "approved_with_modifications",
      modifications: { path: "\ud800" },
    });
    const late = reply(shownFirst, {
      decision: "approved_with_modifications",
      modifications: { path: "b" },
    });
    expect(await shownFirst.session.submit(edit)).toMatchObject({ status: "refused" });
    expect(await shownFirst.session.submit(late)).toMatchObject({ code: "request_ended" });
  });

  it("never comes from the agent itself or its parents, where the channel's own person may answer", async () => {
    for (const who of [{ id: "local" }, { id: "sub", parents: ["local"] }]) {
      const { gate, shown, settle } = makeKit();
      void gate(write, { agent: who });
      await settle();
      expect(
        await first(shown).session.submit(reply(first(shown), { decision: "approved" })),
      ).toMatchObject({
        code: "approver_not_allowed",
      });
    }
  });

  it("never comes from nobody", async () => {
    const { gate, shown } = await question();
    expect(
      await gate.answer(reply(first(shown), { decision: "approved" }), {
        channel: "test",
        subject: "",
      }),
    ).toMatchObject({
      code: "approver_unknown",
    });
  });

  it("is no passkey where a stored question wants one", async () => {
    const { clock } = makeKit();
    const store = memoryStore(clock);
    const kit = makeKit({ store, clock });
    const open = await question();
    const record = { request: { ...first(open.shown).request, evidence: "passkey" } } as const;
    const stored: PendingRecord = {
      id: record.request.id,
      version: 0,
      status: "delivered",
      request: record.request,
      agentId: "demo",
      originalDigest: "",
      action: {},
      approvals: [],
      deferred: false,
      adopted: false,
      asked: bootTimeOf(clock),
    };
    await store.pending.put(macs.question.sign(stored));
    expect(
      await kit.gate.answer(reply(first(open.shown), { decision: "approved" }), {
        channel: "test",
        subject: "1",
      }),
    ).toMatchObject({
      code: "evidence_required",
    });
  });

  it("that takes an offer makes no grant when the log fails", async () => {
    const { clock } = makeKit();
    const store = memoryStore(clock);
    const offers = [
      {
        id: "t",
        scope: { kind: "tool", server: "files", name: "write_file" } as const,
        ttlMs: 1_000,
      },
    ];
    const { shown, sink, verdict } = await question({ store, clock, layers: [asks({ offers })] });
    sink.mode = "throws";
    await first(shown).session.submit(reply(first(shown), { decision: "approved", grantId: "t" }));
    expect(await verdict).toMatchObject({ code: "audit_failed" });
    expect(await store.grants.list()).toEqual([]);
  });

  it("and a caller that leaves while it is written down: the caller gets no permit", async () => {
    const { gate, shown, settle, sink } = makeKit();
    const caller = new AbortController();
    const append = sink.append.bind(sink);
    sink.append = (events) => {
      if (events.some(({ eventType }) => eventType === "consent_approved")) caller.abort();
      return append(events);
    };
    const verdict = gate(write, { agent, signal: caller.signal });
    await settle();
    expect(
      await first(shown).session.submit(reply(first(shown), { decision: "approved" })),
    ).toMatchObject({ status: "final" });
    expect(await verdict).toMatchObject({ code: "consent_cancelled" });
  });

  it("and a caller that was told to call again: the waiting call gets no permit, even while that is being written down", async () => {
    const { gate, shown, settle, sink } = makeKit();
    const append = sink.append.bind(sink);
    sink.append = (events) =>
      events.some(({ eventType }) => eventType === "consent_deferred")
        ? new Promise(() => undefined)
        : append(events);
    const pending = asPending(await gate.open(write, { agent }));
    await settle();
    void pending.defer();
    await settle();
    await first(shown).session.submit(reply(first(shown), { decision: "approved" }));
    expect(await pending.settled).toMatchObject({ code: "consent_deferred" });
    expect(await gate(write, { agent })).toMatchObject({ decision: "allow" });
  });
});

describe("an edit", () => {
  const people = ["alice", "bob", "carol"].map((id, i) => ({
    id,
    channel: "test",
    subject: String(i),
  }));
  const policy = parsePolicy({
    version: "1",
    default_action: "ask",
    rules: [
      {
        match: { tool: "*", args: { path: "/two/*" } },
        action: "ask",
        quorum: 2,
        approvers: ["alice", "bob"],
      },
      {
        match: { tool: "*", args: { path: "/nobody/*" } },
        action: "ask",
        level: "critical",
        approvers: [],
      },
      { match: { tool: "*", args: { path: "/once/*" } }, action: "ask", rate_limit: "1/hour" },
      { match: { tool: "*", args: { path: "/three/*" } }, action: "ask", level: "critical" },
    ],
  });

  async function shownFor(path: string): Promise<Kit & { readonly verdict: Promise<Verdict> }> {
    const kit = makeKit({ policy, approvers: people });
    const verdict = kit.gate(toolAction("files", "write_file", { path }), { agent });
    await kit.settle();
    return { ...kit, verdict };
  }

  it("resets a quorum: the edited action is a new question with as many people", async () => {
    const { shown, settle, verdict } = await shownFor("/two/a");
    const old = first(shown);
    await old.session.submit(reply(old, { decision: "approved" }), { subject: "0" });
    const edit = reply(old, {
      decision: "approved_with_modifications",
      modifications: { path: "/other/a" },
    });
    expect(await old.session.submit(edit, { subject: "1" })).toMatchObject({ status: "reshow" });
    await settle();
    const next = last(shown);
    expect(next.request).toMatchObject({
      quorum: 2,
      approvers: ["alice", "bob"],
      action: { parameters: { path: "/other/a" } },
    });
    const yes = reply(next, { decision: "approved" });
    expect(await next.session.submit(yes, { subject: "2" })).toMatchObject({
      code: "approver_not_allowed",
    });
    expect(await next.session.submit(yes, { subject: "0" })).toEqual({
      status: "counted",
      have: 1,
      need: 2,
    });
    expect(await next.session.submit(yes, { subject: "1" })).toMatchObject({ status: "final" });
    expect(await verdict).toMatchObject({
      action: { args: { path: "/other/a" } },
      approvers: ["alice", "bob"],
    });
  });

  it("is refused where nobody may approve what it makes", async () => {
    const { shown } = await shownFor("a");
    const edit = reply(first(shown), {
      decision: "approved_with_modifications",
      modifications: { path: "/nobody/a" },
    });
    expect(await first(shown).session.submit(edit, { subject: "0" })).toMatchObject({
      code: "modification_denied",
    });
  });

  it("uses up the limit of the rule that judges it, and is refused when that is empty", async () => {
    const { shown, gate, settle } = await shownFor("a");
    const edit = (at: number) =>
      reply(shown[at] ?? first(shown), {
        decision: "approved_with_modifications",
        modifications: { path: "/once/a" },
      });
    expect(await first(shown).session.submit(edit(0), { subject: "0" })).toMatchObject({
      status: "final",
    });
    void gate(toolAction("files", "write_file", { path: "b" }), { agent });
    await settle();
    expect(await last(shown).session.submit(edit(1), { subject: "0" })).toMatchObject({
      code: "rate_limited",
    });
  });

  it("that is no action of this kind is refused", async () => {
    const { shown } = await shownFor("a");
    const nested = JSON.parse(`${"[".repeat(70)}${"]".repeat(70)}`) as never;
    const edit = {
      ...reply(first(shown), { decision: "approved" }),
      decision: "approved_with_modifications",
      modifications: { path: nested },
    };
    expect(await first(shown).session.submit(edit, { subject: "0" })).toMatchObject({
      status: "refused",
    });
  });
});
