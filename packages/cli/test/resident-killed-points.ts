/**
 * One point of resident-killed.test.ts: calls are under way, the resident ends at its moment, clients
 * come back, and every call is judged.
 */
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { outcomeOf, ranIn } from "./resident-killed-people.js";
import type { Call } from "./resident-killed-people.js";
import { PASSPHRASE, finish, orderDeath, pass } from "./resident-killed-world.js";
import type { Death, How, KilledWorld, Load, Ordered } from "./resident-killed-world.js";
import { textOf } from "./resident-world.js";

/** When the resident ends, and what leads to it. */
export interface Moment {
  /** A moment of fixtures/die-at.cjs; from outside where there is none. */
  readonly at?: string;
  readonly of: Death["of"];
  /** What happens while calls are under way. */
  readonly during: "nothing" | "killed" | "handover" | "unlock";
  /** From outside: so long after the calls. */
  readonly afterMs?: number;
  /** What the log is like before. */
  readonly log?: "nearly full" | "two files full";
}

/** What was seen of one point. */
export interface Seen {
  /** Whether it ended where it was to. */
  readonly isHit: boolean;
  readonly calls: number;
  /** How many calls were told what. */
  readonly told: Readonly<Record<string, number>>;
  readonly ran: number;
  /** Of those that were told that nobody knows, how many ran. */
  readonly unknownRan: number;
  readonly wrong: readonly string[];
}

/** People begin to answer when all questions stand, or after this time: some clients wait then. */
const ASKED_MS = 5_000;
const LOOK_EVERY_MS = 10;
const PAD = 20_000;
/** A file is full at a mebibyte; a load writes the rest. */
const NEARLY_FULL_BYTES = 800_000;
/** Retention leaves what is newer than ten minutes. */
const PAST_MS = 1_200_000;

/** Lets the resident end at the moment. */
export async function endAt(
  world: KilledWorld,
  moment: Moment,
  how: How,
  load: Load,
): Promise<Seen> {
  for (const { child } of world.clients) child.kill("SIGUSR2");
  if (moment.log !== undefined) await fill(world, moment.log);
  const { calls, isHit, wrong } =
    moment.during === "unlock"
      ? await endUnlocking(world, moment, how)
      : await endCalling(world, moment, how, load);
  await world.resident();
  const ran = ranIn(world.at);
  const told: Record<string, number> = {};
  for (const outcome of calls.map(outcomeOf)) told[outcome] = (told[outcome] ?? 0) + 1;
  const isRun = ({ n }: Call): boolean => ran.has(String(n));
  const isUnknown = (call: Call): boolean => outcomeOf(call) === "outcome_unknown";
  const lost = told["outcome_unknown"] ?? 0;
  // Nothing is lost with one that goes on, but what is under way 10 s after it was to give way.
  const isWhole = how === "stop, then let go" && ["nothing", "unlock"].includes(moment.during);
  return {
    isHit,
    calls: calls.length,
    told,
    ran: calls.filter(isRun).length,
    unknownRan: calls.filter((call) => isUnknown(call) && isRun(call)).length,
    wrong: [
      ...wrong,
      ...world.people.judge(calls),
      ...(isWhole && lost > 0 ? [`${lost} calls of one that went on ended as unknown`] : []),
    ],
  };
}

interface Ended {
  readonly calls: readonly Call[];
  readonly isHit: boolean;
  readonly wrong: readonly string[];
}

const overOf = (calls: readonly Call[]): Promise<unknown> =>
  Promise.all(calls.map(({ over }) => over));

async function endCalling(
  world: KilledWorld,
  { at, of, during, afterMs = 0 }: Moment,
  how: How,
  load: Load,
): Promise<Ended> {
  const pid = await world.resident();
  const newer = during === "handover" ? await otherPlace(world, pid) : undefined;
  const ordered = at === undefined ? undefined : await orderDeath(world, { at, how, of }, pid);
  world.people.answer(false);
  const calls = world.call(load);
  const all = overOf(calls);
  const asking = untilAsked(world, load, all).then(() => world.people.answer(true));
  const more: Call[] = [];
  if (ordered === undefined) {
    await wait(afterMs);
    await finish(pid, how);
  } else if (during === "killed") {
    await wait(afterMs);
    await finish(pid, "kill");
  } else if (newer !== undefined) more.push(...(await come(world, newer)));
  await all;
  await asking;
  // The last thing that it sends may be where it ends, or what it does next without clients.
  if (ordered !== undefined) await Promise.race([ordered.hit, wait(LATE_MS)]);
  const isHit = ordered === undefined || (await ordered.end());
  return { calls: [...calls, ...more], isHit, wrong: [] };
}

/** Between calls of clients that are told that the key is locked. */
const LOCKED_MS = 100;
/** What follows the last call. */
const LATE_MS = 1_000;

async function untilAsked(world: KilledWorld, load: Load, all: Promise<unknown>): Promise<void> {
  let isOver = false;
  void all.then(() => (isOver = true));
  const endMs = performance.now() + ASKED_MS;
  const wanted = load.asks * world.clients.length;
  while (!isOver && world.people.open() < wanted && performance.now() < endMs)
    await wait(LOOK_EVERY_MS);
}

