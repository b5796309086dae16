/**
 * Answers that come at once, in every order that their operations on store and log can pass each
 * other, with a process that may die between any two of them. Depth first; a state is looked into
 * once. A world goes on by itself until it has to be begun again for another way.
 */
import { describe, expect, it } from "vitest";
import type { AnswerParts, AnswerReceipt, Policy } from "../src/index.js";
import { isDeep } from "../../../tools/deep.js";
import { parsePolicy } from "../src/policy.js";
import { checkWorld, spellings, stateOf } from "./space-laws.js";
import { inThread, makeWorld, settle, type World } from "./space-world.js";

type Decision = AnswerParts["decision"];

/** Something that is under way beside others. */
interface Work {
  readonly name: string;
  readonly begin: (world: World, receipts: AnswerReceipt[]) => void;
}

const says = (who: string, decision: Decision, again = ""): Work => ({
  name: `${who} ${decision}${again}`,
  begin: (world, receipts) => world.submit(0, who, decision, (receipt) => receipts.push(receipt)),
});
const [adaYes, bobYes, adaNo, bobNo, adaEdit, bobEdit] = [
  says("ada", "approved"),
  says("bob", "approved"),
  says("ada", "denied"),
  says("bob", "denied"),
  says("ada", "approved_with_modifications"),
  says("bob", "approved_with_modifications"),
] as const;
const adaYesAgain = says("ada", "approved", " again");
const expire: Work = { name: "expire", begin: (world) => world.advanceLater(121_000) };
const defer: Work = { name: "defer", begin: (world) => void world.defer(0) };
const withdraw: Work = {
  name: "withdraw",
  begin: (world) => void world.calls[0]?.pending?.withdraw("enough"),
};

/** One way: which of the waiting operations passes next, by its place. */
type Way = readonly number[];

interface Seen {
  readonly states: Set<string>;
  readonly afterwards: Set<string>;
  ends: number;
  released: number;
}

interface Reached {
  readonly world: World;
  readonly receipts: AnswerReceipt[];
}

async function reach(policy: Policy, works: readonly Work[], way: Way): Promise<Reached> {
  const world = makeWorld({ policy, calls: 1 });
  await world.ask(0);
  const receipts: AnswerReceipt[] = [];
  world.turnstile = { kind: "by hand" };
  for (const { name, begin } of works) inThread(name, () => begin(world, receipts));
  await settle();
  for (const place of way) {
    world.waiting[place]?.pass();
    await settle();
  }
  return { world, receipts };
}

const swap = (text: string): string =>
  text.replaceAll(/\b(?:ada|bob)\b/g, (who) => (who === "ada" ? "bob" : "ada"));

/**
 * A name for a state within `works`. Where those are the same for both people, they may change
 * places.
 */
function keyOf(world: World, works: readonly Work[]): string {
  const names = works
    .map(({ name }) => name)
    .toSorted()
    .join();
  const keys = spellings(world).map((state, at) => {
    const nameOf = at === 0 ? (text: string): string => text : swap;
    const told = [...world.history]
      .map(([name, each]) => nameOf(`${name}: ${each.join()}`))
      .toSorted();
    const waiting = world.waiting.map(({ thread, what }) => nameOf(`${thread} ${what}`)).toSorted();
    return JSON.stringify([names, state, told, waiting]);
  });
  const areAlike =
    works
      .map(({ name }) => swap(name))
      .toSorted()
      .join() === names;
  return (areAlike && !isDeep ? keys.toSorted()[0] : keys[0]) ?? "";
}

/**
 * The process dies here: what it left is taken up by the next one, which hears every answer again.
 */
async function dieAndGoOn(world: World, quorum: number): Promise<void> {
  world.crash();
  await world.restart();
  for (const decision of ["approved", "denied"] as const)
    for (const who of ["ada", "bob"]) await world.answer(0, who, decision);
  await world.retry(0);
  checkWorld(world, quorum);
}

