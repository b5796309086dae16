/**
 * The whole state space of small worlds, not a sample of it: real gates over a store and a log that
 * survive them. Breadth first; a state is looked into once, reached by its shortest way, which is
 * played again from the start for each step out of it that leads elsewhere. Of steps that cannot
 * differ one is taken: people and calls that are alike here, deaths that leave the same behind; and
 * the way ends at the states that the fewest steps reach. `npm run test:deep` takes them all.
 */
import { describe, expect, it } from "vitest";
import type { AnswerReceipt, Policy } from "../src/index.js";
import { isDeep } from "../../../tools/deep.js";
import { parsePolicy } from "../src/policy.js";
import { areCallsAlike, arePeopleAlike, checkStep, checkWorld, stateOf } from "./space-laws.js";
import { AGENT, makeWorld, type Operation, PEOPLE, type World } from "./space-world.js";

/** Where the quick lane stops. What is wrong shows in few steps, or in none. */
const STATES_MAX = isDeep ? Infinity : 30;

/** Something that can happen. */
interface Step {
  readonly name: string;
  /** Whether it can happen now. */
  readonly when?: (world: World) => boolean;
  readonly happen: (world: World) => Promise<unknown>;
  /** Done by somebody who may change nothing. */
  readonly byNobody?: boolean;
  /**
   * Who does it, and to which call: the same step of somebody alike leads to a state that is alike.
   */
  readonly who?: string;
  readonly index?: number;
}

const DECISIONS = ["approved", "denied", "approved_with_modifications"] as const;
const isUp = ({ process }: World): boolean => process !== undefined;

function checkReceipt(
  world: World,
  index: number,
  receipt: AnswerReceipt | undefined,
  isStranger: boolean,
): void {
  if (receipt === undefined || world.process === undefined) return;
  expect(receipt.status).toBe("refused");
  // A stranger may be told that they are one.
  if (isStranger && receipt.status === "refused" && receipt.code === "approver_unknown") return;
  // A late answer is told how the question ended, and does nothing.
  expect(receipt).toMatchObject({ status: "refused", code: "request_ended" });
  const status = world.record(index)?.end?.status;
  const words = {
    approved: "approved",
    approved_with_modifications: "with changes",
    denied: "denied",
    expired: "in time",
    cancelled: "withdrawn",
  };
  const label =
    world.record(index)?.end?.recorded === true && status !== undefined && status in words
      ? words[status as keyof typeof words]
      : "";
  expect(receipt.status === "refused" ? receipt.reason : "").toContain(label);
}

async function answer(
  world: World,
  index: number,
  ...[who, decision, nonceOf]: readonly [string, (typeof DECISIONS)[number], number?]
): Promise<void> {
  const wasOver = world.record(index)?.status === "ended";
  const receipt = await world.answer(index, who, decision, nonceOf);
  if (wasOver)
    checkReceipt(world, index, receipt, ![...PEOPLE, AGENT.id].some((known) => known === who));
}

/**
 * Everything that can happen with so many calls. Duplicates are the same step again, and every
 * order of steps is a way of its own.
 */
function stepsFor(calls: number): readonly Step[] {
  const each = Array.from({ length: calls }, (_, index) => index);
  return [
    ...each.flatMap((index): readonly Step[] => [
      {
        name: `ask ${index}`,
        index,
        when: (world) => isUp(world) && world.calls[index]?.state === "none",
        happen: (world) => world.ask(index),
      },
      {
        name: `defer ${index}`,
        index,
        when: (world) => world.calls[index]?.state === "waiting",
        happen: (world) => world.defer(index),
      },
      {
        name: `retry ${index}`,
        index,
        when: (world) =>
          isUp(world) && ["deferred", "over", "gone"].includes(world.calls[index]?.state ?? ""),
        happen: (world) => world.retry(index),
      },
      ...PEOPLE.flatMap((who) =>
        DECISIONS.map(
          (decision): Step => ({
            name: `${who}: ${decision} ${index}`,
            who,
            index,
            when: isUp,
            happen: (world) => answer(world, index, who, decision),
          }),
        ),
      ),
      ...(calls === 1 ? ["mallory", AGENT.id, ""] : ["mallory"]).map(
        (who): Step => ({
          name: `${who}: approved ${index}`,
          who,
          index,
          when: isUp,
          happen: (world) => answer(world, index, who, "approved"),
          byNobody: true,
        }),
      ),
      ...(calls === 1
        ? []
        : [
            {
              name: `ada: approved ${index} with another nonce`,
              who: "ada",
              index,
              when: isUp,
              happen: (world: World) =>
                answer(world, index, "ada", "approved", (index + 1) % calls),
              byNobody: true,
            },
          ]),
    ]),
    // Past the end of every question; with one call then past the time for which a decision is
    // kept.
    {
      name: "expire",
      when: ({ phase }) => phase < (calls === 1 ? 2 : 1),
      happen: (world) => world.advance(world.phase === 0 ? 121_000 : 301_000),
    },
    { name: "crash", when: isUp, happen: (world) => Promise.resolve(world.crash()) },
    { name: "restart", when: (world) => !isUp(world), happen: (world) => restart(world) },
  ];
}

