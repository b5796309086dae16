/**
 * Many servers and calls while servers and connections are killed. `ACP_SOAK=full` has 50 servers,
 * 5,000 tools and 100,000 calls, 200 at a time.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { soak } from "./support/soak.js";
import type { Soaked, Told } from "./support/soak.js";

const isFull = process.env["ACP_SOAK"] === "full";
const PLAN = isFull
  ? { servers: 50, tools: 100, atOnce: 200, calls: 100_000, every: [400, 20_000] }
  : { servers: 6, tools: 60, atOnce: 50, calls: 4_000, every: [200, 1_500] };
const MB = 1024 * 1024;

/** The same each time; its schedule is not, for that is the system's. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

function numbers({ told }: Soaked, wanted: Told): readonly number[] {
  return told.flatMap((each, n) => (each === wanted ? [n] : []));
}

it.skipIf(process.platform !== "linux")(
  "every call ends, none runs twice, what is said of it is true, and nothing is left behind",
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "acp-soak-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const [serverKillEvery = 1, connectionKillEvery = 1] = PLAN.every;
    const done = await soak({
      ...PLAN,
      folder,
      serverKillEvery,
      connectionKillEvery,
      random: seeded(17),
    });
    const { told, ran, listed, sizes } = done;
    const kinds = ["done", "not executed", "not known", "both", "error", "no answer"] as const;
    const counts = Object.fromEntries(kinds.map((kind) => [kind, numbers(done, kind).length]));
    const [heap, rss, files] = (["heap", "rss", "files"] as const).map((key) =>
      sizes.map((size) => (key === "files" ? size[key] : Math.round(size[key] / MB))),
    );
    // What was measured is worth reading where it passes, too.
    process.stdout.write(`${JSON.stringify({ ...counts, heap, rss, files })}\n`);
    expect(listed).toBe(PLAN.servers * PLAN.tools);
    expect(told.length).toBe(PLAN.calls);
    expect(told.every((each) => each !== undefined)).toBe(true);
    expect([...ran.values()].filter((times) => times > 1)).toEqual([]);
    expect([...numbers(done, "both"), ...numbers(done, "error")]).toEqual([]);
    expect(numbers(done, "not executed").filter((n) => ran.has(n))).toEqual([]);
    expect(numbers(done, "done").filter((n) => !ran.has(n))).toEqual([]);
    expect(numbers(done, "not known").length).toBeGreaterThan(0);
    const [first, last] = [sizes[1], sizes.at(-1)];
    expect(last?.files).toBeLessThanOrEqual(first?.files ?? 0);
    expect((last?.heap ?? 0) - (first?.heap ?? 0)).toBeLessThan(10 * MB);
  },
);
