import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toolAction } from "../src/index.js";
import { actions, facts, judge, lists, load, matches } from "./policy-arbitraries.js";

describe("judging", () => {
  it("judge() never throws, and says the same twice", () => {
    fc.assert(
      fc.property(lists, actions, (list, action) => {
        const policy = load(list);
        expect(policy.judge(action, facts)).toEqual(policy.judge(action, facts));
        expect(policy.classify(action).risk).toMatch(/low|medium|high|critical/);
      }),
    );
  });

  it("judge() gives the first rule that matches alone", () => {
    fc.assert(
      fc.property(lists, actions, (list, action) => {
        const first = list.find((rule) => judge([rule], action) !== undefined);
        expect(judge(list, action)).toBe(first?.action);
      }),
    );
  });

  it("judge() turns no deny into anything else because a deny is put in front", () => {
    fc.assert(
      fc.property(lists, matches, actions, (list, match, action) => {
        const before = judge(list, action);
        const after = judge([{ match, action: "deny" }, ...list], action);
        expect([before, "deny"]).toContain(after);
      }),
    );
  });

  it("judge() asks or denies wherever the same match would allow", () => {
    fc.assert(
      fc.property(matches, actions, (match, action) => {
        if (judge([{ match, action: "allow" }], action) === undefined) return;
        expect(judge([{ match, action: "ask" }], action)).toBe("ask");
        expect(judge([{ match, action: "deny" }], action)).toBe("deny");
      }),
      { numRuns: 500 },
    );
  });

  it("judge() says the same after many other names", () => {
    const policy = load([
      { match: { tool: "a*" }, action: "allow" },
      ...Array.from({ length: 50 }, () => ({ match: { tool: "*" }, action: "deny" })),
    ]);
    for (let count = 0; count < 5_000; count++)
      expect(policy.judge(toolAction("s", `b${count}`, {}), facts)?.effect).toBe("deny");
    expect(policy.judge(toolAction("s", "a1", {}), facts)?.effect).toBe("allow");
    expect(policy.judge(toolAction("s", "b1", {}), facts)?.effect).toBe("deny");
  });
});
