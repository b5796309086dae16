import { describe, expect, it } from "vitest";
import { agent, allowAll, askAll, asPending, denyAll, first, last, makeKit, reply } from "../test/gate-kit.js";
import { createConsentGate, isConsentError, type Layer, parsePolicy, redeem, toolAction, type Vault } from "./index.js";

const write = toolAction("files", "write_file", { path: "a.txt", content: "hello" });

describe("createConsentGate() with an allow", () => {
  it("allows, after both events are durable, with a permit that opens once", async () => {
    const { gate, types } = makeKit({ policy: allowAll });
    const verdict = await gate(write, { agent });
    if (verdict.decision !== "allow") throw new Error(verdict.code);
    expect(verdict.code).toBe("policy_allowed");
    expect(types()).toEqual(["tool_call_intercepted", "policy_evaluated"]);
    expect(redeem(verdict.permit, verdict.action).action).toBe(write);
    expect(() => redeem(verdict.permit, verdict.action)).toThrow(expect.objectContaining({ code: "permit_spent" }));
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
    expect(await gate(write, { agent })).toMatchObject({ decision: "deny", code: "policy_denied", ruleId: "default", retryable: false });
    expect(types()).toEqual(["tool_call_intercepted", "policy_evaluated"]);
  });

  it("denies although the log is broken", async () => {
    const { gate, sink } = makeKit({ policy: denyAll });
    sink.mode = "throws";
    expect(await gate(write, { agent })).toMatchObject({ code: "policy_denied" });
  });

  it("denies where there is neither policy nor layer", async () => {
    const { clock: _, ...kit } = makeKit();
    const gate = createConsentGate({ channel: { name: "test", deliver: () => Promise.resolve() }, audit: kit.sink });
    expect(await gate(write, { agent })).toMatchObject({ code: "policy_denied" });
  });

  it("denies an action that no constructor made, and a call without an agent", async () => {
    const { gate } = makeKit({ policy: allowAll });
    const forged = JSON.parse(JSON.stringify(write)) as typeof write;
    expect(await gate(forged, { agent })).toMatchObject({ code: "action_invalid" });
    expect(await gate(write, { agent: { id: "" } })).toMatchObject({ code: "context_invalid" });
    expect(await gate(write, undefined as unknown as { agent: typeof agent })).toMatchObject({ code: "context_invalid" });
  });

  it("denies with policy_failed when the policy function throws", async () => {
    const { gate } = makeKit({ policy: () => { throw new Error("gone"); } });
    expect(await gate(write, { agent })).toMatchObject({ code: "policy_failed", reason: "gone" });
  });

  it.each([
    ["throws", { name: "bad", judge: () => { throw new Error("boom"); } }],
    ["returns null", { name: "bad", judge: () => null as never }],
    ["returns a promise", { name: "bad", judge: () => Promise.resolve({ effect: "allow" }) as never }],
    ["misspells its effect", { name: "bad", judge: () => ({ effect: "alow", ruleId: "x", reason: "" }) as never }],
    ["asks with NaN for a timeout", { name: "bad", judge: () => ({ effect: "ask", ruleId: "x", reason: "", ask: { timeoutMs: Number.NaN } }) }],
  ] satisfies readonly (readonly [string, Layer])[])("denies with layer_failed when a layer %s", async (_, layer) => {
    const { gate } = makeKit({ policy: allowAll, layers: [layer] });
    expect(await gate(write, { agent })).toMatchObject({ decision: "deny", code: "layer_failed" });
  });
});

