import type { AuditSink } from "@acp/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { claimsOf, clientName, createBudgets, isUnderWay } from "./budgets.js";
import type { Budgets, Share } from "./budgets.js";
import { LIMITS } from "./limits.js";

const share = (budgets: Budgets, name: string): Share => {
  const opened = budgets.open(name);
  if (typeof opened === "string") throw new Error(opened);
  return opened;
};
const call = (bytes = 1): { bytes: number; isCall: boolean } => ({ bytes, isCall: true });
const event = (bytes: number, agent = "x") =>
  [{ agent, metadata: { text: "x".repeat(bytes) } }] as never;
const FULL = new Error("the disk is full");
const sink = { append: async () => ({ seq: 0, hash: "" }) };

describe("sessions", () => {
  it("of one client are bounded, and a second one gets in", () => {
    const budgets = createBudgets(() => 0);
    for (let n = 0; n < LIMITS.sessionsOfOne; n++) share(budgets, "a");
    expect(budgets.open("a")).toContain("one client may have");
    share(budgets, "b");
  });

  it("always have a place for a client that has none, while fewer than the reserve came as such", () => {
    const names = fc.constantFrom("a", "b", "c", "d", "e");
    const step = fc.record({ name: names, ends: fc.nat(9).map((n) => n === 0), at: fc.nat(80) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const budgets = createBudgets(() => 0, { ...LIMITS, starts: 1_000_000 });
        const open: { readonly name: string; readonly share: Share }[] = [];
        for (const { name, ends, at } of steps) {
          const [ended] = ends ? open.splice(at % Math.max(1, open.length), 1) : [];
          ended?.share[Symbol.dispose]();
          const opened = budgets.open(name);
          if (typeof opened !== "string") open.push({ name, share: opened });
          // Five clients cannot use the reserve of sixteen up.
          expect(open.some((each) => each.name === name)).toBe(true);
          expect(open.length).toBeLessThanOrEqual(LIMITS.sessions);
          const newcomer = budgets.open("newcomer");
          expect(typeof newcomer).not.toBe("string");
          if (typeof newcomer !== "string") newcomer[Symbol.dispose]();
        }
      }),
    );
  });

  it("keep the last places for clients that have none, however many of others want them", () => {
    const budgets = createBudgets(() => 0);
    const got = ["a", "b", "c"].map(
      (name) =>
        Array.from({ length: LIMITS.sessions }, () => budgets.open(name)).filter(
          (opened) => typeof opened !== "string",
        ).length,
    );
    // The third one is new once.
    expect(got).toEqual([32, 16, 1]);
    for (let n = 1; n < LIMITS.sessionsForNew; n++) share(budgets, `new-${n}`);
    expect(budgets.open("one more")).toContain("64 sessions");
  });

  it("that one client begins and ends without pause are refused, and no other client's", () => {
    let nowMs = 0;
    const budgets = createBudgets(() => nowMs);
    for (let n = 0; n < LIMITS.starts; n++) share(budgets, "a")[Symbol.dispose]();
    expect(budgets.open("a")).toContain("has begun 128 sessions within a minute");
    share(budgets, "b");
    nowMs = 1_000;
    for (let n = 0; n < 2; n++) share(budgets, "a")[Symbol.dispose]();
    expect(budgets.open("a")).toContain("within a minute");
    nowMs = 120_000;
    for (let n = 0; n < LIMITS.starts; n++) share(budgets, "a")[Symbol.dispose]();
  });

  it("that one client starts wait for each other, and for no other client's", async () => {
    const budgets = createBudgets(() => 0, { ...LIMITS, startsAtOnce: 1 });
    const [one, two, three] = [share(budgets, "a"), share(budgets, "a"), share(budgets, "b")];
    await Promise.all([one.turn(), three.turn()]);
    let isIn = false;
    const waiting = two.turn().then(() => (isIn = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(isIn).toBe(false);
    one[Symbol.dispose]();
    await waiting;
  });

  it("of one agent that names many parents, or one parent that names many agents, leave others some", () => {
    const budgets = createBudgets(() => 0);
    const ask = (agent: string, parent: number) =>
      budgets.open(clientName(agent, parent), claimsOf(agent, parent));
    const got = Array.from({ length: LIMITS.sessions }, (_, n) => ask("a", n));
    expect(got.filter((each) => typeof each !== "string")).toHaveLength(LIMITS.sessionsOfClaim);
    expect(got.at(-1)).toContain('clients of agent "a" have 56 sessions');
    expect(ask("b", 100)).not.toBeTypeOf("string");
    for (const each of got) if (typeof each !== "string") each[Symbol.dispose]();
    const others = Array.from({ length: LIMITS.sessions }, (_, n) => ask(`a${n}`, 1));
    expect(others.at(-1)).toContain("clients of process 1 have 56 sessions");
    expect(ask("a0", 2)).not.toBeTypeOf("string");
  });

  it("are counted again where they end, once", () => {
    const budgets = createBudgets(() => 0, { ...LIMITS, sessions: 1, sessionsForNew: 0 });
    const first = share(budgets, "a");
    expect(budgets.open("b")).toContain("1 sessions");
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    share(budgets, "b");
    expect(budgets.open("c")).toContain("1 sessions");
  });
});

describe("calls, bytes and questions", () => {
  it("are those of all sessions of a client, and no other client's", () => {
    const budgets = createBudgets(() => 0);
    const [one, two, other] = [share(budgets, "a"), share(budgets, "a"), share(budgets, "b")];
    const places = Array.from({ length: LIMITS.calls }, (_, n) =>
      (n % 2 === 0 ? one : two).roomOf("x").enter(call()),
    );
    expect(places.filter((place) => "full" in place)).toEqual([]);
    expect(two.roomOf("x").enter(call())).toEqual({
      full: `this client has ${LIMITS.calls} calls under way`,
    });
    expect(two.roomOf("x").enter({ bytes: 1, isCall: false })).not.toHaveProperty("full");
    expect(other.roomOf("x").enter(call())).not.toHaveProperty("full");
    const [first] = places;
    if (first !== undefined && "leave" in first) first.leave();
    expect(two.roomOf("x").enter(call())).not.toHaveProperty("full");
  });

  it("have a limit of bytes, which also other requests keep", () => {
    const requestRoom = share(
      createBudgets(() => 0),
      "a",
    ).roomOf("x");
    expect(requestRoom.enter({ bytes: LIMITS.bytes, isCall: false })).not.toHaveProperty("full");
    for (const isCall of [true, false])
      expect(requestRoom.enter({ bytes: 1, isCall })).toHaveProperty("full");
  });

  it("are given back by the end of the session that took them, and by nothing after it", () => {
    const budgets = createBudgets(() => 0);
    const [one, two] = [share(budgets, "a"), share(budgets, "a")];
    for (let n = 0; n < LIMITS.questions; n++) one.questionRoom.count(1, "x");
    const place = one.roomOf("x").enter(call(LIMITS.bytes));
    expect(two.questionRoom.full("x")).toContain("open questions");
    expect(two.roomOf("x").enter(call())).toHaveProperty("full");
    one[Symbol.dispose]();
    one.questionRoom.count(-1, "x");
    if ("leave" in place) place.leave();
    expect(two.usage()).toEqual({
      sessions: 1,
      questions: 0,
      requests: 0,
      calls: 0,
      bytes: 0,
      writes: 0,
      log_bytes: 0,
    });
    expect(two.questionRoom.full("x")).toBeUndefined();
  });
});

it("a room is shared while another client has calls under way, and for a second after", () => {
  let nowMs = 0;
  const budgets = createBudgets(() => nowMs);
  const [one, again, two] = [share(budgets, "a"), share(budgets, "a"), share(budgets, "b")];
  const rooms = [one, again, two].map(({ roomOf }) => roomOf("x"));
  const shared = () => rooms.map((room) => room.isShared());
  expect(shared()).toEqual([false, false, false]);
  const place = one.roomOf("x").enter(call());
  expect(shared()).toEqual([false, false, true]);
  two.roomOf("x").enter(call());
  expect(shared()).toEqual([true, true, true]);
  nowMs = 5_000;
  if ("leave" in place) place.leave();
  nowMs = 5_999;
  expect(shared()).toEqual([true, true, true]);
  nowMs = 6_000;
  expect(shared()).toEqual([true, true, false]);
});

describe("the log", () => {
  it("takes so much of one client a minute, also over the end of its sessions", async () => {
    let nowMs = 0;
    const budgets = createBudgets(() => nowMs);
    const first = share(budgets, "a");
    await first.counted(sink).append(event(LIMITS.logBytes));
    expect(first.roomOf("x").enter(call())).toHaveProperty("full");
    expect(first.roomOf("x").enter({ bytes: 1, isCall: false })).not.toHaveProperty("full");
    expect(share(budgets, "b").roomOf("x").enter(call())).not.toHaveProperty("full");
    first[Symbol.dispose]();
    const again = share(budgets, "a");
    expect(again.roomOf("x").enter(call())).toHaveProperty("full");
    nowMs = 1_000;
    expect(again.roomOf("x").enter(call())).not.toHaveProperty("full");
    nowMs = 120_000;
    expect(again.usage().log_bytes).toBe(0);
  });

  it("takes more of a client while there is room for all, which clients share", async () => {
    const budgets = createBudgets(
      () => 0,
      LIMITS,
      () => 32 * LIMITS.logBytes,
    );
    const [one, two] = [share(budgets, "a"), share(budgets, "b")];
    const isFull = ({ roomOf }: typeof one): boolean => "full" in roomOf("x").enter(call());
    await one.counted(sink).append(event(LIMITS.logBytes));
    expect(isFull(one)).toBe(false);
    await one.counted(sink).append(event(LIMITS.logBytes));
    expect(isFull(one)).toBe(false);
    await two.counted(sink).append(event(LIMITS.logBytes / 2));
    await one.counted(sink).append(event(LIMITS.logBytes));
    expect(isFull(one)).toBe(true);
    // What a client may have by itself nobody else takes.
    expect(isFull(two)).toBe(false);
    await two.counted(sink).append(event(LIMITS.logBytes / 2));
    expect(isFull(two)).toBe(true);
  });

  it("takes no more of a client where the home keeps little", async () => {
    const budgets = createBudgets(
      () => 0,
      LIMITS,
      () => 32 * LIMITS.logBytes,
    );
    const one = share(budgets, "a");
    await one.counted(sink, 1_600).append(event(LIMITS.logBytes));
    await one.counted(sink).append(event(100));
    expect(one.roomOf("x").enter(call())).toHaveProperty("full");
  });

  it("lets what may wait take no turn from what may not", async () => {
    const budgets = createBudgets(() => 0, { ...LIMITS, writesAtOnce: 1 });
    const log: unknown[] = [];
    const ends: (() => void)[] = [];
    const slow: AuditSink = {
      append(_events, terms) {
        log.push(terms);
        return new Promise((resolve) => ends.push(() => resolve({ seq: 0, hash: "" })));
      },
    };
    const counted = share(budgets, "a").counted(slow);
    const later = counted.append(event(1), { mayWait: true });
    const [now, next] = [counted.append(event(1)), counted.append(event(1))];
    await expect.poll(() => log).toEqual([{ mayWait: true }, undefined]);
    ends[1]?.();
    await now;
    await expect.poll(() => log).toHaveLength(3);
    for (const end of ends) end();
    await Promise.all([later, next]);
  });

  it("is under way for as long as something of a client waits to be in it", async () => {
    const own = share(
      createBudgets(() => 0),
      "a",
    );
    expect([isUnderWay(undefined), isUnderWay(own.usage())]).toEqual([false, false]);
    let end: (() => void) | undefined;
    const slow = { append: () => new Promise<never>((_, reject) => (end = () => reject(FULL))) };
    const written = own.counted(slow).append(event(1));
    await expect.poll(() => end).toBeDefined();
    expect(isUnderWay(own.usage())).toBe(true);
    end?.();
    await expect(written).rejects.toThrow(FULL);
    expect(isUnderWay(own.usage())).toBe(false);
    own.questionRoom.count(1, "x");
    own.roomOf("x").enter(call());
    expect(isUnderWay(own.usage())).toBe(false);
    own.roomOf("x").enter(call());
    expect(isUnderWay(own.usage())).toBe(true);
  });

  it("is written by one client so much at a time, and by another one meanwhile", async () => {
    const budgets = createBudgets(() => 0);
    const written: (() => void)[] = [];
    const log: string[] = [];
    const slow = {
      append: async () => {
        await new Promise<void>((resolve) => written.push(resolve));
        return { seq: 0, hash: "" };
      },
    };
    // Two sessions of the one.
    const sinks = ["a", "a", "b"].map((name) => share(budgets, name).counted(slow));
    const write = (at: number, name: string): void =>
      void sinks[at]?.append(event(1)).then(() => log.push(name));
    const settle = () => new Promise((resolve) => setImmediate(resolve));
    for (let n = 0; n < 3 * LIMITS.writesAtOnce; n++) write(n % 2, "a");
    await settle();
    expect(written).toHaveLength(LIMITS.writesAtOnce);
    write(2, "b");
    await settle();
    // What is written together has as much of the one as may be, and the other's.
    expect(written).toHaveLength(LIMITS.writesAtOnce + 1);
    for (const go of written.splice(0)) go();
    await settle();
    expect(log.filter((name) => name === "b")).toHaveLength(1);
    expect(written).toHaveLength(LIMITS.writesAtOnce);
  });

  it("is written by one client less at a time while another one has calls under way", async () => {
    const budgets = createBudgets(() => 0);
    const written: (() => void)[] = [];
    const slow = {
      append: async () => {
        await new Promise<void>((resolve) => written.push(resolve));
        return { seq: 0, hash: "" };
      },
    };
    const [one, other] = ["a", "b"].map((name) => share(budgets, name));
    const settle = () => new Promise((resolve) => setImmediate(resolve));
    one?.roomOf("x").enter(call());
    const place = other?.roomOf("x").enter(call());
    const counted = one?.counted(slow);
    for (let n = 0; n < 3 * LIMITS.writesAtOnce; n++) void counted?.append(event(1));
    await settle();
    expect(written).toHaveLength(LIMITS.writesBesideOthers);
    if (place !== undefined && "leave" in place) place.leave();
    written.pop()?.();
    await settle();
    expect(written).toHaveLength(LIMITS.writesAtOnce);
  });

  it("gets long entries one in a turn of the event loop, and short ones meanwhile", async () => {
    const one = share(
      createBudgets(() => 0),
      "a",
    );
    const log: string[] = [];
    const told = (name: string) => ({
      append: async () => (log.push(name), { seq: 0, hash: "" }),
    });
    const all = [1, 2, 3].map((n) => one.counted(told(`long ${n}`)).append(event(100_000)));
    const short = one.counted(told("short")).append(event(10));
    let turns = 0;
    const count = (): void => void (log.push(`turn ${++turns}`), turns < 20 && setImmediate(count));
    count();
    await Promise.all([...all, short]);
    expect(log[0]).toBe("turn 1");
    expect(log[1]).toBe("short");
    const at = [1, 2, 3].map((n) => log.indexOf(`long ${n}`));
    for (const [index, from] of at.slice(0, -1).entries())
      expect(log.slice(from, at[index + 1]).some((each) => each.startsWith("turn"))).toBe(true);
  });

  it("that fails gives the place to the next", async () => {
    const one = share(
      createBudgets(() => 0, { ...LIMITS, writesAtOnce: 1 }),
      "a",
    );
    const failing = one.counted({ append: () => Promise.reject(new Error("full")) });
    const all = [failing.append(event(1)), failing.append(event(1))];
    expect(await Promise.allSettled(all)).toMatchObject([
      { status: "rejected" },
      { status: "rejected" },
    ]);
  });

  it("tells once a minute that a client reached a limit", () => {
    let nowMs = 0;
    const one = share(
      createBudgets(() => nowMs, { ...LIMITS, questions: 0 }),
      "a",
    );
    const told: string[] = [];
    one.onFull((why) => told.push(why));
    for (let n = 0; n < 3; n++) one.questionRoom.full("x");
    expect(told).toHaveLength(1);
    nowMs = 60_000;
    one.questionRoom.full("x");
    expect(told).toHaveLength(2);
  });
});

it("clientName() tells agents and parents apart", () => {
  expect(new Set([clientName("a", 1), clientName("a", 2), clientName("b", 1)]).size).toBe(3);
  expect(clientName("a", 1)).toBe(clientName("a", 1));
});
