import { manualClock } from "@acp/testing";
import { describe, expect, it } from "vitest";
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
        expect(error).toMatchObject({ code: "part_timeout", message: expect.stringContaining("the store") });
        times.push(clock.monotonic());
      });
    const all = [late()];
    await clock.advance(40);
    all.push(late());
    await clock.advance(200);
    await Promise.all(all);
    expect(times).toEqual([100, 140]);
  });

  it("leaves no timer behind when nothing waits", async () => {
    let sleeping = 0;
    const clock = manualClock();
    const counting = {
      ...clock,
      sleep: async (ms: number, options: { readonly signal: AbortSignal }) => {
        sleeping++;
        try {
          await clock.sleep(ms, options);
        } finally {
          sleeping--;
        }
      },
    };
    const within = createDeadline(counting, 100);
    await Promise.all([within(Promise.resolve(1), "a"), within(Promise.resolve(2), "b")]);
    await clock.advance(0);
    expect(sleeping).toBe(0);
    await within(Promise.resolve(3), "c");
    await clock.advance(0);
    expect(sleeping).toBe(0);
  });
});
