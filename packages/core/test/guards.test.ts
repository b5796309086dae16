/** One test a guard of the gate: each goes red when its guard is taken out. */
import { describe, expect, it } from "vitest";
import { covers } from "../src/gate/covers.js";
import { PENDING_MAX } from "../src/limits.js";
import {
  type Allowed,
  type AskTerms,
  type Channel,
  type Evaluation,
  type Grant,
  type Layer,
  memoryStore,
  parsePolicy,
  type PendingRecord,
  redeem,
  toolAction,
  type Verdict,
} from "../src/index.js";
import { agent, allowAll, askAll, asPending, first, type Kit, last, makeKit, reply } from "./gate-kit.js";

const write = toolAction("files", "write_file", { path: "a.txt" });
const asks = (ask: AskTerms, more: object = {}): Layer => ({
  name: "asks",
  judge: () => ({ effect: "ask", ruleId: "asks", reason: "", ask, ...more }),
});

function asAllowed(verdict: Verdict): Allowed {
  if (verdict.decision !== "allow") throw new Error(`expected a yes, got ${verdict.code}`);
  return verdict;
}

describe("a permit", () => {
  it("is over when either clock says so: a wall clock set forward, or set back while time passes", async () => {
    const forward = makeKit({ policy: allowAll });
    const one = asAllowed(await forward.gate(write, { agent }));
    forward.clock.jump(86_400_000);
    expect(() => redeem(one.permit, one.action)).toThrow(expect.objectContaining({ code: "permit_expired" }));
    const back = makeKit({ policy: allowAll });
    const two = asAllowed(await back.gate(write, { agent }));
    back.clock.jump(-3_600_000);
    await back.clock.advance(30_001);
    expect(() => redeem(two.permit, two.action)).toThrow(expect.objectContaining({ code: "permit_expired" }));
  });

  it("opens nothing after the gate closed or the caller went away", async () => {
    const closing = makeKit({ policy: allowAll });
    const one = asAllowed(await closing.gate(write, { agent }));
    await closing.gate.close();
    expect(() => redeem(one.permit, one.action)).toThrow(expect.objectContaining({ code: "permit_denied" }));
    const caller = new AbortController();
    const leaving = makeKit({ policy: allowAll });
    const two = asAllowed(await leaving.gate(write, { agent, signal: caller.signal }));
    caller.abort();
    expect(() => redeem(two.permit, two.action)).toThrow(expect.objectContaining({ code: "permit_denied" }));
  });
});

describe("a call", () => {
  it("is denied by a closed gate, whatever the policy says", async () => {
    const { gate } = makeKit({ policy: allowAll });
    await gate.close();
    expect(await gate(write, { agent })).toMatchObject({ code: "gate_closed" });
  });

  it("is denied for a caller that is gone already", async () => {
    const { gate } = makeKit({ policy: allowAll });
    expect(await gate(write, { agent, signal: AbortSignal.abort() })).toMatchObject({ code: "consent_cancelled" });
  });

  it("is denied when too many questions are open", async () => {
    const { gate } = makeKit();
    await Promise.all(Array.from({ length: PENDING_MAX }, () => gate.open(write, { agent })));
    expect(await gate(write, { agent })).toMatchObject({ code: "too_many_pending", retryable: true });
  });

  it("is not performed when the caller leaves while the log is written", async () => {
    const caller = new AbortController();
    const { gate, sink } = makeKit({ policy: allowAll });
    const verdict = asAllowed(await gate(write, { agent }));
    const append = sink.append.bind(sink);
    sink.append = (events) => {
      caller.abort();
      return append(events);
    };
    const result = await gate.perform(verdict, () => Promise.reject(new Error("must not run")), { signal: caller.signal });
    expect(result).toMatchObject({ ran: false, verdict: { code: "consent_cancelled" } });
    expect(last(sink.events).metadata).toMatchObject({ outcome: "not_performed" });
  });
});

