import { manualClock } from "@acp/testing";
import { describe, expect, it } from "vitest";
import type { Clock } from "../types/clock.js";
import { createDeadline } from "./deadline.js";

const never = new Promise<never>(() => undefined);

describe("createDeadline()", () => {
  it("passes on what comes in time, also a rejection", async () => {
    const within = createDeadline(manualClock(), 100);
    expect(await within(Promise.resolve(7), "it")).toBe(7);
    await expect(within(Promise.reject(new Error("no")), "it")).rejects.toThrow("no");
  });

  it("rejects with part_timeout each piece of work at its own time", async () => {
    const clock = manualClock();
    const within = createDeadline(clock, 100);
    const times: number[] = [];
    const late = (): Promise<void> =>
      within(never, "the store").catch((error: unknown) => {
        expect(error).toMatchObject({
          code: "part_timeout",
          message: expect.stringContaining("the store"),
        });
        times.push(clock.monotonic());
      });
    const all = [late()];
    await clock.advance(40);
    all.push(late());
    await clock.advance(200);
    await Promise.all(all);
    expect(times).toEqual([100, 140]);
  });

  it("sleeps once for all work that comes meanwhile, and in the background", async () => {
    const clock = manualClock();
    const sleeps: (boolean | undefined)[] = [];
    const counting: Clock = {
      ...clock,
      sleep(ms, options) {
        sleeps.push(options.background);
        return clock.sleep(ms, options);
      },
    };
    const within = createDeadline(counting, 100);
    for (let i = 0; i < 50; i++) await within(Promise.resolve(i), "it");
    expect(sleeps).toEqual([true]);
    await clock.advance(1_000);
    const late = within(never, "the vault").catch((error: unknown) => error);
    await clock.advance(100);
    expect(await late).toMatchObject({ code: "part_timeout" });
    expect(sleeps).toEqual([true, true]);
  });

  it.each<readonly [string, () => Promise<void>]>([
    ["rejects", () => Promise.reject(new Error("no timers left"))],
    [
      "throws",
      () => {
        throw new Error("no timers left");
      },
    ],
  ])("lapses what waits where a sleep %s, and times what comes after it", async (_, fail) => {
    const clock = manualClock();
    let isBroken = true;
    const failing: Clock = {
      ...clock,
      sleep: (ms, options) => (isBroken ? fail() : clock.sleep(ms, options)),
    };
    const within = createDeadline(failing, 100);
    const codeOf = (work: Promise<unknown>): Promise<unknown> =>
      work.catch((error: unknown) => error);
    expect(await codeOf(within(never, "the store"))).toMatchObject({
      code: "part_timeout",
      message: expect.stringContaining("no timers left"),
    });
    isBroken = false;
    const late = codeOf(within(never, "the log"));
    await clock.advance(100);
    expect(await late).toMatchObject({
      code: "part_timeout",
      message: expect.stringContaining("100 ms"),
    });
  });

  it("gives no time where the clock reads no number", async () => {
    const clock = manualClock();
    const within = createDeadline(
      { ...clock, monotonic: () => Number.NaN, sleep: () => Promise.resolve() },
      100,
    );
    await expect(within(never, "the store")).rejects.toMatchObject({ code: "part_timeout" });
  });
});
