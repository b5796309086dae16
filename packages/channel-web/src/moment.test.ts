import { manualClock } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { isOver, momentOf } from "./moment.js";

describe("isOver()", () => {
  it("counts to the millisecond", async () => {
    const clock = manualClock();
    const since = momentOf(clock);
    await clock.advance(999);
    expect(isOver(clock, since, 1_000)).toBe(false);
    await clock.advance(1);
    expect(isOver(clock, since, 1_000)).toBe(true);
  });

  it("is not put off by a wall clock that goes back", async () => {
    const clock = manualClock();
    const since = momentOf(clock);
    clock.jump(-3_600_000);
    await clock.advance(1_000);
    expect(isOver(clock, since, 1_000)).toBe(true);
  });

  it("sees the time that a machine slept, which only its wall clock counts", () => {
    const clock = manualClock();
    const since = momentOf(clock);
    clock.jump(1_000);
    expect(isOver(clock, since, 1_000)).toBe(true);
  });
});
