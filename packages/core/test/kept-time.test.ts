/**
 * How long a kept consent lasts: by both clocks in one boot, by the wall clock after another one,
 * and never longer because somebody set a clock.
 */
import { manualClock, type ManualClock, seededIds } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { timeLeftMs } from "../src/boot-time.js";
import {
  type GateOptions,
  type Ids,
  type Layer,
  memoryStore,
  type Store,
  toolAction,
  type Verdict,
} from "../src/index.js";
import { agent, asPending, first, type Kit, makeKit, reply } from "./gate-kit.js";

const write = toolAction("files", "write_file", { path: "a.txt" });
const MINUTES = 60_000;
const HOURS = 60 * MINUTES;
const offering: Layer = {
  name: "offering",
  judge: () => ({
    effect: "ask",
    ruleId: "o",
    reason: "",
    ask: {
      offers: [
        {
          id: "t",
          scope: { kind: "tool", server: "files", name: "write_file" },
          ttlMs: 5 * MINUTES,
        },
      ],
    },
  }),
};

interface World {
  readonly clock: ManualClock;
  readonly store: Store;
  readonly ids: Ids;
  start(options?: Partial<GateOptions>): Kit;
}

function world(): World {
  const clock = manualClock();
  const store = memoryStore(clock);
  const lastEventMs = clock.now();
  // One for all: a question whose id another gate took would be denied, and that is no end of what
  // is kept.
  const ids = seededIds();
  return {
    clock,
    store,
    ids,
    start: (options) => makeKit({ clock, store, ids, layers: [offering], lastEventMs, ...options }),
  };
}

/** A person says yes for five minutes: to the tool, or to a caller that calls again. */
const yes = {
  async grant({ start }: World): Promise<void> {
    const kit = start();
    const verdict = kit.gate(write, { agent });
    await kit.settle();
    await first(kit.shown).session.submit(
      reply(first(kit.shown), { decision: "approved", grantId: "t" }),
    );
    await verdict;
  },
  async decision({ start }: World): Promise<void> {
    const kit = start();
    await asPending(await kit.gate.open(write, { agent })).defer();
    await kit.settle();
    await first(kit.shown).session.submit(reply(first(kit.shown), { decision: "approved" }));
    // Its own timer would end the decision too.
    await kit.settle();
    await kit.gate.close();
  },
} as const;

/** What another gate makes of it: an allow, or else a question. */
async function holds(kit: Kit): Promise<boolean> {
  let verdict: Verdict | undefined;
  const { length: before } = kit.shown;
  void kit.gate(write, { agent }).then((given) => (verdict = given));
  await kit.settle();
  expect(kit.shown).toHaveLength(before + (verdict === undefined ? 1 : 0));
  if (verdict?.decision === "deny") throw new Error(verdict.reason);
  return verdict !== undefined;
}

