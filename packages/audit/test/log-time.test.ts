/** Stretches of time in a log whose clock was wrong for a while: spec/audit.md §9. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openLogLookup } from "../src/log-index/log-lookup.js";
import { openParts } from "../src/log-parts.js";
import { readAuditLog, readAuditLogBackward } from "../src/read.js";
import { bringUp, KEY, putLog } from "./index-world.js";
import { makeEvent, makeLines, scratchLog } from "./support.js";

const HOUR_MS = 3_600_000;
const NOW_MS = 1_000 * HOUR_MS;
const FUTURE_MS = 9_000 * HOUR_MS;

const hour = (hours: number): number => hours * HOUR_MS;

interface Asked {
  readonly sinceMs?: number;
  readonly untilMs?: number;
  readonly tool?: string;
}

/** Numbers of the events; with an index, without one, and backward it must be the same. */
async function within(filter: Asked, ...times: readonly number[]): Promise<readonly number[]> {
  const path = await scratchLog();
  const events = times.map((atMs, number) =>
    makeEvent(number, { atMs, tool: number % 2 === 0 ? "even" : "odd" }),
  );
  await putLog(path, await makeLines(events), [3]);
  const options = { filter, nowMs: NOW_MS };
  const first = await numbersOf(readAuditLog(path, options));
  expect((await numbersOf(readAuditLogBackward(path, options))).toReversed()).toEqual(first);
  await bringUp(path, 2);
  const indexed = { ...options, indexKey: KEY };
  expect(await numbersOf(readAuditLog(path, indexed))).toEqual(first);
  expect((await numbersOf(readAuditLogBackward(path, indexed))).toReversed()).toEqual(first);
  return first;
}

async function numbersOf(
  events: AsyncIterable<{ readonly seq: number }>,
): Promise<readonly number[]> {
  const numbers: number[] = [];
  for await (const { seq } of events) numbers.push(seq);
  return numbers;
}

describe("readAuditLog() at a time", () => {
  it("leaves out what a clock that was ahead wrote before the stretch", async () => {
    const times = [hour(900), FUTURE_MS, FUTURE_MS + 1, hour(901), hour(999)];
    expect(await within({ sinceMs: hour(950) }, ...times)).toEqual([4]);
    expect(await within({ sinceMs: hour(901) }, ...times)).toEqual([1, 2, 3, 4]);
    expect(await within({ sinceMs: hour(901), tool: "odd" }, ...times)).toEqual([1, 3]);
  });

  it("leaves out what such a clock wrote after it, and shows what it wrote in it", async () => {
    const times = [hour(900), FUTURE_MS, hour(901), FUTURE_MS + 1, hour(999)];
    expect(await within({ untilMs: hour(901) }, ...times)).toEqual([0, 1]);
    expect(await within({ sinceMs: hour(901), untilMs: hour(950) }, ...times)).toEqual([1, 2, 3]);
    expect(await within({ untilMs: hour(900) }, ...times)).toEqual([]);
  });

  it("leaves whole stretches of such a clock out, where what is around them lies elsewhere", async () => {
    const times = [hour(1), ...Array.from({ length: 9 }, (_, at) => FUTURE_MS + at), hour(2)];
    const later = [...times, hour(3), hour(4), hour(5), hour(6)];
    const path = await scratchLog();
    const events = later.map((atMs, number) => makeEvent(number, { atMs }));
    await putLog(path, await makeLines(events));
    await bringUp(path, 2);
    const leftOut = async (filter: Asked): Promise<number> => {
      const time = { sinceMs: -Infinity, untilMs: Infinity, ...filter, nowMs: NOW_MS };
      await using log = await openParts(path);
      await using lookup = openLogLookup(log, path, KEY);
      const skips = await lookup.findSkips({ filter, time });
      return skips.reduce((sum, { from, to }) => sum + to - from, 0) / log.bytesTotal;
    };
    expect(await leftOut({ sinceMs: hour(6) })).toBeGreaterThan(0.6);
    expect(await leftOut({ sinceMs: hour(0), untilMs: hour(1) })).toBeGreaterThan(0.6);
    expect(await leftOut({ sinceMs: hour(2), untilMs: hour(3) })).toBeLessThan(0.4);
  });

  it("shows what a clock that is ahead has written since, whatever was before", async () => {
    expect(await within({ sinceMs: hour(999) }, hour(10), FUTURE_MS)).toEqual([1]);
    expect(await within({ sinceMs: hour(999) }, FUTURE_MS)).toEqual([0]);
    expect(await within({ sinceMs: hour(950) }, hour(10), FUTURE_MS, hour(999))).toEqual([1, 2]);
    expect(await within({ sinceMs: hour(950) }, hour(10), hour(11))).toEqual([]);
  });

  it("does not hide what a clock that went back wrote", async () => {
    const times = [hour(990), hour(999), hour(1), hour(2), hour(999.5)];
    expect(await within({ sinceMs: hour(998) }, ...times)).toEqual([1, 2, 3, 4]);
    expect(await within({ sinceMs: hour(998), untilMs: hour(1_000) }, ...times)).toEqual([1, 4]);
    // Also where all of a table lies before the stretch by its own times.
    const back = [hour(990), hour(991), hour(999), hour(1), hour(2), hour(3)];
    expect(await within({ sinceMs: hour(998) }, ...back)).toEqual([2, 3, 4, 5]);
    // Clocks of two machines differ a little: that is what the stamps say.
    const near = [hour(999), hour(998) - 500, hour(999)];
    expect(await within({ sinceMs: hour(998) }, ...near)).toEqual([0, 2]);
  });

  it("is the plain filter where the clock was right, and loses nothing where it was not", async () => {
    const times = (max: number): fc.Arbitrary<number[]> =>
      fc.array(fc.integer({ min: 0, max }), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(
        times(NOW_MS),
        times(2 * NOW_MS),
        fc.integer({ min: 0, max: NOW_MS }),
        fc.integer({ min: 0, max: NOW_MS }),
        async (list, wild, one, other) => {
          const sorted = list.toSorted((a, b) => a - b);
          const [sinceMs, untilMs] = one < other ? [one, other] : [other, one];
          expect(await within({ sinceMs, untilMs }, ...sorted)).toEqual(
            sorted.flatMap((ms, number) => (ms >= sinceMs && ms < untilMs ? [number] : [])),
          );
          const all = wild.map((_, number) => number);
          expect(await within({ sinceMs: 0 }, ...wild)).toEqual(all);
          const [before, after] = [
            await within({ untilMs }, ...wild),
            await within({ sinceMs: untilMs }, ...wild),
          ];
          expect([...new Set([...before, ...after])].sort((a, b) => a - b)).toEqual(all);
        },
      ),
    );
  });
});
