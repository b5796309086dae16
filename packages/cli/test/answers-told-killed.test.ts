/**
 * What the page and `acp approve --once` say is what happened, where the gate is killed while
 * answers are under way and another one starts: in the log, and at the MCP server. Kills at a line
 * of the log and not at a time, so that every stage of an answer is met on every machine.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { acp } from "./harness.js";
import { type Act, type Fate, type KilledWorld, openKilledWorld } from "./killed-world.js";
import { type Receipt, type Result, loadPage } from "./page-modules.js";

const { resultOf, sendBatch, sumUp } = await loadPage();

type RunState = NonNullable<Result["run"]>["state"];

const RUNS: Readonly<Record<RunState, Fate>> = {
  waiting: "waiting",
  started: "started",
  ran: "ran",
  failed: "failed",
  not_run: "not run",
  not_collected: "not run",
  unknown: "unknown",
};

const APPROVED: ReadonlySet<Fate> = new Set(Object.values(RUNS));

/**
 * What is said of an end, in the words of {@link Fate}; nothing where it is said that nobody knows.
 */
function saidOf(status: string | undefined, run: Result["run"]): Fate | undefined {
  if (status === undefined || status === "unknown") return undefined;
  if (status.startsWith("approved")) return RUNS[run?.state ?? "waiting"];
  return status === "denied" || status === "expired" || status === "cancelled" ? status : undefined;
}

/** Statements that can never be taken back: of these, none may be untrue at any moment. */
const FINAL: readonly Fate[] = ["denied", "expired", "cancelled", "ran", "failed", "not run"];

const isFinal = (fate: Fate | undefined): fate is Fate =>
  fate !== undefined && FINAL.includes(fate);

interface Said {
  readonly id: string;
  readonly fate: Fate;
}

/** Statements that the log or the server's file contradict. */
async function untruths(world: KilledWorld, said: readonly Said[]): Promise<readonly string[]> {
  const [fates, ran] = [await world.fates(), await world.ran()];
  return said.flatMap(({ id, fate }) => {
    const truth = fates.get(id);
    const isRan = ran.includes(world.numberOf(id));
    const isLie =
      truth !== fate ||
      (fate === "ran" || fate === "failed" ? !isRan : FINAL.includes(fate) && isRan);
    return isLie
      ? [`said ${fate}; the log says ${truth}; it ${isRan ? "ran" : "did not run"}`]
      : [];
  });
}

interface Case {
  readonly acts: readonly Act[];
  readonly decision: "approved" | "denied";
  /** Of all lines that the answers write, in permille: then the gate is killed. */
  readonly at: number;
  readonly repeats: boolean;
}

const linesOf = ({ acts, decision, at }: Case): number =>
  Math.floor((at / 1_000) * acts.length * (decision === "approved" ? 3 : 1));

/** Plays one case on the page; how many ended how. */
async function playOnPage(each: Case): Promise<readonly Fate[]> {
  const { decision } = each;
  await using world = await openKilledWorld(each.acts);
  const { store, post } = world.page;
  const items = store
    .open()
    .map(({ request }) => ({ request_id: request.id, action_digest: request.action_digest }));
  const receipts = new Map<string, Receipt>();
  const resultNow = (id: string): Result => resultOf(receipts.get(id), store.over(id)?.ended);
  const finals = new Map<string, Said>();
  const note = (id: string): void => {
    const { kind, status, run } = resultNow(id);
    const fate = kind === "over" ? saidOf(status, run) : undefined;
    if (isFinal(fate)) finals.set(`${id} ${fate}`, { id, fate });
  };
  store.subscribe(({ id }) => {
    if (id !== undefined) note(id);
  });
  let isSent = false;
  const killed = world.killAfter(linesOf(each), () => isSent && each.at < 1_000);
  await sendBatch({
    items,
    decision,
    reason: "",
    post: (body) => post("/api/answers/batch", body),
    take(id, receipt) {
      receipts.set(id, receipt);
      note(id);
    },
  });
  isSent = true;
  await killed;
  await world.restart(each.repeats);
  // Each has a word: how it ended as the log has it, or that it is open still, and so it is on the
  // page.
  let left: readonly string[] = [];
  await expect
    .poll(
      async () => {
        const fates = await world.fates();
        left = items
          .map(({ request_id: id }) => id)
          .filter((id) => {
            const { kind, status, run } = resultNow(id);
            const truth = fates.get(id);
            if (truth === "started") return true;
            if (kind === "refused" || truth === "open")
              return truth !== "open" || store.find(id) === undefined;
            return kind !== "over" || saidOf(status, run) !== truth;
          })
          .map((id) =>
            JSON.stringify([
              resultNow(id),
              receipts.get(id),
              fates.get(id),
              store.find(id) !== undefined,
            ]),
          );
        return left.slice(0, 3);
      },
      { timeout: 120_000, interval: 100 },
    )
    .toEqual([]);
  expect(await untruths(world, [...finals.values()])).toEqual([]);
  const ran = await world.ran();
  expect(new Set(ran).size).toBe(ran.length);
  const fates = await world.fates();
  const ends = items.map(({ request_id: id }): Fate => fates.get(id) ?? "open");
  const results = items.map(({ request_id: id }) => resultNow(id));
  const { text } = sumUp(decision, results);
  const [, done = "0"] = /^(?:Approved|Denied): (\d+)/.exec(text) ?? [];
  const isDone = (fate: Fate): boolean =>
    decision === "denied" ? fate === "denied" : APPROVED.has(fate);
  expect(Number(done)).toBe(ends.filter(isDone).length);
  return ends;
}

