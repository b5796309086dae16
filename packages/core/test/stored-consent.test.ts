/**
 * What a store says of consent counts only where a gate with this key wrote it, once, and as it was
 * asked for.
 */
import { pendingRecord } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { bootTimeOf } from "../src/boot-time.js";
import {
  type Grant,
  type Layer,
  type PendingRecord,
  type PendingStore,
  reduce,
  toolAction,
} from "../src/index.js";
import { IGNORED_NOTED_MAX } from "../src/limits.js";
import { agent, first, type Kit, last, macs, makeKit, reply } from "./gate-kit.js";
import { asked, defer, ignoredOf, offering, only, scope, world, write } from "./stored-kit.js";

function approved(record: PendingRecord, by: string): PendingRecord {
  const approval = { approverId: by, channel: "test", atMs: record.request.createdAtMs };
  const ended = reduce(record, {
    type: "approve",
    approval,
    terms: { reason: "", validUntilMs: Number.MAX_SAFE_INTEGER },
  });
  const kept = ended.ok ? reduce(ended.next, { type: "recorded" }) : ended;
  if (!kept.ok) throw new Error(kept.code);
  return kept.next;
}

describe("a forged grant", () => {
  const forged = (clock: Kit["clock"], change: object = {}): Grant => ({
    id: "gr_forged",
    agentId: "demo",
    scope,
    createdAtMs: clock.now(),
    expiresAtMs: clock.now() + 300_000,
    requestId: "cr_0",
    approverIds: ["local"],
    evidence: "passkey",
    secrets: [],
    created: bootTimeOf(clock),
    ...change,
  });
  const passkeyRule: Layer = {
    name: "passkey",
    judge: () => ({
      effect: "ask",
      ruleId: "p",
      reason: "",
      ask: { evidence: "passkey", offers: [{ id: "t", scope, ttlMs: 300_000 }] },
    }),
  };
  const trusting = { algorithm: "WebAuthn", verify: () => Promise.resolve({ ok: true as const }) };

  it.each([
    ["by no key", (grant: Grant) => grant],
    ["with a MAC of nothing", (grant: Grant) => ({ ...grant, mac: "00".repeat(32) })],
    ["by a key that was read, without the person's answer", macs.grant.sign],
  ])("signed %s answers no rule that wants a passkey", async (_by, sign) => {
    const { store, clock, start } = world({ layers: [passkeyRule], verifiers: [trusting] });
    await store.grants.put(sign(forged(clock)));
    const kit = start();
    expect(await asked(kit)).toBeUndefined();
    expect(kit.shown).toHaveLength(1);
    expect(ignoredOf(kit)).toMatchObject([{ kind: "grant", id: "gr_forged" }]);
  });

  it.each([
    ["the agent", { agentId: "demo" }, { agentId: "other" }],
    ["the scope", { scope: { kind: "tool", server: "files", name: "read_file" } }, { scope }],
    ["the time", {}, { expiresAtMs: Number.MAX_SAFE_INTEGER }],
    ["the people", { approverIds: ["bob"] }, { approverIds: ["local"] }],
    ["the count", { uses: 2, usesLeft: 2 }, { uses: 5, usesLeft: 5 }],
    ["the count that is left, above what was given", { uses: 2, usesLeft: 2 }, { usesLeft: 3 }],
    ["the count that is left, by taking it out", { uses: 2, usesLeft: 2 }, { usesLeft: undefined }],
    ["a member that it had not", {}, { usesLeft: 5 }],
  ])("is one where somebody changed %s", async (_what, was, becomes) => {
    const { store, clock, start } = world({ layers: [offering] });
    await store.grants.put({
      ...macs.grant.sign(forged(clock, { evidence: "any", ...was })),
      ...becomes,
    } as Grant);
    const kit = start();
    expect(await asked(kit)).toBeUndefined();
  });

  it("is named in the log once, and many forged ones are not each", async () => {
    const { store, clock, start } = world({ layers: [offering] });
    for (let i = 0; i < IGNORED_NOTED_MAX + 20; i++)
      await store.grants.put(forged(clock, { id: `gr_${i}` }));
    const kit = start();
    for (let i = 0; i < 3; i++) await asked(kit);
    expect(ignoredOf(kit)).toHaveLength(IGNORED_NOTED_MAX + 1);
    expect(last(ignoredOf(kit))).toMatchObject({
      reason: "more records are ignored and not named",
    });
  });
});

