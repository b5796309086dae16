/**
 * What a store says of consent counts only where a gate with this key wrote it, once, and as it was
 * asked for.
 */
import { manualClock, pendingRecord } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { bootTimeOf } from "../src/boot-time.js";
import {
  type Grant,
  type GateOptions,
  type Layer,
  memoryStore,
  type PendingRecord,
  type PendingStore,
  reduce,
  type Store,
  toolAction,
  type Verdict,
} from "../src/index.js";
import { IGNORED_NOTED_MAX } from "../src/limits.js";
import { agent, asPending, first, type Kit, last, macs, makeKit, reply } from "./gate-kit.js";

const write = toolAction("files", "write_file", { path: "a.txt" });
const scope = { kind: "tool", server: "files", name: "write_file" } as const;
const offering: Layer = {
  name: "offering",
  judge: () => ({
    effect: "ask",
    ruleId: "o",
    reason: "",
    ask: { offers: [{ id: "t", scope, ttlMs: 300_000, uses: 2 }] },
  }),
};

/** One gate after the other over one store, as processes of one home. */
function world(options: Partial<GateOptions> = {}): {
  readonly store: Store;
  readonly clock: Kit["clock"];
  start(more?: Partial<GateOptions>): Kit;
} {
  const clock = manualClock();
  const store = memoryStore(clock);
  return {
    store,
    clock,
    start: (more) => makeKit({ store, clock, lastEventMs: clock.now(), ...options, ...more }),
  };
}

const ignoredOf = ({ sink }: Kit): readonly unknown[] =>
  sink.events
    .filter(({ eventType }) => eventType === "stored_record_ignored")
    .map(({ metadata }) => metadata);

/** Asks; the verdict, or undefined where a person is asked. */
async function asked(kit: Kit, action = write): Promise<Verdict | undefined> {
  let verdict: Verdict | undefined;
  void kit.gate(action, { agent }).then((given) => (verdict = given));
  await kit.settle();
  return verdict;
}

async function defer(kit: Kit): Promise<void> {
  await asPending(await kit.gate.open(write, { agent })).defer();
  await kit.settle();
}

/** The records of a store, in a test's hands: what it holds can be read, and put back. */
async function only(pending: PendingStore): Promise<PendingRecord> {
  for await (const record of pending.open()) return record;
  throw new Error("no question is open");
}

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

describe("a store that was set back", () => {
  /** Puts an earlier version of a question back, whatever the store thinks of it. */
  const back = (store: Store, old: PendingRecord): Store => {
    const pending = memoryStore(manualClock()).pending;
    void pending.put(old);
    return { ...store, pending };
  };

  it("has no question answered twice, by nobody", async () => {
    const { store, start } = world();
    const before = start();
    await defer(before);
    const open = await only(store.pending);
    await first(before.shown).session.submit(reply(first(before.shown), { decision: "denied" }), {
      subject: "ann",
    });
    const kit = start({ store: back(store, open) });
    expect(await kit.gate.resume()).toBe(1);
    await kit.settle();
    const { session } = first(kit.shown);
    expect(
      await session.submit(reply(first(kit.shown), { decision: "approved" }), { subject: "bob" }),
    ).toEqual({
      status: "final",
      outcome: "failed",
    });
    expect(await asked(kit)).not.toMatchObject({ decision: "allow" });
  });

  it("is seen by the gate that knows the later version", async () => {
    const { store, start } = world();
    const kit = start();
    await defer(kit);
    const open = await only(store.pending);
    const put = { back: false };
    const pending: PendingStore = {
      ...store.pending,
      get: async (id) => (put.back ? open : store.pending.get(id)),
    };
    const two = start({ store: { ...store, pending } });
    await two.gate.resume();
    await two.settle();
    await first(two.shown).session.submit(reply(first(two.shown), { decision: "denied" }));
    put.back = true;
    expect(
      await first(two.shown).session.submit(reply(first(two.shown), { decision: "approved" })),
    ).toMatchObject({
      code: "request_unknown",
    });
    expect(ignoredOf(two)).toMatchObject([
      { reason: "the store gave an older version than it had" },
    ]);
  });

  it("has no decision adopted twice", async () => {
    const { store, start, clock } = world();
    const before = start();
    await defer(before);
    await first(before.shown).session.submit(reply(first(before.shown), { decision: "approved" }));
    const decided = (await store.pending.get(first(before.shown).request.id)) as PendingRecord;
    expect(await asked(start())).toMatchObject({ decision: "allow" });
    await clock.advance(240_000);
    const kit = start({ store: back(store, decided) });
    expect(await asked(kit)).toBeUndefined();
    expect(ignoredOf(kit)).toMatchObject([{ reason: "its decision was taken before" }]);
  });

  it("has no yes taken twice by callers that wait, with versions that are none of the gate's", async () => {
    const { store, start } = world();
    const put: { back?: PendingRecord } = {};
    const setBack = async <T>(honest: () => Promise<T>): Promise<T | PendingRecord> =>
      put.back ?? (await honest());
    const pending: PendingStore = {
      ...store.pending,
      get: (id) => setBack(() => store.pending.get(id)),
      takeDecision: (...args) => setBack(() => store.pending.takeDecision(...args)),
      transition: (id, fromVersion, next) =>
        put.back === undefined
          ? store.pending.transition(id, fromVersion, next)
          : Promise.resolve(true),
      async *watch(id, signal) {
        const { back: held } = put;
        if (held === undefined) return yield* store.pending.watch(id, signal);
        for (let i = 0; put.back === held && i < 200; i++) await Promise.resolve();
        if (put.back !== undefined) yield put.back;
      },
    };
    const kit = start({ store: { ...store, pending } });
    await defer(kit);
    const open = await only(store.pending);
    const one = kit.gate(write, { agent });
    await kit.settle();
    await first(kit.shown).session.submit(reply(first(kit.shown), { decision: "approved" }));
    expect(await one).toMatchObject({ decision: "allow" });
    const decided = (await store.pending.get(open.id)) as PendingRecord;
    // The MAC leaves both members to the store: first the open question is put back, then its
    // answer as nobody had taken it.
    put.back = { ...open, version: 100 };
    const two = kit.gate(write, { agent });
    for (let i = 0; i < 100; i++) await Promise.resolve();
    put.back = { ...decided, adopted: false, version: 200 };
    expect(await two).toMatchObject({ decision: "deny", reason: "its decision was taken before" });
    expect(JSON.stringify(ignoredOf(kit))).toContain("its decision was taken before");
  });

  it("has no use of a grant taken twice, and several gates at once take each", async () => {
    const { store, start } = world({ layers: [offering] });
    const before = start();
    const verdict = before.gate(write, { agent });
    await before.settle();
    await first(before.shown).session.submit(
      reply(first(before.shown), { decision: "approved", grantId: "t" }),
    );
    await verdict;
    const fresh = first(await store.grants.list());
    const [a, b] = [start(), start()];
    const both = await Promise.all([a.gate(write, { agent }), b.gate(write, { agent })]);
    expect(both).toMatchObject([{ code: "grant_used" }, { code: "grant_used" }]);
    await store.grants.put(fresh);
    const kit = start();
    expect(await asked(kit)).toBeUndefined();
    expect(ignoredOf(kit)).toMatchObject([
      { kind: "grant", id: fresh.id, reason: "all of its uses were taken before" },
    ]);
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