describe("a layer", () => {
  it("that returns a promise with an effect is broken, not an allow", async () => {
    const layer = { name: "async", judge: () => Object.assign(Promise.resolve(), { effect: "allow", ruleId: "x", reason: "" }) as never };
    expect(await makeKit({ layers: [layer], policy: allowAll }).gate(write, { agent })).toMatchObject({ code: "layer_failed" });
  });

  it("that returns null is told so", async () => {
    const layer = { name: "nil", judge: () => null as never };
    expect(await makeKit({ layers: [layer] }).gate(write, { agent })).toMatchObject({
      code: "layer_failed",
      reason: expect.stringContaining("no ruling"),
    });
  });

  it("that speaks first wins among equals", () => {
    const { gate } = makeKit({ layers: [asks({}), { ...asks({}), name: "second" }] });
    expect(gate.evaluate(write, { agent })).toMatchObject({ layer: "asks" });
  });
});

describe("an answer", () => {
  async function question(options: Parameters<typeof makeKit>[0] = {}): Promise<Kit & { readonly verdict: Promise<Verdict> }> {
    const kit = makeKit(options);
    const verdict = kit.gate(write, { agent });
    await kit.settle();
    return { ...kit, verdict };
  }

  it("that comes late is told that the question is over, whatever else is wrong with it", async () => {
    const { shown } = await question();
    const shownFirst = first(shown);
    await shownFirst.session.submit(reply(shownFirst, { decision: "denied" }));
    const edit = reply(shownFirst, { decision: "approved_with_modifications", modifications: { path: "\ud800" } });
    const late = reply(shownFirst, { decision: "approved_with_modifications", modifications: { path: "b" } });
    expect(await shownFirst.session.submit(edit)).toMatchObject({ status: "refused" });
    expect(await shownFirst.session.submit(late)).toMatchObject({ code: "request_ended" });
  });

  it("never comes from the agent itself or its parents, where the channel's own person may answer", async () => {
    for (const who of [{ id: "local" }, { id: "sub", parents: ["local"] }]) {
      const { gate, shown, settle } = makeKit();
      void gate(write, { agent: who });
      await settle();
      expect(await first(shown).session.submit(reply(first(shown), { decision: "approved" }))).toMatchObject({
        code: "approver_not_allowed",
      });
    }
  });

  it("never comes from nobody", async () => {
    const { gate, shown } = await question();
    expect(await gate.answer(reply(first(shown), { decision: "approved" }), { channel: "test", subject: "" })).toMatchObject({
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
    };
    await store.pending.put(stored);
    expect(await kit.gate.answer(reply(first(open.shown), { decision: "approved" }), { channel: "test", subject: "1" })).toMatchObject({
      code: "evidence_required",
    });
  });

  it("that takes an offer makes no grant when the log fails", async () => {
    const { clock } = makeKit();
    const store = memoryStore(clock);
    const offers = [{ id: "t", scope: { kind: "tool", server: "files", name: "write_file" } as const, ttlMs: 1_000 }];
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
    expect(await first(shown).session.submit(reply(first(shown), { decision: "approved" }))).toMatchObject({ status: "final" });
    expect(await verdict).toMatchObject({ code: "consent_cancelled" });
  });

  it("and a caller that was told to call again: the waiting call gets no permit, even while that is being written down", async () => {
    const { gate, shown, settle, sink } = makeKit();
    const append = sink.append.bind(sink);
    sink.append = (events) =>
      events.some(({ eventType }) => eventType === "consent_deferred") ? new Promise(() => undefined) : append(events);
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
  const people = ["alice", "bob", "carol"].map((id, i) => ({ id, channel: "test", subject: String(i) }));
  const policy = parsePolicy({
    version: "1",
    default_action: "ask",
    rules: [
      { match: { tool: "*", args: { path: "/two/*" } }, action: "ask", quorum: 2, approvers: ["alice", "bob"] },
      { match: { tool: "*", args: { path: "/nobody/*" } }, action: "ask", level: "critical", approvers: [] },
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
    const edit = reply(old, { decision: "approved_with_modifications", modifications: { path: "/other/a" } });
    expect(await old.session.submit(edit, { subject: "1" })).toMatchObject({ status: "reshow" });
    await settle();
    const next = last(shown);
    expect(next.request).toMatchObject({ quorum: 2, approvers: ["alice", "bob"], action: { parameters: { path: "/other/a" } } });
    const yes = reply(next, { decision: "approved" });
    expect(await next.session.submit(yes, { subject: "2" })).toMatchObject({ code: "approver_not_allowed" });
    expect(await next.session.submit(yes, { subject: "0" })).toEqual({ status: "counted", have: 1, need: 2 });
    expect(await next.session.submit(yes, { subject: "1" })).toMatchObject({ status: "final" });
    expect(await verdict).toMatchObject({ action: { args: { path: "/other/a" } }, approvers: ["alice", "bob"] });
  });

  it("is refused where nobody may approve what it makes", async () => {
    const { shown } = await shownFor("a");
    const edit = reply(first(shown), { decision: "approved_with_modifications", modifications: { path: "/nobody/a" } });
    expect(await first(shown).session.submit(edit, { subject: "0" })).toMatchObject({ code: "modification_denied" });
  });

  it("uses up the limit of the rule that judges it, and is refused when that is empty", async () => {
    const { shown, gate, settle } = await shownFor("a");
    const edit = (at: number) =>
      reply(shown[at] ?? first(shown), { decision: "approved_with_modifications", modifications: { path: "/once/a" } });
    expect(await first(shown).session.submit(edit(0), { subject: "0" })).toMatchObject({ status: "final" });
    void gate(toolAction("files", "write_file", { path: "b" }), { agent });
    await settle();
    expect(await last(shown).session.submit(edit(1), { subject: "0" })).toMatchObject({ code: "rate_limited" });
  });

  it("that is no action of this kind is refused", async () => {
    const { shown } = await shownFor("a");
    const nested = JSON.parse(`${"[".repeat(70)}${"]".repeat(70)}`) as never;
    const edit = {
      ...reply(first(shown), { decision: "approved" }),
      decision: "approved_with_modifications",
      modifications: { path: nested },
    };
    expect(await first(shown).session.submit(edit, { subject: "0" })).toMatchObject({ status: "refused" });
  });
});

describe("covers()", () => {
  const request = {
    secrets: ["A"],
    quorum: 1,
    evidence: "any",
    approvers: ["alice"],
    policy: { ruleId: "r", ruleName: "", requiredLevel: "medium" },
  } as never;
  const ask = { timeoutMs: 1, quorum: 1, evidence: "any", offers: [] } as const;
  const evaluation = (change: object, ruling: object = {}): Evaluation => {
    const whole = { effect: "ask", ruleId: "r", reason: "", ...ruling } as const;
    return {
      ruling: whole,
      layer: "l",
      rulings: [{ layer: "l", ruling: whole }],
      category: "write",
      risk: "medium",
      level: "medium",
      ask,
      ...change,
    };
  };

  it("holds for the same terms, for fewer, and where an allow needs no person", () => {
    expect(covers(request, evaluation({}))).toBe(true);
    expect(covers(request, evaluation({ level: "low" }, { secrets: ["A"] }))).toBe(true);
    expect(covers(request, evaluation({ ask: { ...ask, approvers: ["alice", "bob"] } }))).toBe(true);
    expect(covers(request, evaluation({}, { effect: "allow" }))).toBe(true);
  });

  it.each([
    ["a deny", evaluation({}, { effect: "deny" })],
    ["another secret", evaluation({}, { secrets: ["A", "B"] })],
    ["another secret of an allow", evaluation({}, { effect: "allow", secrets: ["B"] })],
    ["more people", evaluation({ ask: { ...ask, quorum: 2 } })],
    ["a higher level", evaluation({ level: "high" })],
    ["stronger evidence", evaluation({ ask: { ...ask, evidence: "passkey" } })],
    ["other people", evaluation({ ask: { ...ask, approvers: ["bob"] } })],
    ["an ask without terms", evaluation({ ask: undefined })],
  ])("does not hold for %s", (_, now) => {
    expect(covers(request, now)).toBe(false);
  });
});

describe("a grant", () => {
  const grant: Grant = {
    id: "gr_1",
    agentId: "demo",
    scope: { kind: "tool", server: "files", name: "write_file" },
    createdAtMs: 0,
    expiresAtMs: Number.MAX_SAFE_INTEGER,
    requestId: "cr_0",
    approverIds: ["alice"],
    evidence: "any",
    secrets: ["A"],
  };
  async function isAsked(layer: Layer, approvers: readonly string[] = ["alice", "bob"]): Promise<boolean> {
    const { clock } = makeKit();
    const store = memoryStore(clock);
    await store.grants.put(grant);
    const people = approvers.map((id) => ({ id, channel: "test", subject: id }));
    const { gate, shown, settle } = makeKit({ store, clock, layers: [layer], approvers: people });
    void gate(write, { agent });
    await settle();
    return shown.length > 0;
  }

  it("answers an ask that wants no more than it gives", async () => {
    expect(await isAsked(asks({ approvers: ["alice"] }, { secrets: ["A"] }))).toBe(false);
  });

  it.each<[string, Layer]>([
    ["several people", asks({ quorum: 2 })],
    ["a person who did not give it", asks({ approvers: ["bob"] })],
    ["a secret that its question did not show", asks({}, { secrets: ["B"] })],
    ["a critical level", asks({}, { level: "critical" })],
  ])("does not answer an ask for %s", async (_, layer) => {
    expect(await isAsked(layer)).toBe(true);
  });

  it("does not answer where its giver is no approver any more", async () => {
    expect(await isAsked(asks({}), ["bob"])).toBe(true);
  });

  it("is not offered for a critical level or a quorum", async () => {
    const offers = [{ id: "t", scope: { kind: "tool", server: "files", name: "write_file" } as const, ttlMs: 1_000 }];
    for (const layer of [asks({ offers }, { level: "critical" }), asks({ offers, quorum: 2 })]) {
      const { gate, shown, settle } = makeKit({ layers: [layer] });
      void gate(write, { agent });
      await settle();
      expect(first(shown).request.offers).toEqual([]);
    }
  });
});

describe("a store that lies", () => {
  it("cannot have another action released than the one that was approved", async () => {
    const { clock } = makeKit();
    const store = memoryStore(clock);
    const { gate, shown, settle } = makeKit({ store, clock });
    const verdict = gate(write, { agent });
    await settle();
    const { id } = first(shown).request;
    const record = await store.pending.get(id);
    if (record === undefined) throw new Error("no record");
    const swapped = {
      ...record,
      version: record.version + 1,
      action: { name: "delete_file", args: {}, meta: { kind: "tool", server: "files" } },
    };
    await store.pending.transition(id, record.version, swapped);
    await first(shown).session.submit(reply(first(shown), { decision: "approved" }));
    expect(await verdict).toMatchObject({ decision: "deny", code: "internal_error" });
  });

  it("cannot have a decision adopted whose end is not recorded", async () => {
    const { clock } = makeKit();
    const store = memoryStore(clock);
    const { gate, shown, settle } = makeKit({ store, clock });
    await asPending(await gate.open(write, { agent })).defer();
    await settle();
    await first(shown).session.submit(reply(first(shown), { decision: "approved" }));
    const honest = store.pending.takeDecision.bind(store.pending);
    const lying = {
      ...store.pending,
      takeDecision: async (...args: Parameters<typeof honest>) => {
        const record = await honest(...args);
        return record?.end === undefined ? record : { ...record, end: { ...record.end, recorded: false } };
      },
    };
    const retry = makeKit({ store: { ...store, pending: lying }, clock });
    expect(await retry.gate(write, { agent })).toMatchObject({ decision: "deny", code: "internal_error" });
  });
});

describe("a channel", () => {
  it("with a name that is none does not make a gate", () => {
    const channel: Channel = { name: "My Channel", deliver: () => Promise.resolve() };
    expect(() => makeKit({ channel, policy: askAll })).toThrow(expect.objectContaining({ code: "options_invalid" }));
  });
});