describe.each(["grant", "decision"] as const)("a kept %s", (kind) => {
  const given = async (): Promise<World> => {
    const made = world();
    await yes[kind](made);
    return made;
  };

  it("holds for its five minutes", async () => {
    const { clock, start } = await given();
    await clock.advance(5 * MINUTES - 1);
    expect(await holds(start())).toBe(true);
  });

  it("does not live six hours because the wall clock was set back", async () => {
    const { clock, start } = await given();
    await clock.advance(4 * MINUTES);
    for (let hour = 0; hour < 6; hour++) {
      clock.jump(-2 * MINUTES);
      await clock.advance(2 * MINUTES);
    }
    expect(await holds(start())).toBe(false);
  });

  it("does not live a minute longer because the wall clock was set back", async () => {
    const { clock, start } = await given();
    await clock.advance(4 * MINUTES);
    clock.jump(-2 * MINUTES);
    await clock.advance(1 * MINUTES);
    expect(await holds(start())).toBe(false);
  });

  it("ends when the wall clock was set forward behind its end", async () => {
    const { clock, start } = await given();
    clock.jump(5 * MINUTES);
    expect(await holds(start())).toBe(false);
  });

  it("lasts by the wall clock after another boot", async () => {
    const { clock, start } = await given();
    await clock.advance(1 * MINUTES);
    clock.reboot();
    await clock.advance(3 * MINUTES);
    expect(await holds(start({ lastEventMs: clock.now() }))).toBe(true);
  });

  it("is over after another boot when the wall clock says so", async () => {
    const { clock, start } = await given();
    clock.reboot();
    await clock.advance(5 * MINUTES);
    expect(await holds(start({ lastEventMs: clock.now() }))).toBe(false);
  });

  it("ends after another boot where the wall clock is behind the log's last event", async () => {
    const { clock, start } = await given();
    await clock.advance(4 * MINUTES);
    const lastEventMs = clock.now();
    clock.reboot();
    clock.jump(-2 * MINUTES);
    expect(await holds(start({ lastEventMs }))).toBe(false);
  });

  it("ends after another boot where the wall clock went behind what this gate has logged itself", async () => {
    const { clock, start } = await given();
    const lastEventMs = clock.now();
    clock.reboot();
    const kit = start({ lastEventMs });
    await clock.advance(4 * MINUTES);
    void kit.gate(toolAction("files", "read_file", {}), { agent });
    await kit.settle();
    clock.jump(-3 * MINUTES);
    expect(await holds(kit)).toBe(false);
    // What it asked is in the log with an earlier time: the log has not gone back by that.
    clock.jump(1 * MINUTES);
    expect(await holds(kit)).toBe(false);
  });

  it("ends after another boot where nobody says where the log ended", async () => {
    const { clock, store, ids } = await given();
    clock.reboot();
    expect(await holds(makeKit({ clock, store, ids, layers: [offering] }))).toBe(false);
  });
});

describe("a grant that a start found to be over", () => {
  it("stays so, though a later start sees a log that ends in events of the wrong clock", async () => {
    const made = world();
    const { clock, start } = made;
    await yes.grant(made);
    await clock.advance(1 * MINUTES);
    const lastEventMs = clock.now();
    clock.reboot();
    clock.jump(-30_000);
    await start({ lastEventMs }).gate.resume();
    expect(await holds(start({ lastEventMs: clock.now() }))).toBe(false);
  });
});

describe("a start that finds the wall clock behind the log", () => {
  it("ends no grant that is in time by the boot's clock", async () => {
    const made = world();
    await yes.grant(made);
    await made.clock.advance(1 * MINUTES);
    const lastEventMs = made.clock.now();
    made.clock.jump(-30_000);
    await made.start({ lastEventMs }).gate.resume();
    expect(await holds(made.start({ lastEventMs }))).toBe(true);
  });
});

describe("a start that cannot look at the grants", () => {
  it("shows the open questions again all the same", async () => {
    const { clock, store, start } = world();
    const before = start();
    await asPending(await before.gate.open(write, { agent })).defer();
    await before.settle();
    await before.gate.close();
    const list = (): Promise<never> => Promise.reject(new Error("disk on fire"));
    expect(
      await start({
        store: { ...store, grants: { ...store.grants, list } },
        lastEventMs: clock.now() + 1,
      }).gate.resume(),
    ).toBe(1);
  });
});

describe("a permit of a grant", () => {
  it("ends with the grant, by the clock of the boot", async () => {
    const made = world();
    await yes.grant(made);
    const kit = made.start();
    await made.clock.advance(5 * MINUTES - 10_000);
    made.clock.jump(-4 * MINUTES);
    const verdict = await kit.gate(write, { agent });
    expect(verdict).toMatchObject({ code: "grant_used" });
    await made.clock.advance(10_000);
    if (verdict.decision === "allow")
      expect(await kit.gate.perform(verdict, () => Promise.resolve(1))).toMatchObject({
        ran: false,
      });
  });

  it("ends where the wall clock goes behind the log and the grant is of another boot", async () => {
    const made = world();
    await yes.grant(made);
    made.clock.reboot();
    const kit = made.start({ lastEventMs: made.clock.now() });
    const verdict = await kit.gate(write, { agent });
    made.clock.jump(-1);
    if (verdict.decision !== "allow") throw new Error(verdict.code);
    expect(await kit.gate.perform(verdict, () => Promise.resolve(1))).toMatchObject({
      ran: false,
      verdict: { code: "permit_refused" },
    });
  });
});

