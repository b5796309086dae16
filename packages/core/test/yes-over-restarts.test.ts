/**
 * A yes that nobody took when its process ended: the identical call of the same agent may have it
 * while it holds, then the log says that nothing was done.
 */
import { manualClock, type ManualClock, seededIds } from "@acp/testing";
import { describe, expect, it } from "vitest";
import {
  type AuditEventInput,
  type GateOptions,
  memoryStore,
  type PendingRecord,
  type PendingStore,
  type Store,
  toolAction,
} from "../src/index.js";
import { agent, first, type Kit, makeKit, recordingSink, reply } from "./gate-kit.js";

const write = toolAction("files", "write_file", { path: "a" });
const HOLDS_MS = 60_000;

/** Processes over one store and one log. */
interface World {
  readonly clock: ManualClock;
  readonly store: Store;
  start(options?: Partial<GateOptions>): Kit;
  record(): Promise<PendingRecord>;
  /** Types of what the log has after the yes, without what the agent's next calls begin with. */
  story(): readonly string[];
}

const OPENINGS = new Set(["tool_call_intercepted", "policy_evaluated", "consent_delivered"]);

/** One in which a yes was recorded, and whose first process died before anybody took it. */
async function withYes(
  how: "waited" | "deferred",
  clock: ManualClock = manualClock(),
): Promise<World> {
  const store = memoryStore(clock);
  const sink = recordingSink();
  let count = 0;
  const start = (options: Partial<GateOptions> = {}): Kit =>
    makeKit({
      store,
      clock,
      audit: sink,
      ids: seededIds(++count),
      lastEventMs: clock.now(),
      ...options,
    });
  // The process dies where it would take the yes: of what it still tries nothing happens.
  const dying: PendingStore = {
    ...store.pending,
    transition: (id, version, next) =>
      next.adopted ? new Promise(() => undefined) : store.pending.transition(id, version, next),
  };
  const before = start({
    store: { ...store, pending: dying },
    clock: { ...clock, sleep: () => new Promise(() => undefined) },
  });
  const opened = await before.gate.open(write, { agent });
  await clock.advance(0);
  if (opened.decision !== "pending") throw new Error(opened.code);
  if (how === "deferred") await opened.defer();
  const question = first(before.shown);
  await question.session.submit(
    reply(question, { decision: "approved", validUntilMs: clock.now() + HOLDS_MS }),
  );
  await clock.advance(0);
  return {
    clock,
    store,
    start,
    async record() {
      const record = await store.pending.get(question.request.id);
      if (record === undefined) throw new Error("the store lost the question");
      return record;
    },
    story() {
      const types = sink.events.map(({ eventType }: AuditEventInput) => eventType);
      return types
        .slice(types.indexOf("consent_approved") + 1)
        .filter((type) => !OPENINGS.has(type));
    },
  };
}

const KEPT = { waited: ["consent_deferred"], deferred: [] } as const;

