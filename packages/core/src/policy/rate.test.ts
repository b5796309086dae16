import { describe, expect, it } from "vitest";
import { rateClaim } from "./rate.js";

describe("rateClaim()", () => {
  it("counts one for the agent and the rule", () => {
    expect(rateClaim({ max: 20, windowMs: 60_000 }, "pay", { id: "agent" })).toEqual({
      key: "rate:3:pay:agent",
      amount: 1,
      max: 20,
      windowMs: 60_000,
    });
  });

  it("gives two pairs of names two keys", () => {
    const rate = { max: 1, windowMs: 1_000 };
    expect(rateClaim(rate, "a:b", { id: "c" }).key).not.toBe(
      rateClaim(rate, "a", { id: "b:c" }).key,
    );
    expect(rateClaim(rate, "a", { id: "1:a" }).key).not.toBe(
      rateClaim(rate, "a:1", { id: "a" }).key,
    );
  });

  it("counts what an agent started, under whatever name, for the agent", () => {
    const rate = { max: 1, windowMs: 1_000 };
    const { key } = rateClaim(rate, "pay", { id: "agent" });
    expect(rateClaim(rate, "pay", { id: "agent/new", parents: ["agent"] }).key).toBe(key);
    expect(rateClaim(rate, "pay", { id: "newer", parents: ["agent/new", "agent"] }).key).toBe(key);
    expect(rateClaim(rate, "pay", { id: "newer", parents: [] }).key).not.toBe(key);
  });
});