describe("createConsentGate() with an ask", () => {
  it("asks, and a yes releases the action that was shown", async () => {
    const { gate, shown, settle, types } = makeKit();
    const verdict = gate(write, { agent });
    await settle();
    const question = first(shown);
    expect(question.request.text).toContain("write_file");
    expect(await question.session.submit(reply(question, { decision: "approved" }))).toEqual({ status: "final", outcome: "approved" });
    expect(await verdict).toMatchObject({ decision: "allow", code: "consent_approved", action: write, approvers: ["local"] });
    expect(await question.session.ended).toMatchObject({ status: "approved" });
    expect(types()).toEqual(["tool_call_intercepted", "policy_evaluated", "consent_requested", "consent_delivered", "consent_approved"]);
  });

  it("denies with the person's no", async () => {
    const { gate, shown, settle } = makeKit();
    const verdict = gate(write, { agent });
    await settle();
    await first(shown).session.submit(reply(first(shown), { decision: "denied", reason: "not today" }));
    expect(await verdict).toMatchObject({ code: "consent_denied", reason: "not today", retryable: false });
  });

  it("takes an answer that comes before deliver resolves", async () => {
    const kit = makeKit({
      channel: { name: "test", deliver: async (request, session) => void (await session.submit(reply({ request, session }, { decision: "approved" }))) },
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
    expect(await first(shown).session.submit(reply(first(shown), { decision: "approved" }))).toMatchObject({ status: "refused", code: "request_ended" });
  });

  it("refuses an answer after the wall clock jumped past the expiry", async () => {
    const { gate, shown, clock, settle } = makeKit();
    const verdict = gate(write, { agent });
    await settle();
    clock.jump(24 * 3_600_000);
    expect(await first(shown).session.submit(reply(first(shown), { decision: "approved", validUntilMs: clock.now() + 1_000 }))).toMatchObject({ status: "refused" });
    await clock.advance(120_001);
    expect(await verdict).toMatchObject({ decision: "deny" });
  });

  it("denies at once when the channel has nobody to ask, with the channel's own words", async () => {
    const { ConsentError } = await import("./errors.js");
    const { gate } = makeKit({ channel: { name: "test", deliver: () => Promise.reject(new ConsentError("channel_unavailable", "Cannot ask: no terminal")) } });
    expect(await gate(write, { agent })).toMatchObject({ code: "channel_unavailable", reason: "Cannot ask: no terminal", retryable: true });
  });

  it("denies with channel_failed when deliver throws, also synchronously", async () => {
    const sync = makeKit({ channel: { name: "test", deliver: () => { throw new Error("no route"); } } });
    expect(await sync.gate(write, { agent })).toMatchObject({ code: "channel_failed" });
  });

  it("denies with audit_failed when the yes cannot be kept", async () => {
    const { gate, shown, sink, settle } = makeKit();
    const verdict = gate(write, { agent });
    await settle();
    sink.mode = "throws";
    expect(await first(shown).session.submit(reply(first(shown), { decision: "approved" }))).toEqual({ status: "final", outcome: "failed" });
    expect(await verdict).toMatchObject({ decision: "deny", code: "audit_failed" });
  });

  it("takes the question back when the caller aborts, before and after the yes", async () => {
    const { gate, shown, settle } = makeKit();
    const caller = new AbortController();
    const verdict = gate(write, { agent, signal: caller.signal });
    await settle();
    caller.abort();
    expect(await verdict).toMatchObject({ code: "consent_cancelled" });
    expect(await first(shown).session.ended).toMatchObject({ status: "cancelled" });
    expect(await gate(write, { agent, signal: caller.signal })).toMatchObject({ code: "consent_cancelled" });
  });

  it("denies while paused, grants and stored decisions included", async () => {
    const { gate, shown } = makeKit({ paused: () => "paused by the operator" });
    expect(await gate(write, { agent })).toMatchObject({ code: "paused", reason: "paused by the operator", retryable: true });
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

describe("answers that are refused leave the question open", () => {
  const cases: readonly (readonly [string, string, (claim: Record<string, unknown>) => unknown])[] = [
    ["another request", "request_unknown", (claim) => ({ ...claim, request_id: "cr_other" })],
    ["another nonce", "nonce_mismatch", (claim) => ({ ...claim, nonce: "n_other" })],
    ["a decision that is none", "response_invalid", (claim) => ({ ...claim, decision: "yes" })],
    ["a boolean decision", "response_invalid", (claim) => ({ ...claim, decision: true })],
    ["an unknown key", "response_invalid", (claim) => ({ ...claim, approved: "no" })],
    ["an offer that was not made", "grant_not_offered", (claim) => ({ ...claim, grant: "all", conditions: { valid_until: "2030-01-01T00:00:00.000Z", single_use: false } })],
    ["single_use false without an offer", "response_invalid", (claim) => ({ ...claim, conditions: { valid_until: "2030-01-01T00:00:00.000Z", single_use: false } })],
    ["a validity that is over", "response_invalid", (claim) => ({ ...claim, conditions: { valid_until: "2001-01-01T00:00:00.000Z", single_use: true } })],
    ["modifications beside a plain yes", "response_invalid", (claim) => ({ ...claim, modifications: { path: "b" } })],
    ["nothing", "response_invalid", () => undefined],
    ["text that is no JSON", "response_invalid", () => "approved"],
    ["a duplicate decision", "response_invalid", (claim) => JSON.stringify(claim).replace('"decision":"approved"', '"decision":"denied","decision":"approved"')],
  ];

  it.each(cases)("%s", async (_, code, change) => {
    const { gate, shown, settle } = makeKit();
    const verdict = gate(write, { agent });
    await settle();
    const question = first(shown);
    expect(await question.session.submit(change(reply(question, { decision: "approved" })))).toMatchObject({ status: "refused", code });
    expect(await question.session.submit(JSON.stringify(reply(question, { decision: "approved" })))).toMatchObject({ status: "final" });
    expect(await verdict).toMatchObject({ decision: "allow" });
  });

  it("a second yes, after the first", async () => {
    const { gate, shown, settle } = makeKit();
    const verdict = gate(write, { agent });
    await settle();
    const question = first(shown);
    const receipts = await Promise.all([1, 2, 3].map(() => question.session.submit(reply(question, { decision: "approved" }))));
    expect(receipts.filter(({ status }) => status === "final")).toHaveLength(1);
    expect(await verdict).toMatchObject({ decision: "allow" });
  });
});

describe("approvers", () => {
  const approvers = [
    { id: "alice", channel: "test", subject: "1" },
    { id: "bob", channel: "test", subject: "2" },
    { id: "carol", channel: "web", subject: "1" },
  ];
  const twoOf = parsePolicy({ version: "1", rules: [{ match: { tool: "*" }, action: "ask", quorum: 2, approvers: ["ops"] }] });

  it("takes only a subject that the channel authenticated and the list knows", async () => {
    const { gate, shown, settle } = makeKit({ approvers });
    const verdict = gate(write, { agent });
    await settle();
    const question = first(shown);
    const yes = reply(question, { decision: "approved", approverId: "alice" });
    expect(await question.session.submit(yes, { subject: "9" })).toMatchObject({ code: "approver_unknown" });
    expect(await question.session.submit(yes)).toMatchObject({ code: "approver_unknown" });
    expect(await question.session.submit(yes, { subject: "2" })).toMatchObject({ status: "final" });
    expect(await verdict).toMatchObject({ approvers: ["bob"] });
  });

  it("counts distinct people for a quorum, over channels, and one no ends it", async () => {
    const { gate, shown, settle } = makeKit({ approvers, groups: { ops: ["alice", "bob", "carol"] }, policy: twoOf });
    const verdict = gate(write, { agent });
    await settle();
    const question = first(shown);
    const yes = reply(question, { decision: "approved" });
    expect(await question.session.submit(yes, { subject: "1" })).toEqual({ status: "counted", have: 1, need: 2 });
    expect(await question.session.submit(yes, { subject: "1" })).toMatchObject({ code: "already_answered" });
    expect(await gate.answer(yes, { channel: "web", subject: "1" })).toMatchObject({ status: "final" });
    expect(await verdict).toMatchObject({ decision: "allow", approvers: ["alice", "carol"] });
  });

  it("denies at once where nobody is left who may answer: an empty list, or the agent itself", async () => {
    expect(await makeKit({ approvers: [] }).gate(write, { agent })).toMatchObject({ code: "no_approver" });
    const self = makeKit({ approvers: [{ id: "demo", channel: "test", subject: "1" }] });
    expect(await self.gate(write, { agent })).toMatchObject({ code: "no_approver" });
    const unknownGroup = makeKit({ approvers, policy: twoOf });
    expect(await unknownGroup.gate(write, { agent })).toMatchObject({ code: "no_approver" });
  });

  it("denies at once where the rule wants a passkey and nothing can verify one", async () => {
    const policy = parsePolicy({ version: "1", rules: [{ match: { tool: "*" }, action: "ask", approval: "passkey" }] });
    expect(await makeKit({ policy }).gate(write, { agent })).toMatchObject({ code: "evidence_unavailable" });
  });
});

describe("approve with modifications", () => {
  it("releases the edited action, judged again and recorded as proposed, approved and effective", async () => {
    const { gate, shown, settle, sink } = makeKit();
    const verdict = gate(write, { agent });
    await settle();
    const question = first(shown);
    const edited = { path: "a.txt", content: "bye" };
    await question.session.submit(reply(question, { decision: "approved_with_modifications", modifications: edited }));
    expect(await verdict).toMatchObject({ code: "consent_modified", action: { name: "write_file", args: edited } });
    const event = last(sink.events);
    expect(event.metadata).toMatchObject({ approved_parameters: edited, proposed_digest: question.request.actionDigest });
    expect(event.metadata["effective_digest"]).not.toBe(question.request.actionDigest);
  });

  const guarded = parsePolicy({
    version: "1",
    default_action: "ask",
    rules: [
      { match: { tool: "*", args: { path: "/etc/*" } }, action: "deny" },
      { match: { tool: "*", args: { path: "/srv/*" } }, action: "ask", level: "critical" },
    ],
  });

  it("refuses an edit that the policy denies, and leaves the question open", async () => {
    const { gate, shown, settle } = makeKit({ policy: guarded });
    const verdict = gate(write, { agent });
    await settle();
    const question = first(shown);
    const bad = reply(question, { decision: "approved_with_modifications", modifications: { path: "/etc/passwd", content: "" } });
    expect(await question.session.submit(bad)).toMatchObject({ status: "refused", code: "modification_denied" });
    await question.session.submit(reply(question, { decision: "approved" }));
    expect(await verdict).toMatchObject({ code: "consent_approved" });
  });

  it("shows an edit that is judged stricter as a new question in place of the old one", async () => {
    const { gate, shown, settle } = makeKit({ policy: guarded });
    const verdict = gate(write, { agent });
    await settle();
    const old = first(shown);
    const risky = reply(old, { decision: "approved_with_modifications", modifications: { path: "/srv/x", content: "" } });
    expect(await old.session.submit(risky)).toMatchObject({ status: "reshow" });
    await settle();
    expect(await old.session.ended).toMatchObject({ status: "superseded" });
    const next = last(shown);
    expect(next.request.policy.requiredLevel).toBe("critical");
    expect(await old.session.submit(reply(old, { decision: "approved" }))).toMatchObject({ code: "request_ended" });
    await next.session.submit(reply(next, { decision: "approved" }));
    expect(await verdict).toMatchObject({ decision: "allow", action: { args: { path: "/srv/x" } }, requestId: next.request.id });
  });
});

describe("limits", () => {
  const policy = parsePolicy({ version: "1", default_action: "deny", rules: [{ match: { tool: "*" }, action: "allow", rate_limit: "2/minute" }] });

  it("denies the excess with the time to wait, per agent, and frees it after the window", async () => {
    const { gate, clock } = makeKit({ policy });
    expect(await gate(write, { agent })).toMatchObject({ decision: "allow" });
    await clock.advance(10_000);
    expect(await gate(write, { agent })).toMatchObject({ decision: "allow" });
    expect(await gate(write, { agent })).toMatchObject({ code: "rate_limited", retryable: true, retryAfterMs: 50_000 });
    expect(await gate(write, { agent: { id: "other" } })).toMatchObject({ decision: "allow" });
    await clock.advance(50_001);
    expect(await gate(write, { agent })).toMatchObject({ decision: "allow" });
  });

  it("reserves atomically: of ten calls at once two go through", async () => {
    const { gate } = makeKit({ policy });
    const verdicts = await Promise.all(Array.from({ length: 10 }, () => gate(write, { agent })));
    expect(verdicts.filter(({ decision }) => decision === "allow")).toHaveLength(2);
  });
});

describe("grants", () => {
  const offering: Layer = {
    name: "offers",
    judge: () => ({
      effect: "ask",
      ruleId: "offer",
      reason: "",
      ask: { offers: [{ id: "tool-1m", scope: { kind: "tool", server: "files", name: "write_file" }, ttlMs: 60_000, uses: 2 }] },
    }),
  };

  it("answers later asks within scope, uses and time, and each use is in the log", async () => {
    const { gate, shown, settle, types, clock } = makeKit({ policy: askAll, layers: [offering] });
    // Two asks merge by intersection, and the policy's default is no ask of a rule, so the layer's offer stands.
    const verdict = gate(write, { agent });
    await settle();
    expect(first(shown).request.text).toContain("tool-1m");
    await first(shown).session.submit(reply(first(shown), { decision: "approved", grantId: "tool-1m" }));
    expect(await verdict).toMatchObject({ decision: "allow" });
    expect(await gate(toolAction("files", "write_file", { path: "b" }), { agent })).toMatchObject({ code: "grant_used" });
    expect(types()).toContain("grant_created");
    expect(last([...types()])).toBe("grant_used");
    const other = gate(toolAction("files", "delete_file", {}), { agent });
    await settle();
    expect(shown).toHaveLength(2);
    await clock.advance(120_001);
    expect(await other).toMatchObject({ code: "consent_expired" });
  });

  it("does not lift a deny, a critical level or another agent's ask", async () => {
    const { memoryStore } = await import("./stores/memory-store.js");
    const critical: Layer = { name: "critical", judge: () => ({ effect: "ask", ruleId: "c", reason: "", level: "critical" }) };
    const kit = makeKit({ policy: askAll, layers: [critical] });
    const store = memoryStore(kit.clock);
    await store.grants.put({
      id: "gr_1", agentId: "demo", scope: { kind: "tool", server: "files", name: "write_file" }, createdAtMs: 0,
      expiresAtMs: kit.clock.now() + 1_000_000, requestId: "cr_0", approverIds: ["local"], evidence: "any", secrets: [],
    });
    const { gate, settle, shown } = makeKit({ policy: askAll, layers: [critical], store: { grants: store.grants } });
    void gate(write, { agent });
    await settle();
    expect(shown).toHaveLength(1);
    const plain = makeKit({ store: { grants: store.grants } });
    expect(await plain.gate(write, { agent })).toMatchObject({ code: "grant_used" });
    void plain.gate(write, { agent: { id: "other" } });
    await plain.settle();
    expect(plain.shown).toHaveLength(1);
    expect(await makeKit({ policy: denyAll, store: { grants: store.grants } }).gate(write, { agent })).toMatchObject({ code: "policy_denied" });
  });
});

describe("open(), defer() and the retry", () => {
  it("keeps the decision for the retry of the caller that was told to call again, once", async () => {
    const { gate, shown, settle } = makeKit();
    const pending = asPending(await gate.open(write, { agent }));
    await settle();
    expect(await pending.defer()).toBe(true);
    expect(await pending.settled).toMatchObject({ code: "consent_deferred" });
    await first(shown).session.submit(reply(first(shown), { decision: "approved" }));
    expect(await gate(write, { agent })).toMatchObject({ decision: "allow", code: "consent_approved" });
    void gate(write, { agent });
    await settle();
    expect(shown).toHaveLength(2);
  });

  it("lets a retry wait again for a question that is still open", async () => {
    const { gate, shown, settle } = makeKit();
    await asPending(await gate.open(write, { agent })).defer();
    const retry = asPending(await gate.open(write, { agent }));
    expect(retry.requestId).toBe(first(shown).request.id);
    await settle();
    await first(shown).session.submit(reply(first(shown), { decision: "approved" }));
    expect(await retry.settled).toMatchObject({ decision: "allow" });
    expect(shown).toHaveLength(1);
  });

  it("does not give the decision to an equal call in flight, to another agent, to other arguments or after its time", async () => {
    const { gate, shown, settle, clock } = makeKit();
    const waiting = asPending(await gate.open(write, { agent }));
    void gate.open(write, { agent });
    await settle();
    expect(shown).toHaveLength(2);
    await waiting.defer();
    await first(shown).session.submit(reply(first(shown), { decision: "approved" }));
    void gate.open(write, { agent: { id: "other" } });
    void gate.open(toolAction("files", "write_file", { path: "b" }), { agent });
    await settle();
    expect(shown).toHaveLength(4);
    await clock.advance(300_001);
    expect((await gate.open(write, { agent })).decision).toBe("pending");
  });

  it("asks again where the rules became stricter since the yes", async () => {
    let policy = askAll;
    const { gate, shown, settle } = makeKit({ policy: () => policy });
    await asPending(await gate.open(write, { agent })).defer();
    await settle();
    await first(shown).session.submit(reply(first(shown), { decision: "approved" }));
    policy = parsePolicy({ version: "1", rules: [{ match: { tool: "*" }, action: "ask", level: "critical" }] });
    expect((await gate.open(write, { agent })).decision).toBe("pending");
    policy = denyAll;
    expect(await gate(write, { agent })).toMatchObject({ code: "policy_denied" });
  });

  it("does not defer a question that is over", async () => {
    const { gate, shown, settle } = makeKit();
    const pending = asPending(await gate.open(write, { agent }));
    await settle();
    await first(shown).session.submit(reply(first(shown), { decision: "approved" }));
    expect(await pending.defer()).toBe(false);
    expect(await pending.settled).toMatchObject({ decision: "allow" });
  });
});

describe("run(), perform() and wrap()", () => {
  it("performs once and records forwarded and completed around it", async () => {
    const { gate, types } = makeKit({ policy: allowAll });
    let ran = 0;
    const result = await gate.run(write, (release) => Promise.resolve(`${release.action.name} ${++ran}`), { agent });
    expect(result).toMatchObject({ ran: true, value: "write_file 1", recorded: true });
    expect(types()).toEqual(["tool_call_intercepted", "policy_evaluated", "tool_call_forwarded", "tool_call_completed"]);
  });

  it("does not perform what was denied, or what the log cannot announce", async () => {
    const { gate, sink } = makeKit({ policy: allowAll });
    const verdict = await gate(write, { agent });
    if (verdict.decision !== "allow") throw new Error(verdict.code);
    sink.mode = "throws";
    let ran = false;
    const perform = (): Promise<void> => Promise.resolve(void (ran = true));
    expect(await gate.perform(verdict, perform)).toMatchObject({ ran: false, verdict: { code: "audit_failed" } });
    sink.mode = "works";
    expect(await gate.perform(verdict, perform)).toMatchObject({ ran: false, verdict: { code: "permit_refused" } });
    expect(ran).toBe(false);
  });

  it("tells that the completion could not be recorded", async () => {
    const { gate, sink } = makeKit({ policy: allowAll });
    const result = await gate.run(write, () => { sink.mode = "throws"; return Promise.resolve(1); }, { agent });
    expect(result).toMatchObject({ ran: true, recorded: false });
  });

  it("rejects with what perform throws, after recording the failure without its text", async () => {
    const { gate, sink } = makeKit({ policy: allowAll });
    await expect(gate.run(write, () => Promise.reject(new TypeError("token abc")), { agent })).rejects.toThrow("token abc");
    expect(last(sink.events)).toMatchObject({ eventType: "tool_call_completed", metadata: { outcome: "failed", error: "TypeError" } });
    expect(JSON.stringify(sink.events)).not.toContain("token abc");
  });

  it("refuses a permit that expired, was copied or belongs to another action", async () => {
    const { gate, clock } = makeKit({ policy: allowAll });
    const verdict = await gate(write, { agent });
    if (verdict.decision !== "allow") throw new Error(verdict.code);
    expect(() => redeem({ ...verdict.permit }, verdict.action)).toThrow(expect.objectContaining({ code: "permit_unknown" }));
    expect(() => redeem(verdict.permit, toolAction("files", "write_file", { path: "b" }))).toThrow(expect.objectContaining({ code: "permit_other_action" }));
    await clock.advance(30_001);
    expect(() => redeem(verdict.permit, verdict.action)).toThrow(expect.objectContaining({ code: "permit_expired" }));
  });

  it("asks the layers again at redemption, and their deny wins", async () => {
    let policy = allowAll;
    const { gate } = makeKit({ policy: () => policy });
    const verdict = await gate(write, { agent });
    if (verdict.decision !== "allow") throw new Error(verdict.code);
    policy = denyAll;
    let error: unknown;
    try { redeem(verdict.permit, verdict.action); } catch (caught) { error = caught; }
    expect(isConsentError(error, "permit_denied")).toBe(true);
  });

  it("denies with vault_failed when the vault throws, and performs nothing", async () => {
    const vault: Vault = { inject: () => Promise.reject(new Error("locked")) };
    const policy = parsePolicy({ version: "1", rules: [{ match: { tool: "*" }, action: "allow", secrets: ["TOKEN"] }] });
    const { gate, types } = makeKit({ policy, vault });
    expect(await gate.run(write, () => Promise.reject(new Error("must not run")), { agent })).toMatchObject({ ran: false, verdict: { code: "vault_failed" } });
    expect(types()).not.toContain("tool_call_forwarded");
  });

  it("wraps a function that cannot run unasked", async () => {
    const { gate } = makeKit({ policy: denyAll });
    let ran = false;
    const wrapped = gate.wrap((path: string) => toolAction("files", "read_file", { path }), () => Promise.resolve(void (ran = true)));
    expect(await wrapped("a", { agent })).toMatchObject({ ran: false, verdict: { code: "policy_denied" } });
    expect(ran).toBe(false);
    const broken = gate.wrap(() => { throw new Error("no"); }, () => Promise.resolve());
    expect(await broken(1, { agent })).toMatchObject({ ran: false, verdict: { code: "action_invalid" } });
  });
});

describe("assessors and observers", () => {
  it("tightens, never loosens, and denies when an assessor fails or hangs", async () => {
    const toAsk = makeKit({ policy: allowAll, assessors: [{ name: "scan", assess: () => Promise.resolve({ effect: "ask", ruleId: "scan", reason: "odd" }) }] });
    expect((await toAsk.gate.open(write, { agent })).decision).toBe("pending");
    const loosen = makeKit({ policy: denyAll, assessors: [{ name: "scan", assess: () => Promise.resolve({ effect: "allow", ruleId: "scan", reason: "" }) }] });
    expect(await loosen.gate(write, { agent })).toMatchObject({ code: "policy_denied" });
    const throws = makeKit({ policy: allowAll, assessors: [{ name: "scan", assess: () => Promise.reject(new Error("down")) }] });
    expect(await throws.gate(write, { agent })).toMatchObject({ code: "assessor_failed" });
    const hangs = makeKit({ policy: allowAll, assessors: [{ name: "scan", assess: () => new Promise(() => undefined) }] });
    const verdict = hangs.gate(write, { agent });
    await hangs.clock.advance(30_001);
    expect(await verdict).toMatchObject({ code: "assessor_failed" });
  });

  it("records what the observed policy would say and changes no verdict", async () => {
    const { gate, sink } = makeKit({ policy: allowAll, observe: denyAll });
    expect(await gate(write, { agent })).toMatchObject({ decision: "allow" });
    expect(last(sink.events).metadata).toMatchObject({ observed: { effect: "deny", rule: "default" } });
  });
});

describe("resume()", () => {
  it("shows again what is open and ends what is out of time", async () => {
    const { memoryStore } = await import("./stores/memory-store.js");
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
