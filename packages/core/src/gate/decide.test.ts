import { describe, expect, it } from "vitest";
import {
  agent,
  allowAll,
  askAll,
  asPending,
  denyAll,
  first,
  last,
  macs,
  makeKit,
  reply,
} from "../../test/gate-kit.js";
import { bootTimeOf } from "../boot-time.js";
import { type Layer, toolAction } from "../index.js";
import { parsePolicy } from "../policy.js";

const write = toolAction("files", "write_file", { path: "a.txt", content: "hello" });

describe("limits", () => {
  const policy = parsePolicy({
    version: "1",
    default_action: "deny",
    rules: [{ match: { tool: "*" }, action: "allow", rate_limit: "2/minute" }],
  });

  it("denies the excess with the time to wait, per agent, and frees it after the window", async () => {
    const { gate, clock } = makeKit({ policy });
    expect(await gate(write, { agent })).toMatchObject({ decision: "allow" });
    await clock.advance(10_000);
    expect(await gate(write, { agent })).toMatchObject({ decision: "allow" });
    expect(await gate(write, { agent })).toMatchObject({
      code: "rate_limited",
      retryable: true,
      retryAfterMs: 50_000,
    });
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
      ask: {
        offers: [
          {
            id: "tool-1m",
            scope: { kind: "tool", server: "files", name: "write_file" },
            ttlMs: 60_000,
            uses: 2,
          },
        ],
      },
    }),
  };

  it("answers later asks within scope, uses and time, and each use is in the log", async () => {
    const { gate, shown, settle, types, clock } = makeKit({ policy: askAll, layers: [offering] });
    // Two asks merge by intersection, and the policy's default is no ask of a rule, so the layer's
    // offer stands.
    const verdict = gate(write, { agent });
    await settle();
    expect(first(shown).request.text).toContain("tool-1m");
    await first(shown).session.submit(
      reply(first(shown), { decision: "approved", grantId: "tool-1m" }),
    );
    expect(await verdict).toMatchObject({ decision: "allow" });
    expect(await gate(toolAction("files", "write_file", { path: "b" }), { agent })).toMatchObject({
      code: "grant_used",
    });
    expect(types()).toContain("grant_created");
    expect(last([...types()])).toBe("grant_used");
    const other = gate(toolAction("files", "delete_file", {}), { agent });
    await settle();
    expect(shown).toHaveLength(2);
    await clock.advance(120_001);
    expect(await other).toMatchObject({ code: "consent_expired" });
  });

  it("does not lift a deny, a critical level or another agent's ask", async () => {
    const { memoryStore } = await import("../stores/memory-store.js");
    const critical: Layer = {
      name: "critical",
      judge: (...args) => ({
        ...offering.judge(...args),
        effect: "ask",
        ruleId: "c",
        reason: "",
        level: "critical",
      }),
    };
    const kit = makeKit({ policy: askAll, layers: [critical] });
    const store = memoryStore(kit.clock);
    await store.grants.put(
      macs.grant.sign({
        id: "gr_1",
        agentId: "demo",
        scope: { kind: "tool", server: "files", name: "write_file" },
        createdAtMs: kit.clock.now(),
        expiresAtMs: kit.clock.now() + 60_000,
        requestId: "cr_0",
        approverIds: ["local"],
        evidence: "any",
        secrets: [],
        created: bootTimeOf(kit.clock),
      }),
    );
    const { gate, settle, shown } = makeKit({
      policy: askAll,
      layers: [critical],
      store: { grants: store.grants },
    });
    void gate(write, { agent });
    await settle();
    expect(shown).toHaveLength(1);
    const plain = makeKit({ store: { grants: store.grants }, layers: [offering] });
    expect(await plain.gate(write, { agent })).toMatchObject({ code: "grant_used" });
    void plain.gate(write, { agent: { id: "other" } });
    await plain.settle();
    expect(plain.shown).toHaveLength(1);
    const guard: Layer = {
      name: "guard",
      judge: () => ({ effect: "deny", ruleId: "g", reason: "" }),
    };
    const guarded = makeKit({ layers: [offering, guard], store: { grants: store.grants } });
    expect(await guarded.gate(write, { agent })).toMatchObject({ code: "policy_denied" });
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
    expect(await gate(write, { agent })).toMatchObject({
      decision: "allow",
      code: "consent_approved",
    });
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
    policy = parsePolicy({
      version: "1",
      rules: [{ match: { tool: "*" }, action: "ask", level: "critical" }],
    });
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

describe("assessors and observers", () => {
  it("tightens, never loosens, and denies when an assessor fails or hangs", async () => {
    const toAsk = makeKit({
      policy: allowAll,
      assessors: [
        {
          name: "scan",
          assess: () => Promise.resolve({ effect: "ask", ruleId: "scan", reason: "odd" }),
        },
      ],
    });
    expect((await toAsk.gate.open(write, { agent })).decision).toBe("pending");
    const loosen = makeKit({
      policy: denyAll,
      assessors: [
        {
          name: "scan",
          assess: () => Promise.resolve({ effect: "allow", ruleId: "scan", reason: "" }),
        },
      ],
    });
    expect(await loosen.gate(write, { agent })).toMatchObject({ code: "policy_denied" });
    const throws = makeKit({
      policy: allowAll,
      assessors: [{ name: "scan", assess: () => Promise.reject(new Error("down")) }],
    });
    expect(await throws.gate(write, { agent })).toMatchObject({ code: "assessor_failed" });
    const hangs = makeKit({
      policy: allowAll,
      assessors: [{ name: "scan", assess: () => new Promise(() => undefined) }],
    });
    const verdict = hangs.gate(write, { agent });
    await hangs.clock.advance(30_001);
    expect(await verdict).toMatchObject({ code: "assessor_failed" });
  });

  it("records what the observed policy would say and changes no verdict", async () => {
    const { gate, sink } = makeKit({ policy: allowAll, observe: denyAll });
    expect(await gate(write, { agent })).toMatchObject({ decision: "allow" });
    expect(last(sink.events).metadata).toMatchObject({
      observed: { effect: "deny", rule: "default" },
    });
  });
});