async function explore(works: readonly Work[], quorum: number, seen: Seen): Promise<void> {
  const policy = parsePolicy({
    version: "1",
    rules: [{ match: { tool: "*" }, action: "ask", quorum, timeout: 120 }],
  });
  const ways: Way[] = [[]];
  /**
   * Looks at the world that `way` led to, and goes on in it: the other ways out of it are left for
   * later.
   */
  const follow = async ({ world, receipts }: Reached, way: Way): Promise<void> => {
    checkWorld(world, quorum);
    const key = `${quorum} ${keyOf(world, works)}`;
    if (seen.states.has(key)) return;
    seen.states.add(key);
    if (world.waiting.length === 0) return end(world, receipts);
    const left = stateOf(world);
    const isNews = !seen.afterwards.has(`${quorum} ${left}`);
    for (const place of world.waiting.keys()) if (isNews || place > 0) ways.push([...way, place]);
    if (isNews) {
      seen.afterwards.add(`${quorum} ${left}`);
      return dieAndGoOn(world, quorum);
    }
    world.waiting[0]?.pass();
    await settle();
    return follow({ world, receipts }, [...way, 0]);
  };
  const end = async (world: World, receipts: readonly AnswerReceipt[]): Promise<void> => {
    seen.ends++;
    if (world.released.length > 0) seen.released++;
    // One answer at most ended it. Whoever waits is told in time, also where a part of the gate
    // gave up waiting for another one.
    expect(receipts.filter(({ status }) => status === "final").length).toBeLessThanOrEqual(1);
    world.turnstile = { kind: "open" };
    for (let times = 0; times < 3; times++) await world.advance(301_000);
    checkWorld(world, quorum);
    expect(world.calls[0]?.state).not.toBe("waiting");
  };
  for (let way = ways.pop(); way !== undefined; way = ways.pop())
    await follow(await reach(policy, works, way), way);
}

/**
 * The same for whoever it is: ada and bob change places, and so do two answers alike of one of
 * them.
 */
function kindOf(works: readonly Work[]): string {
  const names = works.map(({ name }) => name.replace(" again", ""));
  return [names, names.map(swap)].map((each) => each.toSorted().join()).toSorted()[0] ?? "";
}

/**
 * All pairs of the first work with another, and of those that differ only in who is who one:
 * `npm run test:deep` takes all pairs of all works.
 */
function pairsOf(works: readonly Work[]): readonly (readonly Work[])[] {
  const pairs = (isDeep ? works : works.slice(0, 1)).flatMap((one, at) =>
    works.slice(at + 1).map((other): readonly Work[] => [one, other]),
  );
  return isDeep ? pairs : [...new Map(pairs.map((pair) => [kindOf(pair), pair])).values()];
}

const THREE = [
  [
    "three, two yes",
    [
      [adaYes, bobYes, expire],
      [adaYes, bobYes, bobNo],
    ],
    2,
  ],
] as const;

describe("answers at once, in every order", () => {
  it.each([
    [
      "two of ten, one yes",
      pairsOf([
        adaYes,
        adaYesAgain,
        bobYes,
        adaNo,
        bobNo,
        adaEdit,
        bobEdit,
        expire,
        defer,
        withdraw,
      ]),
      1,
    ],
    ["two of five, two yes", pairsOf([adaYes, bobYes, adaNo, bobEdit, expire]), 2],
    ...(isDeep ? THREE : []),
  ] as const)(
    "%s: at most one release, of what was approved, after it is durable",
    async (name, sets, quorum) => {
      const seen: Seen = { states: new Set(), afterwards: new Set(), ends: 0, released: 0 };
      for (const works of sets) await explore(works, quorum, seen);
      process.stdout.write(
        `${name}: ${seen.states.size} states, ${seen.ends} ends, ${seen.released} of them with a release\n`,
      );
      expect(seen.released).toBeGreaterThan(0);
      expect(seen.ends).toBeGreaterThan(seen.released);
    },
  );
});