describe.each(["waited", "deferred"] as const)("a yes whose caller %s, after a restart", (how) => {
  it("is for the identical call, and runs once", async () => {
    const { start, story, clock } = await withYes(how);
    const { gate, shown } = start();
    expect(await gate.resume()).toBe(0);
    await clock.advance(HOLDS_MS - 1);
    let times = 0;
    const verdict = await gate.open(write, { agent });
    expect(verdict).toMatchObject({ decision: "allow", approvers: ["local"] });
    if (verdict.decision === "allow") await gate.perform(verdict, async () => void times++);
    await clock.advance(HOLDS_MS);
    expect([times, shown]).toEqual([1, []]);
    expect(story()).toEqual([
      ...KEPT[how],
      "decision_adopted",
      "tool_call_forwarded",
      "tool_call_completed",
    ]);
    expect((await gate.open(write, { agent })).decision).toBe("pending");
  });

  it("ends as not collected when its time is over, once, however many processes start", async () => {
    const { start, story, clock, record } = await withYes(how);
    for (let times = 0; times < 2; times++) {
      const { gate } = start();
      await gate.resume();
      await gate.resume();
    }
    await clock.advance(HOLDS_MS - 1);
    expect((await record()).outcome).toBeUndefined();
    await clock.advance(1);
    expect(await record()).toMatchObject({
      adopted: false,
      outcome: { status: "not_collected", detail: "the caller did not call again in time" },
    });
    await start().gate.resume();
    await clock.advance(HOLDS_MS);
    expect(story()).toEqual([...KEPT[how], "consent_not_collected"]);
  });

  it("ends by the clock of the boot, whatever the wall clock says", async () => {
    const { start, story, clock } = await withYes(how);
    await clock.advance(HOLDS_MS / 2);
    clock.jump(-3_600_000);
    await start().gate.resume();
    await clock.advance(HOLDS_MS / 2);
    expect(story()).toEqual([...KEPT[how], "consent_not_collected"]);
  });

  it("ends soon where it holds no more when the next process starts", async () => {
    const { start, story, clock } = await withYes(how);
    await clock.advance(HOLDS_MS);
    await start().gate.resume();
    await clock.advance(30_000);
    expect(story()).toEqual(["consent_not_collected"]);
  });

  it("is followed again by the next process where this one closes first", async () => {
    const { start, story, clock } = await withYes(how);
    const one = start();
    await one.gate.resume();
    await one.gate.close();
    await clock.advance(HOLDS_MS);
    expect(story()).toEqual(KEPT[how]);
    await start().gate.resume();
    await clock.advance(30_000);
    expect(story()).toEqual([...KEPT[how], "consent_not_collected"]);
  });

  it("has no end written that a store was set back to offer again: the log has what came of it", async () => {
    const { start, story, store, clock, record } = await withYes(how);
    const untaken = await record();
    const one = start();
    await one.gate.resume();
    const verdict = await one.gate.open(write, { agent });
    if (verdict.decision === "allow") await one.gate.perform(verdict, () => Promise.resolve());
    expect(story()).toContain("tool_call_completed");
    const before = story();
    const { pending } = memoryStore(clock);
    await pending.put(untaken);
    await start({ store: { ...store, pending } }).gate.resume();
    await clock.advance(2 * HOLDS_MS);
    expect(story().filter((type) => type !== "consent_deferred")).toEqual([
      ...before.filter((type) => type !== "consent_deferred"),
      "stored_record_ignored",
    ]);
  });

  it("is written down again where the store was down for a while", async () => {
    const { start, story, store, clock } = await withYes(how);
    let isDown = false;
    const get: PendingStore["get"] = (id) =>
      isDown ? Promise.reject(new Error("down")) : store.pending.get(id);
    await start({ store: { ...store, pending: { ...store.pending, get } } }).gate.resume();
    isDown = true;
    await clock.advance(HOLDS_MS + 45_000);
    isDown = false;
    await clock.advance(30_000);
    expect(story()).toEqual([...KEPT[how], "consent_not_collected"]);
  });
});

it("resume() takes no yes from a caller of this gate that waits for it", async () => {
  const { pending } = memoryStore(manualClock());
  let isResuming = false;
  const resume = async (): Promise<void> => {
    if (isResuming) return;
    isResuming = true;
    await kit.gate.resume();
    isResuming = false;
  };
  const transition: PendingStore["transition"] = async (id, version, next) => {
    // Between the record of the yes and its taking, and at every other change.
    await resume();
    const isKept = await pending.transition(id, version, next);
    await resume();
    return isKept;
  };
  const kit = makeKit({ store: { pending: { ...pending, transition } } });
  const verdict = kit.gate(write, { agent });
  await kit.settle();
  await first(kit.shown).session.submit(reply(first(kit.shown), { decision: "approved" }));
  await kit.settle();
  expect(kit.types()).not.toContain("consent_deferred");
  expect(await verdict).toMatchObject({ decision: "allow", code: "consent_approved" });
});