describe("an open question", () => {
  it("ends in its time also for a gate that takes it over, whatever the wall clock says", async () => {
    const { clock, start } = world();
    const before = start({ layers: [] });
    await asPending(await before.gate.open(write, { agent })).defer();
    await before.settle();
    const question = first(before.shown);
    await before.gate.close();
    clock.jump(-6 * HOURS);
    await clock.advance(60_000);
    const kit = start({ layers: [] });
    expect(await kit.gate.resume()).toBe(1);
    await clock.advance(60_000);
    expect(
      await kit.gate.answer(reply(question, { decision: "approved" }), {
        channel: "test",
        subject: "local",
      }),
    ).toMatchObject({
      code: "request_ended",
    });
  });
});

describe("an answer", () => {
  it("is too late for a gate that shows the question to nobody, too, whatever the wall clock says", async () => {
    const { clock, store, start } = world();
    const disk = { isGone: false };
    const transition: Store["pending"]["transition"] = (...change) =>
      disk.isGone ? Promise.resolve(false) : store.pending.transition(...change);
    const before = start({
      layers: [],
      store: { ...store, pending: { ...store.pending, transition } },
    });
    await asPending(await before.gate.open(write, { agent })).defer();
    await before.settle();
    // Its own timer would end the question.
    disk.isGone = true;
    const claim = reply(first(before.shown), { decision: "approved" });
    await before.gate.close();
    clock.jump(-6 * HOURS);
    await clock.advance(2 * MINUTES);
    const kit = start({ layers: [] });
    expect(await kit.gate.answer(claim, { channel: "test", subject: "local" })).toMatchObject({
      code: "request_ended",
    });
  });
});

describe("timeLeftMs()", () => {
  const clock = { now: () => 1_000, bootId: () => "b", uptimeMs: () => 500 };
  const kept = { fromMs: 900, untilMs: 2_000, began: { bootId: "b", uptimeMs: 400 } };

  it("gives the earlier of both clocks in the same boot", () => {
    expect(timeLeftMs(kept, clock, undefined)).toBe(1_000);
    expect(timeLeftMs(kept, { ...clock, uptimeMs: () => 1_400 }, undefined)).toBe(100);
    expect(timeLeftMs(kept, { ...clock, now: () => 1_950 }, undefined)).toBe(50);
  });

  it.each<[string, Partial<typeof clock>, number | undefined]>([
    ["an uptime before the beginning", { uptimeMs: () => 399 }, undefined],
    ["an uptime that is no number", { uptimeMs: () => Number.NaN }, undefined],
    ["a wall clock that is no number", { now: () => Number.NaN }, undefined],
    ["another boot and nothing known of the log", { bootId: () => "c" }, undefined],
    [
      "another boot and a wall clock before the beginning",
      { bootId: () => "c", now: () => 899 },
      0,
    ],
    ["another boot and a log that is ahead", { bootId: () => "c" }, 1_001],
    ["another boot and a log that is no number", { bootId: () => "c" }, Number.NaN],
  ])("gives nothing for %s", (_what, change, lastEventMs) => {
    expect(timeLeftMs(kept, { ...clock, ...change }, lastEventMs)).toBe(0);
  });

  it("never gives more than the whole time", () => {
    expect(timeLeftMs(kept, { ...clock, now: () => 0 }, undefined)).toBe(1_000);
    expect(timeLeftMs({ ...kept, began: undefined }, clock, 1_000)).toBe(1_000);
  });
});