/** What is open is shown again, and nothing else; what is out of time is ended. */
async function restart(world: World): Promise<void> {
  const wasOpen = new Set(
    world.records().flatMap(({ id, status }) => (status === "ended" ? [] : [id])),
  );
  const redelivered = await world.restart();
  const open = world.records().filter(({ status }) => status !== "ended");
  expect([...redelivered].toSorted()).toEqual(open.map(({ id }) => id).toSorted());
  for (const { request } of open) expect(request.expiresAtMs).toBeGreaterThan(world.now());
  for (const { id, status, end } of world.records())
    if (wasOpen.has(id) && status === "ended") expect(end?.status).toBe("expired");
}

interface Explored {
  readonly states: number;
  readonly steps: number;
  readonly released: number;
}

interface Space {
  readonly policy: Policy;
  readonly calls: number;
  readonly quorum: number;
  /** Whether a process may also die inside of a step, at each of its operations. */
  readonly diesInside: boolean;
}

/** A step, at which operation the process dies in it, and whether that one still had its effect. */
interface Move {
  readonly step: Step;
  readonly dies?: { readonly at: number; readonly applied: boolean };
}

async function play(world: World, { step, dies }: Move): Promise<void> {
  world.operations.length = 0;
  world.turnstile = dies === undefined ? { kind: "open" } : { kind: "dies", ...dies };
  await step.happen(world);
  world.turnstile = { kind: "open" };
}

/** Where a process can die in a step: before each operation and after it. */
function deathsIn(operations: readonly Operation[]): readonly NonNullable<Move["dies"]>[] {
  return operations.flatMap(({ what, released }, place) => {
    const at = place + 1;
    // Before an operation is after the last one, unless something was released in between; who read
    // left nothing behind.
    const isNews = isDeep || place === 0 || operations[place - 1]?.released !== released;
    const isWrite = isDeep || (what !== "get" && what !== "find");
    return [
      ...(isNews ? [{ at, applied: false }] : []),
      ...(isWrite ? [{ at, applied: true }] : []),
    ];
  });
}

/** Whether another step that is taken here leads to a state that is alike. */
function isLikeAnother(world: World, { who, index }: Step): boolean {
  if (isDeep) return false;
  return (who === "bob" && arePeopleAlike(world)) || (index === 1 && areCallsAlike(world));
}

async function explore(space: Space): Promise<Explored> {
  const steps = stepsFor(space.calls);
  const reach = async (moves: readonly Move[]): Promise<World> => {
    const world = makeWorld(space);
    for (const move of moves) await play(world, move);
    return world;
  };
  const queue: (readonly Move[])[] = [[]];
  const seen = new Set([stateOf(await reach([]))]);
  let [taken, released] = [0, 0];
  const look = async (world: World, path: readonly Move[], move: Move): Promise<void> => {
    const before = world.records();
    await play(world, move);
    taken++;
    try {
      checkWorld(world, space.quorum);
      checkStep(before, world.records(), move.step.byNobody === true && move.dies === undefined);
    } catch (error) {
      throw new Error(
        [...path, move]
          .map(
            ({ step, dies }) =>
              `${step.name}${dies === undefined ? "" : ` ${JSON.stringify(dies)}`}`,
          )
          .join(" → "),
        { cause: error },
      );
    }
    const state = stateOf(world);
    if (seen.has(state)) return;
    seen.add(state);
    if (world.released.length > 0) released++;
    queue.push([...path, move]);
  };
  for (
    let path = queue.shift();
    path !== undefined && (seen.size < STATES_MAX || released === 0);
    path = queue.shift()
  ) {
    let here = await reach(path);
    const state = stateOf(here);
    const possible = steps.filter(
      (step) => step.when?.(here) !== false && !isLikeAnother(here, step),
    );
    let way: readonly Move[] = path;
    for (const step of possible) {
      // A step that led back to where it began took nothing away: the next one follows it.
      if (isDeep || stateOf(here) !== state) [here, way] = [await reach(path), path];
      await look(here, way, { step });
      way = [...way, { step }];
      if (!space.diesInside || step.name === "restart" || step.name === "crash") continue;
      for (const dies of deathsIn([...here.operations]))
        await look(await reach(path), path, { step, dies });
    }
  }
  return { states: seen.size, steps: taken, released };
}

const asks = (quorum: number): Policy =>
  parsePolicy({
    version: "1",
    rules: [
      {
        match: { tool: "*" },
        action: "ask",
        quorum,
        approvers: ["ada", "bob", "demo"],
        timeout: 120,
      },
    ],
  });

describe("the state space", () => {
  it.each([
    ["two requests, two approvers, one yes", { calls: 2, quorum: 1, diesInside: false }, 300],
    ["one request, two approvers, two yes", { calls: 1, quorum: 2, diesInside: false }, 30],
    [
      "one request, one yes, a process that dies at every await",
      { calls: 1, quorum: 1, diesInside: true },
      30,
    ],
    [
      "one request, two yes, a process that dies at every await",
      { calls: 1, quorum: 2, diesInside: true },
      30,
    ],
  ] as const)("%s: every law holds in every state", async (name, space, least) => {
    const explored = await explore({ ...space, policy: asks(space.quorum) });
    process.stdout.write(
      `${name}: ${explored.states} states, ${explored.steps} steps, ${explored.released} states with a release\n`,
    );
    expect(explored.states).toBeGreaterThanOrEqual(Math.min(least, STATES_MAX));
    expect(explored.released).toBeGreaterThan(0);
  });
});