/** The installation that the resident is not of, with a newer version in it. */
async function otherPlace(world: KilledWorld, pid: number): Promise<string> {
  const words = readFileSync(`/proc/${pid}/cmdline`, "utf8");
  const [one, two] = world.places;
  const other = words.includes(one.bin) ? two : one;
  await other.become(`1.${world.number()}.0`);
  return other.bin;
}

/** A client of a newer version comes, has one call done, and goes. */
async function come(world: KilledWorld, bin: string): Promise<readonly Call[]> {
  const calls: Call[] = [];
  const name = `new-${world.number()}`;
  await using client = await world.client({ bin, args: ["--agent", name] });
  for (;;) {
    const [n, id] = [world.number(), client.nextId()];
    const over = client.call("act", { n });
    const call = { n, isAsk: false, answers: () => client.answers.get(id) ?? [], over };
    calls.push(call);
    if (textOf(await over) === String(n)) return calls;
    await wait(100);
  }
}

/** Calls with much text fill the log, and become old enough for retention to remove them. */
async function fill(world: KilledWorld, how: Moment["log"]): Promise<void> {
  const { at, clients, number } = world;
  const isFull = (): boolean => {
    const names = readdirSync(at.home).filter((name) => /^audit\.jsonl\.\d+$/.test(name));
    const { size } = statSync(join(at.home, "audit.jsonl"));
    return how === "nearly full" ? size > NEARLY_FULL_BYTES : names.length > 1;
  };
  for (let turn = 0; !isFull(); turn++) {
    const n = number();
    const answer = await clients[turn % clients.length]?.call("act", { n, pad: "x".repeat(PAD) });
    if (answer === undefined || textOf(answer) !== String(n)) await wait(100);
  }
  await pass(world, await world.resident(), PAST_MS);
}

/** One call of each client, all of which have to be told the same. */
async function wave(world: KilledWorld, want: string): Promise<Ended> {
  const calls = world.call({ asks: 0, acts: 1 });
  await overOf(calls);
  const others = calls.map(outcomeOf).filter((each) => each !== want);
  return { calls, isHit: false, wrong: others.map((each) => `told ${each}, not ${want}`) };
}

/** Unlocks it, however long another passphrase is being tried. */
async function unlock(world: KilledWorld): Promise<void> {
  for (;;) {
    const told = await world.ask({ ask: "unlock", passphrase: PASSPHRASE });
    if (typeof told !== "string" && told["unlocked"] === true) return;
    await wait(LOOK_EVERY_MS);
  }
}

/** People unlock it, and while they do, and after it, clients call. */
async function endUnlocking(
  world: KilledWorld,
  { at, of, afterMs = 0 }: Moment,
  how: How,
): Promise<Ended> {
  await world.ask({ ask: "lock" });
  const pid = await world.resident();
  const before = await wave(world, "key_locked");
  const ordered =
    at === undefined ? outside(pid, how, afterMs) : await orderDeath(world, { at, how, of }, pid);
  world.people.answer(true);
  void world.ask({ ask: "unlock", passphrase: PASSPHRASE });
  const calls: Call[] = [];
  let isHit: boolean | undefined;
  void ordered.hit.then((found) => (isHit = found));
  for (let done = 0; isHit === undefined && done < 2; ) {
    const some = world.call({ asks: 2, acts: 1 });
    await overOf(some);
    calls.push(...some);
    if (some.every((call) => outcomeOf(call) !== "key_locked")) done += 1;
    await wait(LOCKED_MS);
  }
  const found = await ordered.end();
  const after = how === "stop, then let go" || !found ? [] : [await expectLocked(world)];
  await unlock(world);
  const last = await untilDone(world);
  const all = [before, ...after, last];
  return {
    calls: [...calls, ...all.flatMap((each) => each.calls)],
    isHit: found,
    wrong: all.flatMap((each) => each.wrong),
  };
}

/** The same for one that is ended from outside. */
function outside(pid: number, how: How, afterMs: number): Ordered {
  const hit = wait(afterMs)
    .then(() => finish(pid, how))
    .then(() => true);
  return { hit, end: () => hit };
}

/** The next resident has inherited nothing. */
async function expectLocked(world: KilledWorld): Promise<Ended> {
  await world.resident();
  const status = await world.ask({ ask: "status" });
  const until = typeof status === "string" ? status : status["unlocked_until"];
  const { calls, wrong } = await wave(world, "key_locked");
  const wrongNow = until === null ? [] : [`after it ended it was unlocked until ${String(until)}`];
  return { calls, isHit: true, wrong: [...wrong, ...wrongNow] };
}

/** What a client may be told before its next session is open. */
const PASSING: ReadonlySet<string> = new Set(["done", "key_locked", "resident_unavailable"]);

/** Clients open their next sessions while the key is unlocked. */
async function untilDone(world: KilledWorld): Promise<Ended> {
  const calls: Call[] = [];
  for (;;) {
    const some = await wave(world, "done");
    calls.push(...some.calls);
    if (some.wrong.length === 0) return { calls, isHit: false, wrong: [] };
    const others = some.calls.map(outcomeOf).filter((outcome) => !PASSING.has(outcome));
    if (others.length > 0) return { calls, isHit: false, wrong: some.wrong };
    await wait(LOCKED_MS);
  }
}
