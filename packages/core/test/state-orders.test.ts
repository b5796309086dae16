/**
 * Answers that come at once, in every order that their operations on store and log can pass each other, with a process that may die between any
 * two of them. Depth first; a state is looked into once.
 */
import { describe, expect, it } from "vitest";
import type { AnswerParts, AnswerReceipt, Policy } from "../src/index.js";
import { parsePolicy } from "../src/policy.js";
import { checkWorld, stateOf } from "./space-laws.js";
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
const withdraw: Work = { name: "withdraw", begin: (world) => void world.calls[0]?.pending?.withdraw("enough") };

/** One way: which of the waiting operations passes next, by its place. */
type Way = readonly number[];

interface Seen {
  readonly states: Set<string>;
  readonly afterwards: Set<string>;
  ends: number;
  released: number;
}

async function reach(
  policy: Policy,
  works: readonly Work[],
  way: Way,
): Promise<{ readonly world: World; readonly receipts: AnswerReceipt[] }> {
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

function keyOf(world: World): string {
  const told = [...world.history].map(([name, each]) => `${name}: ${each.join()}`).toSorted();
  return JSON.stringify([stateOf(world), told, world.waiting.map(({ thread, what }) => `${thread} ${what}`).toSorted()]);
}

/** The process dies here: what it left is taken up by the next one, which hears every answer again. */
async function dieAndGoOn(world: World, quorum: number): Promise<void> {
  world.crash();
  await world.restart();
  for (const decision of ["approved", "denied"] as const) for (const who of ["ada", "bob"]) await world.answer(0, who, decision);
  await world.retry(0);
  checkWorld(world, quorum);
}

async function explore(works: readonly Work[], quorum: number, seen: Seen): Promise<void> {
  const policy = parsePolicy({ version: "1", rules: [{ match: { tool: "*" }, action: "ask", quorum, timeout: 120 }] });
  const ways: Way[] = [[]];
  for (let way = ways.pop(); way !== undefined; way = ways.pop()) {
    const { world, receipts } = await reach(policy, works, way);
    checkWorld(world, quorum);
    const key = `${works.map(({ name }) => name).join()} ${quorum} ${keyOf(world)}`;
    if (seen.states.has(key)) continue;
    seen.states.add(key);
    if (world.waiting.length === 0) {
      seen.ends++;
      if (world.released.length > 0) seen.released++;
      // One answer at most ended it. Whoever waits is told in time, also where a part of the gate gave up waiting for another one.
      expect(receipts.filter(({ status }) => status === "final").length).toBeLessThanOrEqual(1);
      world.turnstile = { kind: "open" };
      for (let times = 0; times < 3; times++) await world.advance(301_000);
      checkWorld(world, quorum);
      expect(world.calls[0]?.state).not.toBe("waiting");
      continue;
    }
    for (const place of world.waiting.keys()) ways.push([...way, place]);
    const left = stateOf(world);
    if (seen.afterwards.has(`${quorum} ${left}`)) continue;
    seen.afterwards.add(`${quorum} ${left}`);
    await dieAndGoOn(world, quorum);
  }
}

const pairsOf = (works: readonly Work[]): readonly (readonly Work[])[] =>
  works.flatMap((one, at) => works.slice(at + 1).map((other) => [one, other]));

describe("answers at once, in every order", () => {
  it.each([
    ["two of ten, one yes", pairsOf([adaYes, adaYesAgain, bobYes, adaNo, bobNo, adaEdit, bobEdit, expire, defer, withdraw]), 1],
    ["two of five, two yes", pairsOf([adaYes, bobYes, adaNo, bobEdit, expire]), 2],
    [
      "three, two yes",
      [
        [adaYes, bobYes, bobNo],
        [adaYes, bobYes, expire],
      ],
      2,
    ],
  ] as const)(
    "%s: at most one release, of what was approved, after it is durable",
    async (name, sets, quorum) => {
      const seen: Seen = { states: new Set(), afterwards: new Set(), ends: 0, released: 0 };
      for (const works of sets) await explore(works, quorum, seen);
      process.stdout.write(`${name}: ${seen.states.size} states, ${seen.ends} ends, ${seen.released} of them with a release\n`);
      expect(seen.released).toBeGreaterThan(0);
      expect(seen.ends).toBeGreaterThan(seen.released);
    },
    300_000,
  );
});
