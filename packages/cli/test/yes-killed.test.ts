/**
 * A yes that nobody came for when its gate was killed: the next gate keeps it for the retry while
 * it holds, and then says what became of it, so that the page and `acp approve` know. Real gates, a
 * real inbox, real files.
 */
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readAuditLog } from "@acp/audit";
import { followOutcomes } from "../src/outcomes/logged-outcomes.js";
import { type KilledWorld, openKilledWorld } from "./killed-world.js";
import { loadPage } from "./page-modules.js";

const { resultOf } = await loadPage();

const ACTS = [{ ms: 0 }, { ms: 0 }];

/** One in which everything is approved, nobody came for it, and the gate is dead. */
async function killedWorld(
  validMs: number,
): Promise<{ readonly world: KilledWorld; readonly ids: readonly string[] }> {
  const world = await openKilledWorld(ACTS);
  const ids = world.page.store.open().map(({ request: { id } }) => id);
  await world.leave();
  await world.approve(validMs);
  // On a slow machine its time may be over before the gate is killed.
  await expect
    .poll(() =>
      runsOf(world, ids).every((state) => state === "waiting" || state === "not_collected"),
    )
    .toBe(true);
  await world.kill();
  return { world, ids };
}

const runsOf = (world: KilledWorld, ids: readonly string[]): readonly string[] =>
  ids.map((id) => resultOf(undefined, world.page.store.over(id)?.ended).run?.state ?? "");

const STORY = new Set([
  "tool_call_forwarded",
  "tool_call_completed",
  "consent_not_collected",
  "outcome_unknown",
]);

/** What the log says of a yes after the approval. */
async function storyOf({ home }: KilledWorld, id: string): Promise<readonly string[]> {
  const types: string[] = [];
  for await (const { eventType } of readAuditLog(join(home, "audit.jsonl"), {
    filter: { requestId: id },
  }))
    if (STORY.has(eventType)) types.push(eventType);
  return types;
}

const storiesOf = (
  world: KilledWorld,
  ids: readonly string[],
): Promise<readonly (readonly string[])[]> => Promise.all(ids.map((id) => storyOf(world, id)));

/** What a terminal or an inbox says that is opened now. */
async function toldNow({ home }: KilledWorld, ids: readonly string[]): Promise<readonly string[]> {
  await using outcomes = await followOutcomes(home);
  let told: readonly string[] = [];
  await expect
    .poll(async () => (told = (await outcomes.find(ids)).map(({ run }) => run?.state ?? "")).length)
    .toBe(ids.length);
  return told;
}

const patience = { timeout: 120_000, interval: 100 };

describe("a yes that nobody came for when its gate was killed", () => {
  it("ends as not collected when its time is over", async () => {
    const { world, ids } = await killedWorld(3_000);
    await using _world = world;
    await world.restart(false);
    await expect
      .poll(() => runsOf(world, ids), patience)
      .toEqual(["not_collected", "not_collected"]);
    expect(await storiesOf(world, ids)).toEqual([
      ["consent_not_collected"],
      ["consent_not_collected"],
    ]);
    expect(await toldNow(world, ids)).toEqual(["not_collected", "not_collected"]);
    expect(await world.ran()).toEqual([]);
  });

  it("runs once when the agent calls again", async () => {
    const { world, ids } = await killedWorld(300_000);
    await using _world = world;
    await world.restart(true);
    await expect.poll(() => runsOf(world, ids), patience).toEqual(["ran", "ran"]);
    expect([...(await world.ran())].toSorted((a, b) => a - b)).toEqual([0, 1]);
    const ran = ["tool_call_forwarded", "tool_call_completed"];
    expect(await storiesOf(world, ids)).toEqual([ran, ran]);
  });

  it("is known to be unknown where the home lost its questions", async () => {
    const { world, ids } = await killedWorld(300_000);
    await using _world = world;
    await rm(join(world.home, "pending"), { recursive: true });
    await world.restart(false);
    await expect.poll(() => runsOf(world, ids), patience).toEqual(["unknown", "unknown"]);
    expect(await storiesOf(world, ids)).toEqual([["outcome_unknown"], ["outcome_unknown"]]);
    expect(await toldNow(world, ids)).toEqual(["unknown", "unknown"]);
  });

  it("ends as not collected where the gate had given it up, and died before it wrote so", async () => {
    await using world = await openKilledWorld(ACTS.slice(1));
    const ids = world.page.store.open().map(({ request: { id } }) => id);
    await world.leave();
    await world.approve(1_000);
    await expect.poll(() => runsOf(world, ids), patience).toEqual(["not_collected"]);
    await world.kill();
    const log = join(world.home, "audit.jsonl");
    const lines = (await readFile(log, "utf8")).split("\n");
    // The page is told before the log: on a slow machine the gate is dead before it writes.
    if (lines.at(-2)?.includes('"event_type":"consent_not_collected"') === true)
      await writeFile(log, lines.toSpliced(-2, 1).join("\n"));
    await rm(`${log}.checkpoints`, { force: true });
    expect(await storiesOf(world, ids)).toEqual([[]]);
    await world.restart(false);
    await expect.poll(() => storiesOf(world, ids), patience).toEqual([["consent_not_collected"]]);
    expect(await toldNow(world, ids)).toEqual(["not_collected"]);
  });
});
