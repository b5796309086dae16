import { describe, expect, it } from "vitest";
import { createBudgets } from "./budgets.js";
import { LIMITS } from "./limits.js";

const event = (bytes: number): object => ({ metadata: { text: "x".repeat(bytes) } });
const sink = { append: async () => ({ seq: 0, hash: "" }) };

describe("the log", () => {
  it.each([
    [1, 2],
    [4, 8],
    [20, 8],
    [100, 8],
  ])(
    "takes of %i agents of one client %i times as much in their first minute",
    async (agents, times) => {
      let nowMs = 0;
      const one = createBudgets(() => nowMs).open("a");
      if (typeof one === "string") throw new Error(one);
      const counted = one.counted(sink);
      const logBytes = LIMITS.logBytes;
      const text = event(logBytes / 64);
      let bytes = 0;
      const mayWrite = (agent: string): boolean => {
        const entered = one.roomOf(agent).enter({ bytes: 0, isCall: true });
        if ("leave" in entered) entered.leave();
        return "leave" in entered;
      };
      for (; nowMs < 60_000; nowMs += 2_000)
        for (let n = 0; n < agents; n++)
          for (; mayWrite(`${n}`); bytes += logBytes / 64)
            await counted.append([{ ...text, agent: `${n}` }] as never);
      expect(bytes / logBytes).toBeGreaterThan(0.7 * times);
      expect(bytes / logBytes).toBeLessThan(times + agents / 32);
      nowMs += 2 * 60_000;
      expect(one.usage().log_bytes).toBe(0);
    },
  );
});
