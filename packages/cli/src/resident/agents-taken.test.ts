import { describe, expect, it } from "vitest";
import { createBudgets } from "./budgets.js";
import type { Budgets, Share } from "./budgets.js";
import { LIMITS } from "./limits.js";

const share = (budgets: Budgets, name: string): Share => {
  const opened = budgets.open(name);
  if (typeof opened === "string") throw new Error(opened);
  return opened;
};
const call = () => ({ bytes: 1, isCall: true });
const event = (bytes: number, agent: string) =>
  [{ agent, metadata: { text: "x".repeat(bytes) } }] as never;
const sink = { append: async () => ({ seq: 0, hash: "" }) };

describe("agents of one client", () => {
  /** How much each gets, one after the other, of what each wants as much as there is of. */
  const most = (take: (agent: string) => boolean): readonly number[] =>
    ["ada", "bob", "eve", "dan", "fay"].map((agent) => {
      let count = 0;
      while (take(agent)) count++;
      return count;
    });

  it("have questions of their own, and none as many as are left for the others", () => {
    const { questionRoom } = share(
      createBudgets(() => 0),
      "a",
    );
    const got = most((agent) => {
      if (questionRoom.full(agent) !== undefined) return false;
      questionRoom.count(1, agent);
      return true;
    });
    expect(got).toEqual([16, 16, 16, 8, 4]);
    expect(questionRoom.full("fay")).toBe(
      "the agents of this client together have 60 open questions",
    );
    questionRoom.count(-1, "ada");
    expect(questionRoom.full("ada")).toBe(
      "the agents of this client together have 59 open questions",
    );
  });

  it("have calls of their own", () => {
    const { roomOf } = share(
      createBudgets(() => 0),
      "a",
    );
    const got = most((agent) => !("full" in roomOf(agent).enter(call())));
    expect(got).toEqual([256, 256, 256, 128, 64]);
  });

  it("have bytes of their own", () => {
    const { roomOf } = share(
      createBudgets(() => 0),
      "a",
    );
    const part = { bytes: LIMITS.bytes / 8, isCall: false };
    const got = most((agent) => !("full" in roomOf(agent).enter(part)));
    expect(got).toEqual([8, 8, 8, 4, 2]);
  });

  it("write into the log without keeping each other from it", async () => {
    const one = share(
      createBudgets(() => 0),
      "a",
    );
    await one.counted(sink).append(event(LIMITS.logBytes, "ada"));
    expect(one.roomOf("ada").enter(call())).toHaveProperty("full");
    expect(one.roomOf("bob").enter(call())).not.toHaveProperty("full");
    for (const agent of ["eve", "dan", "fay"])
      await one.counted(sink).append(event(LIMITS.logBytes, agent));
    expect(one.roomOf("bob").enter(call())).toHaveProperty("full");
  });
});
