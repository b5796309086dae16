import { describe, expect, it } from "vitest";
import { manualTime } from "../test/support.js";
import { watchClock } from "./wall-clock.js";

describe("watchClock()", () => {
  it("counts monotonic time from its start", () => {
    const clock = manualTime(1_000_000);
    const look = watchClock(clock);
    clock.pass(1_500.7);
    clock.jump(60_000);
    expect(look()).toEqual({ nowMs: 1_061_500.7, monoMs: 1_500 });
  });

  it("says once how far the wall clock went back", () => {
    const clock = manualTime(1_000_000);
    const look = watchClock(clock);
    look();
    clock.pass(10_000);
    clock.jump(-3_600_000);
    expect(look()).toMatchObject({ backMs: 3_600_000, monoMs: 10_000 });
    expect(look()).not.toHaveProperty("backMs");
  });

  it("takes small steps for the clock being set right, unless they add up", () => {
    const clock = manualTime(1_000_000);
    const look = watchClock(clock);
    look();
    clock.jump(-600);
    expect(look()).not.toHaveProperty("backMs");
    clock.jump(-600);
    expect(look()).toMatchObject({ backMs: 1_200 });
  });

  it("starts from the last time that is known", () => {
    const clock = manualTime(1_000_000);
    expect(watchClock(clock, 1_000_000 + 5_000)()).toMatchObject({ backMs: 5_000 });
    expect(watchClock(clock, 999_000)()).not.toHaveProperty("backMs");
  });
});