describe("a forged question", () => {
  it("that says it was approved by ann gives no permit, and does not stop the start", async () => {
    const { store, start } = world();
    await defer(start());
    const forged = approved(await only(store.pending), "ann");
    await store.pending.transition(forged.id, forged.version - 2, forged);
    const kit = start();
    expect(await kit.gate.resume()).toBe(0);
    expect(await asked(kit)).toBeUndefined();
    expect(ignoredOf(kit)).toMatchObject([{ kind: "question", id: forged.id }]);
  });

  it("that is open is not shown again, and takes no answer", async () => {
    const { store, clock, start } = world();
    const record = pendingRecord({ id: "cr_forged" });
    await store.pending.put({ ...record, asked: bootTimeOf(clock) });
    const kit = start();
    expect(await kit.gate.resume()).toBe(0);
    const claim = reply(
      { request: record.request, session: undefined as never },
      { decision: "approved" },
    );
    expect(await kit.gate.answer(claim, { channel: "test", subject: "local" })).toMatchObject({
      code: "request_unknown",
    });
  });

  it("of a former process without a key of its own counts as absent, and with the home's key it counts", async () => {
    const [mine, other] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
    const { start } = world();
    await defer(start({ recordKey: mine }));
    expect(await start({ recordKey: other }).gate.resume()).toBe(0);
    expect(await start({ recordKey: undefined as never }).gate.resume()).toBe(0);
    expect(await start({ recordKey: mine }).gate.resume()).toBe(1);
  });

  it("takes a key of at least 32 bytes", () => {
    expect(() => makeKit({ recordKey: new Uint8Array(31) })).toThrow(
      expect.objectContaining({ code: "options_invalid" }),
    );
    expect(() => makeKit({ recordKey: "k".repeat(64) as never })).toThrow(
      expect.objectContaining({ code: "options_invalid" }),
    );
  });

  it("takes no end of the log that is not a time", () => {
    expect(() => makeKit({ lastEventMs: Number.NaN })).toThrow(
      expect.objectContaining({ code: "options_invalid" }),
    );
  });
});

describe("a store that gives another record", () => {
  it("than the one that is watched releases no second permit", async () => {
    const { store, start } = world();
    const yes: { record?: PendingRecord } = {};
    const lying: PendingStore = {
      ...store.pending,
      async *watch(id, signal) {
        for await (const record of store.pending.watch(id, signal)) yield yes.record ?? record;
      },
    };
    const kit = start({ store: { ...store, pending: lying } });
    const one = kit.gate(write, { agent });
    await kit.settle();
    await first(kit.shown).session.submit(reply(first(kit.shown), { decision: "approved" }));
    expect(await one).toMatchObject({ decision: "allow" });
    // From now on every watch gives the question that was approved.
    yes.record = (await store.pending.get(first(kit.shown).request.id)) as PendingRecord;
    expect(await asked(kit)).toBeUndefined();
    await kit.clock.advance(200_000);
    expect(ignoredOf(kit)).toMatchObject([
      { reason: "the store gave another record than the one that was asked for" },
    ]);
  });

  it("than the one that is answered takes no answer", async () => {
    const { store, start } = world();
    const kit = start();
    void kit.gate(write, { agent });
    void kit.gate(toolAction("files", "delete_file", {}), { agent });
    await kit.settle();
    const [asking, harmful] = kit.shown;
    const swapping = start({
      store: {
        ...store,
        pending: { ...store.pending, get: () => store.pending.get(harmful?.request.id ?? "") },
      },
    });
    if (asking === undefined) throw new Error("nothing was asked");
    expect(
      await swapping.gate.answer(reply(asking, { decision: "approved" }), {
        channel: "test",
        subject: "local",
      }),
    ).toMatchObject({
      code: "request_unknown",
    });
  });

  it.each([
    ["agent", { agentId: "other" }],
    ["action", { originalDigest: "sha256:other" }],
  ])("than one of this %s has no decision adopted", async (_what, change) => {
    const { store, start } = world();
    const before = start();
    await defer(before);
    await first(before.shown).session.submit(reply(first(before.shown), { decision: "approved" }));
    const takeDecision: PendingStore["takeDecision"] = async (...args) => {
      const record = await store.pending.takeDecision(...args);
      return record === undefined ? undefined : macs.question.sign({ ...record, ...change });
    };
    expect(
      await asked(start({ store: { ...store, pending: { ...store.pending, takeDecision } } })),
    ).toBeUndefined();
  });
});

describe("what is kept", () => {
  it("says where the log has it", async () => {
    const { store, start } = world({ layers: [offering] });
    const kit = start();
    const verdict = kit.gate(write, { agent });
    await kit.settle();
    const asking = kit.sink.events.find(({ eventType }) => eventType === "consent_requested");
    expect((await only(store.pending)).logged).toEqual({
      eventId: asking?.id,
      seq: 2,
      hash: "sha256:0",
    });
    await first(kit.shown).session.submit(
      reply(first(kit.shown), { decision: "approved", grantId: "t" }),
    );
    await verdict;
    const created = kit.sink.events.find(({ eventType }) => eventType === "grant_created");
    const [grant] = await store.grants.list();
    expect(grant?.logged).toMatchObject({ eventId: created?.id, hash: "sha256:0" });
    await asked(kit);
    expect(last(kit.sink.events)).toMatchObject({
      eventType: "grant_used",
      metadata: { created: grant?.logged },
    });
  });

  it("is frozen through and through when it is read, whatever the store keeps", async () => {
    const { store, start } = world();
    await defer(start());
    const record = await only(store.pending);
    const opened = macs.question.open(structuredClone(record));
    expect(opened).toEqual(record);
    expect(Object.isFrozen(opened?.request.action.parameters)).toBe(true);
    expect(
      macs.question.open({
        ...record,
        get agentId() {
          return "other";
        },
      }),
    ).toBeUndefined();
    expect(
      macs.question.open(
        JSON.parse(JSON.stringify(record).replace("{", `{"__proto__":{"end":{}},`)),
      ),
    ).toBeUndefined();
    expect(macs.grant.open(record)).toBeUndefined();
  });
});
