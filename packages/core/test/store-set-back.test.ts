/** A store that was set back, by a backup or by somebody, gives no consent a second time. */
import { manualClock } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { memoryStore, type PendingRecord, type PendingStore, type Store } from "../src/index.js";
import { agent, first, reply } from "./gate-kit.js";
import { asked, defer, ignoredOf, offering, only, world, write } from "./stored-kit.js";

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
