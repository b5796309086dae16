/**
 * What the page says is what happened: for 1 to 500 answers at once, with the approve socket and
 * HTTP cut, and the gate closed, at any moment. Nothing that it says definitely is ever untrue, and
 * in the end it knows all that can be known.
 */
import { setTimeout as wait } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AnswersWorld, type Deed, openAnswersWorld } from "./answers-world.js";
import { type Receipt, type Result, loadPage } from "./page-modules.js";

const { resultOf, sendBatch, sumUp } = await loadPage();

interface Case {
  readonly deeds: readonly Deed[];
  readonly decision: "approved" | "denied";
  readonly cuts: readonly { readonly atMs: number; readonly what: "sockets" | "http" | "gate" }[];
}

/**
 * Why a statement of the page is untrue, or nothing. Only what is final is held against it; what
 * was true for a while may be told for a while.
 */
function untruthOf(
  world: AnswersWorld,
  id: string,
  { kind, status, run }: Result,
): string | undefined {
  const truth = world.truths[world.numberOf(id)];
  if (truth === undefined) return "a question that nobody asked";
  const { verdict, performed } = truth;
  const isAllowed = verdict === "threw" || verdict?.decision === "allow";
  if (kind === "over" && status?.startsWith("approved") !== true && (isAllowed || performed))
    return `${status}, and it was approved`;
  if (kind === "refused" && (isAllowed || performed)) return "not taken, and it was approved";
  if (run?.state === "ran" && (!performed || verdict === "threw")) return "ran, and it did not";
  // The page may hear of it before the caller does.
  if (run?.state === "failed" && verdict !== "threw" && verdict !== undefined)
    return "failed, and it did not";
  if ((run?.state === "not_run" || run?.state === "not_collected") && performed)
    return "did not run, and it ran";
  return undefined;
}

/** Whether no more can be known of it. */
const isKnown = ({ kind, status, run }: Result): boolean =>
  kind === "refused" ||
  (kind === "over" &&
    (status?.startsWith("approved") !== true ||
      ["ran", "failed", "not_run", "not_collected", "unknown"].includes(run?.state ?? "")));

async function play({
  deeds,
  decision,
  cuts,
}: Case): Promise<{ readonly results: readonly Result[]; readonly world: AnswersWorld["truths"] }> {
  await using world = await openAnswersWorld(deeds);
  const { page } = world;
  const { store } = page;
  const items = store
    .open()
    .map(({ request }) => ({ request_id: request.id, action_digest: request.action_digest }));
  const receipts = new Map<string, Receipt>();
  const resultNow = (id: string): Result => resultOf(receipts.get(id), store.over(id)?.ended);
  const untruths: string[] = [];
  const check = (id: string): void => {
    const why = receipts.has(id) ? untruthOf(world, id, resultNow(id)) : undefined;
    if (why !== undefined)
      untruths.push(
        `${why}: ${JSON.stringify([resultNow(id), receipts.get(id), world.truths[world.numberOf(id)]?.verdict])}`,
      );
  };
  store.subscribe(({ id }) => {
    if (id !== undefined) check(id);
  });
  const cutting = cuts.map(async ({ atMs, what }) => {
    await wait(atMs);
    if (what === "sockets") world.cutSockets();
    else if (what === "http") world.cutHttp();
    else await world.closeGate();
  });
  await sendBatch({
    items,
    decision,
    reason: "",
    post: (body) => page.post("/api/answers/batch", body),
    take(id, receipt) {
      expect(receipts.has(id)).toBe(false);
      receipts.set(id, receipt);
      check(id);
    },
  });
  await Promise.all(cutting);
  expect(receipts.size).toBe(items.length);
  // Either it is known, or the gate has it open still, and so has the page.
  const { open } = world;
  const isSettled = (id: string): boolean =>
    isKnown(resultNow(id)) || (open.has(id) && store.find(id) !== undefined);
  const left = () => items.map(({ request_id: id }) => id).filter((id) => !isSettled(id));
  await page.until(
    () => left().length === 0,
    () =>
      JSON.stringify(
        left().map((id) => [
          resultNow(id),
          receipts.get(id),
          open.has(id),
          store.find(id) !== undefined,
          world.truths[world.numberOf(id)],
        ]),
      ),
  );
  for (const { request_id: id } of items) {
    check(id);
    const truth = world.truths[world.numberOf(id)];
    const result = resultNow(id);
    if (open.has(id)) expect(result.kind).toMatch(/unknown|refused/);
    else if (result.kind === "over" && result.run?.state !== "unknown")
      expect(result.run?.state === "ran" || result.run?.state === "failed").toBe(truth?.performed);
  }
  expect([...new Set(untruths)]).toEqual([]);
  const results = items.map(({ request_id: id }) => resultNow(id));
  const { text } = sumUp(decision, results);
  for (const [words, state] of [
    ["ran", "ran"],
    ["ran and failed", "failed"],
  ] as const) {
    const [, said = "0"] = new RegExp(`[(,] ?(\\d+) ${words}[,)]`).exec(text) ?? [];
    const really = world.truths.filter(
      ({ performed, verdict }) => performed && (verdict === "threw") === (state === "failed"),
    );
    expect(Number(said)).toBe(really.length);
  }
  return { results, world: world.truths };
}

const deed = fc.constantFrom<Deed>("works", "works", "works", "throws");
const cut = fc.record({
  atMs: fc.integer({ min: 0, max: 400 }),
  what: fc.constantFrom("sockets", "sockets", "http", "gate"),
} as const);
const anyCase = fc.record({
  deeds: fc
    .integer({ min: 1, max: 500 })
    .chain((count) => fc.array(deed, { minLength: count, maxLength: count })),
  decision: fc.constantFrom("approved", "approved", "denied"),
  cuts: fc.array(cut, { maxLength: 4 }),
} as const);

describe("what the page says", () => {
  it.each([1, 22, 500])("is what ran, for %i at once", async (count) => {
    const { results } = await play({
      deeds: Array<Deed>(count).fill("works"),
      decision: "approved",
      cuts: [],
    });
    expect(results.filter(({ run }) => run?.state === "ran")).toHaveLength(count);
    expect(sumUp("approved", results)).toEqual({
      text: `Approved: ${count} (${count} ran).`,
      tone: "good",
    });
  });

  it("is that 523 were denied where they were", async () => {
    const { results } = await play({
      deeds: Array<Deed>(523).fill("works"),
      decision: "denied",
      cuts: [],
    });
    expect(sumUp("denied", results).text).toBe("Denied: 523.");
  });

  it("is what ran, whatever is cut and when", async () => {
    await fc.assert(
      fc.asyncProperty(anyCase, async (each) => void (await play(each))),
      { numRuns: 8, endOnFailure: true },
    );
  });
});
