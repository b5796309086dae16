import { manualClock, storeConformance } from "@acp/testing";
import { memoryStore } from "@acp/core";
import { describe, expect, it } from "vitest";
import { replaySet } from "./replay-set.js";

describe("replaySet()", () => {
  const cases = storeConformance((clock) => {
    const store = memoryStore(clock);
    return { ...store, claims: { ...store.claims, ...replaySet(clock) } };
  });
  it.each(
    cases
      .filter(({ name }) => name.startsWith("claimOnce()"))
      .map((each) => [each.name, each] as const),
  )("%s", async (_, each) => {
    await expect(each.run()).resolves.toBeUndefined();
  });

  it("refuses when it is full, forgets nothing before its time, and takes more after it", async () => {
    const clock = manualClock();
    const ids = replaySet(clock, 3);
    for (const id of ["a", "b", "c"]) expect(await ids.claimOnce(id, 1_000)).toBe(true);
    await expect(ids.claimOnce("d", 1_000)).rejects.toMatchObject({ code: "channel_failed" });
    expect(await ids.claimOnce("a", 1_000)).toBe(false);
    await clock.advance(1_000);
    expect(await ids.claimOnce("d", 1_000)).toBe(true);
    expect(await ids.claimOnce("a", 1_000)).toBe(true);
  });

  it.each([-3_600_000, 86_400_000])(
    "frees no id where the wall clock jumps %i ms",
    async (jumpMs) => {
      const clock = manualClock();
      const ids = replaySet(clock);
      expect(await ids.claimOnce("a", 1_000)).toBe(true);
      clock.jump(jumpMs);
      expect(await ids.claimOnce("a", 1_000)).toBe(false);
    },
  );
});
