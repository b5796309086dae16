import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { eventsWithin, timeEvents } from "./log-time.js";

const HOUR_MS = 3_600_000;
const NOW_MS = 1_000 * HOUR_MS;
const FUTURE_MS = 9_000 * HOUR_MS;

interface Stamped {
  readonly atMs: number;
  readonly name: string;
}

async function* stamped(...times: readonly number[]): AsyncGenerator<Stamped> {
  for (const [index, atMs] of times.entries()) yield { atMs, name: `e${index}` };
}

const hour = (hours: number): number => hours * HOUR_MS;

async function within(sinceMs: number, ...times: readonly number[]): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { event } of eventsWithin(stamped(...times), { sinceMs, nowMs: NOW_MS }))
    names.push(event.name);
  return names;
}

describe("eventsWithin()", () => {
  it("leaves out what a clock that was ahead wrote before the stretch", async () => {
    const times = [hour(900), FUTURE_MS, FUTURE_MS + 1, hour(901), hour(999)];
    expect(await within(hour(950), ...times)).toEqual(["e4"]);
    expect(await within(hour(901), ...times)).toEqual(["e1", "e2", "e3", "e4"]);
  });

  it("shows what a clock that is ahead has written since, whatever was before", async () => {
    expect(await within(hour(999), hour(10), FUTURE_MS)).toEqual(["e1"]);
    expect(await within(hour(999), FUTURE_MS)).toEqual(["e0"]);
    expect(await within(hour(950), hour(10), FUTURE_MS, hour(999))).toEqual(["e1", "e2"]);
  });

  it("does not hide what a clock that went back wrote", async () => {
    expect(await within(hour(998), hour(990), hour(999), hour(1), hour(2), hour(999.5))).toEqual([
      "e1",
      "e2",
      "e3",
      "e4",
    ]);
  });

  it("flags both", async () => {
    const clocks: string[] = [];
    for await (const { clock } of timeEvents(
      stamped(hour(5), FUTURE_MS, hour(6), hour(1), hour(6) - 500),
      NOW_MS,
    ))
      clocks.push(clock);
    expect(clocks).toEqual(["right", "ahead", "right", "behind", "right"]);
  });

  it("keeps the order, loses nothing, and is the plain filter where the clock was right", async () => {
    const right = fc.array(fc.integer({ min: 0, max: NOW_MS }), { maxLength: 30 });
    const any = fc.array(fc.integer({ min: 0, max: 2 * NOW_MS }), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(
        right,
        any,
        fc.integer({ min: 0, max: NOW_MS }),
        async (list, wild, since) => {
          const sorted = list.toSorted((one, other) => one - other);
          expect(await within(since, ...sorted)).toEqual(
            sorted.flatMap((ms, index) => (ms >= since ? [`e${index}`] : [])),
          );
          expect(await within(0, ...wild)).toEqual(wild.map((_, index) => `e${index}`));
        },
      ),
    );
  });
});