/** What `acp approve --once --json` prints. */
interface Told {
  readonly ok: boolean;
  readonly status?: string;
  readonly logged?: { readonly status: string; readonly run?: Result["run"] };
}

/**
 * Plays one in which every question is answered by an `acp approve --once` of its own; what each of
 * them said.
 */
async function playInTerminals(acts: readonly Act[], lines: number): Promise<readonly Told[]> {
  await using world = await openKilledWorld(acts);
  const ids = world.page.store.open().map(({ request: { id } }) => id);
  let isOver = false;
  const killed = world.killAfter(lines, () => isOver);
  const approve = async (id: string): Promise<Told> =>
    JSON.parse(
      (await acp(["approve", "--once", id, "--approve", "--json"], { home: world.home })).stdout,
    ) as Told;
  const told = await Promise.all(ids.map(approve));
  isOver = true;
  await killed;
  await world.restart(false);
  await expect
    .poll(async () => [...(await world.fates()).values()], { timeout: 120_000 })
    .not.toContain("started");
  const fates = await world.fates();
  const said = told.map(({ logged }) => saidOf(logged?.status, logged?.run));
  const finals = said.flatMap((fate, at): readonly Said[] =>
    isFinal(fate) ? [{ id: ids[at] ?? "", fate }] : [],
  );
  expect(await untruths(world, finals)).toEqual([]);
  for (const [at, { ok, status }] of told.entries()) {
    const truth = fates.get(ids[at] ?? "");
    // "It was taken" is so; "it was not taken", and "nobody is there to take it", too; of "not
    // known" nothing follows.
    if (ok) expect(truth).not.toBe("open");
    else if (status !== "unknown") expect(truth).toBe("open");
  }
  const ran = await world.ran();
  expect(new Set(ran).size).toBe(ran.length);
  return told;
}

const act = fc.record({ ms: fc.constantFrom(0, 0, 20, 2_000) });
const anyCase = fc.record({
  acts: fc.array(act, { minLength: 1, maxLength: 120 }),
  decision: fc.constantFrom("approved", "approved", "approved", "denied"),
  at: fc.integer({ min: 0, max: 1_000 }),
  repeats: fc.boolean(),
} as const);

describe("after the gate was killed", () => {
  it("the page says what the log says, and what ran", async () => {
    const seen = new Set<Fate>();
    await fc.assert(
      fc.asyncProperty(anyCase, async (each) => {
        for (const fate of await playOnPage(each)) seen.add(fate);
      }),
      { numRuns: 5, endOnFailure: true },
    );
    // It was killed in the middle of it: not everything ended alike.
    expect(seen.size).toBeGreaterThan(1);
  });

  it("acp approve --once says what the log says, and what ran", async () => {
    const acts = Array.from(
      { length: 8 },
      (_, number): Act => ({ ms: number % 2 === 0 ? 0 : 2_000 }),
    );
    const told = await playInTerminals(acts, 9);
    expect(told.map(({ ok }) => ok)).toContain(true);
  });
});
