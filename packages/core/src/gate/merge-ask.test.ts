import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { GrantOffer, OfferTerms } from "../types/scope.js";
import type { RiskLevel } from "../types/words.js";
import type { AskTerms } from "../layers.js";
import { levelRank, mergeAsk } from "./merge-ask.js";

const rulings = (...terms: readonly (AskTerms | undefined)[]) =>
  terms.map((ask, i) => ({
    layer: `l${i}`,
    ruling: {
      effect: "ask" as const,
      ruleId: "r",
      reason: "",
      ...(ask === undefined ? {} : { ask }),
    },
  }));
const defaults = {
  askTimeoutMs: 120_000,
  groups: { ops: ["alice", "bob"] },
  offers: [],
  offerFor: (offer: OfferTerms) => offer as GrantOffer,
};

describe("mergeAsk()", () => {
  it("takes the stricter of every term", () => {
    const merged = mergeAsk(
      rulings(
        { timeoutMs: 60_000, quorum: 2, approvers: ["ops"] },
        { timeoutMs: 90_000, evidence: "passkey", approvers: ["bob", "carol"] },
        undefined,
      ),
      defaults,
    );
    expect(merged).toEqual({
      timeoutMs: 60_000,
      quorum: 2,
      evidence: "passkey",
      offers: [],
      approvers: ["bob"],
    });
  });

  it("lets a rule's timeout win over the gate's, longer or shorter", () => {
    expect(mergeAsk(rulings({ timeoutMs: 600_000 }), defaults)?.timeoutMs).toBe(600_000);
    expect(mergeAsk(rulings(undefined), defaults)?.timeoutMs).toBe(120_000);
  });

  it("keeps an empty list of approvers empty", () => {
    expect(mergeAsk(rulings({ approvers: [] }, undefined), defaults)?.approvers).toEqual([]);
  });

  it("keeps only offers that every ask makes, each as narrow as the narrowest", () => {
    const scope = { kind: "tool", server: "s", name: "n" } as const;
    const merged = mergeAsk(
      rulings(
        { offers: [{ id: "a", scope, ttlMs: 60_000 }] },
        {
          offers: [
            { id: "b", scope: { ...scope }, ttlMs: 5_000, uses: 2 },
            { id: "c", scope: { ...scope, name: "m" }, ttlMs: 1 },
          ],
        },
      ),
      defaults,
    );
    expect(merged?.offers).toEqual([{ id: "a", scope, ttlMs: 5_000, uses: 2 }]);
    expect(
      mergeAsk(rulings({ offers: [{ id: "a", scope, ttlMs: 1 }] }, undefined), defaults)?.offers,
    ).toEqual([]);
  });

  it.each<[string, AskTerms]>([
    ["NaN", { timeoutMs: Number.NaN }],
    ["no time", { timeoutMs: 0 }],
    ["more than a week", { timeoutMs: 604_800_001 }],
    ["a quorum of nobody", { quorum: 0 }],
    ["half a person", { quorum: 1.5 }],
    ["unknown evidence", { evidence: "none" as never }],
    ["approvers that are no list", { approvers: "alice" as never }],
    [
      "an offer for ever",
      {
        offers: [
          { id: "a", scope: { kind: "action", digest: "" }, ttlMs: Number.POSITIVE_INFINITY },
        ],
      },
    ],
  ])("finds a broken layer in %s", (_, terms) => {
    expect(mergeAsk(rulings(terms), defaults)).toBeUndefined();
  });

  it("is never laxer than any of its asks", () => {
    const terms = fc.record(
      {
        timeoutMs: fc.integer({ min: 1, max: 1_000 }),
        quorum: fc.integer({ min: 1, max: 5 }),
        approvers: fc.subarray(["alice", "bob", "carol"]),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(terms, { minLength: 1, maxLength: 4 }), (list) => {
        const merged = mergeAsk(rulings(...(list as AskTerms[])), defaults);
        for (const each of list) {
          expect(merged?.quorum).toBeGreaterThanOrEqual(each.quorum ?? 1);
          if (each.timeoutMs !== undefined)
            expect(merged?.timeoutMs).toBeLessThanOrEqual(each.timeoutMs);
          if (each.approvers !== undefined)
            expect(merged?.approvers?.every((id) => each.approvers?.includes(id))).toBe(true);
        }
      }),
    );
  });
});

describe("levelRank()", () => {
  it("orders the levels and puts a word that is none on top", () => {
    const levels: readonly RiskLevel[] = ["low", "medium", "high", "critical"];
    expect(levels.map(levelRank)).toEqual([0, 1, 2, 3]);
    expect(levelRank("toString" as RiskLevel)).toBe(Number.POSITIVE_INFINITY);
  });
});
