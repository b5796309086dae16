import { describe, expect, it } from "vitest";
import { rateClaim } from "./rate.js";

describe("rateClaim()", () => {
  it("counts one for the agent and the rule", () => {
    expect(rateClaim({ max: 20, windowMs: 60_000 }, "pay", "agent")).toEqual({
      key: "rate:3:pay:agent",
      amount: 1,
      max: 20,
      windowMs: 60_000,
    });
  });

  it("gives two pairs of names two keys", () => {
    const rate = { max: 1, windowMs: 1_000 };
    expect(rateClaim(rate, "a:b", "c").key).not.toBe(rateClaim(rate, "a", "b:c").key);
    expect(rateClaim(rate, "a", "1:a").key).not.toBe(rateClaim(rate, "a:1", "a").key);
  });
});
