/** Laws of grants and offers, for any scopes, bounds and policies. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareScopes, scopeCovers, scopeIncludes } from "../src/approval/grants.js";
import { callScope, mergeOffers, siteScope, toolScope } from "../src/approval/offers.js";
import { type Action, createConsentGate, type Grant, memoryStore } from "../src/index.js";
import { parsePolicy } from "../src/policy.js";
import { manualClock, seededIds } from "@acp/testing";
import { recordingSink } from "./gate-kit.js";
import { actions, lists, load, origins, wordPatterns, words } from "./policy-arbitraries.js";
import type { GrantOffer, GrantScope } from "../src/types/scope.js";

const RUNS = { numRuns: Number(process.env["ACP_RUNS"] ?? 300) };
const prover = load([]);

const patterns = fc.dictionary(
  fc.constantFrom("a", "b", "path"),
  fc.oneof(wordPatterns, words, fc.constantFrom(5, true)),
  {
    minKeys: 1,
    maxKeys: 3,
  },
);
const scopesOf = (action: Action): fc.Arbitrary<GrantScope> => {
  const tool = toolScope(action);
  const host = siteScope(action);
  const some: fc.Arbitrary<GrantScope>[] = [fc.constant(callScope(action))];
  if (tool?.kind === "tool")
    some.push(
      fc.constant(tool),
      patterns.map((args) => ({ ...tool, kind: "arguments" as const, args })),
    );
  if (host?.kind === "host") {
    const { twin, ...alone } = host;
    const { method } = action.meta.kind === "http" ? action.meta : { method: "" };
    for (const methods of [["*"], [method], ["GET", "HEAD", method]])
      some.push(fc.constant({ ...host, methods }), fc.constant({ ...alone, methods }));
    if (twin !== undefined) some.push(fc.constant({ ...host, host: twin, twin: host.host }));
  }
  return fc.oneof(...some);
};
const offersOf = (action: Action): fc.Arbitrary<readonly GrantOffer[]> =>
  fc
    .array(
      fc.record({
        id: words,
        scope: scopesOf(action),
        ttlMs: fc.integer({ min: 1, max: 9 }),
        uses: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
      }),
      { maxLength: 4 },
    )
    .map((offers) =>
      offers
        .filter(({ scope }) => scopeCovers(scope, action, prover))
        .map(({ uses, ...offer }) => (uses === undefined ? offer : { ...offer, uses })),
    );
/** An action with things made for it. */
const withAction = <T>(
  make: (action: Action) => fc.Arbitrary<T>,
): fc.Arbitrary<readonly [Action, T]> =>
  actions.chain((action) => make(action).map((made) => [action, made] as const));
const usesOf = ({ uses }: GrantOffer): number => uses ?? Number.POSITIVE_INFINITY;

describe("scopes", () => {
  it("that include another one cover all that it covers", () => {
    fc.assert(
      fc.property(
        withAction((action) => fc.tuple(scopesOf(action), scopesOf(action))),
        actions,
        ([action, [wide, narrow]], other) => {
          if (
            ![wide, narrow].every((scope) => scopeCovers(scope, action, prover)) ||
            !scopeIncludes(wide, narrow)
          )
            return;
          if (scopeCovers(narrow, other, prover))
            expect(scopeCovers(wide, other, prover)).toBe(true);
        },
      ),
      RUNS,
    );
  });

  it("include themselves, and what is included by what they include", () => {
    fc.assert(
      fc.property(
        withAction((action) => fc.tuple(scopesOf(action), scopesOf(action), scopesOf(action))),
        ([action, [a, b, c]]) => {
          const covering = [a, b, c].filter((scope) => scopeCovers(scope, action, prover));
          for (const scope of covering) expect(scopeIncludes(scope, scope)).toBe(true);
          if (covering.length === 3 && scopeIncludes(a, b) && scopeIncludes(b, c))
            expect(scopeIncludes(a, c)).toBe(true);
        },
      ),
      RUNS,
    );
  });

  it("stand before what includes them, in one order", () => {
    fc.assert(
      fc.property(
        withAction((action) => fc.tuple(scopesOf(action), scopesOf(action))),
        ([action, [a, b]]) => {
          if (![a, b].every((scope) => scopeCovers(scope, action, prover))) return;
          expect(Math.sign(compareScopes(a, b))).toBe(-Math.sign(compareScopes(b, a)) + 0);
          if (scopeIncludes(a, b) && !scopeIncludes(b, a))
            expect(compareScopes(b, a)).toBeLessThan(0);
        },
      ),
      RUNS,
    );
  });
});

describe("mergeOffers()", () => {
  const manyLists = withAction((action) =>
    fc.array(offersOf(action), { minLength: 1, maxLength: 3 }),
  );

  it("does not depend on the order of asks, nor of offers", () => {
    fc.assert(
      fc.property(manyLists, fc.integer(), ([, given], seed) => {
        const shuffled = given.map((list) =>
          list.toSorted((a, b) => ((a.ttlMs * 31 + seed) % 7) - ((b.ttlMs * 31 + seed) % 7)),
        );
        expect(mergeOffers(shuffled.toReversed())).toEqual(mergeOffers(given));
      }),
      RUNS,
    );
  });

  it("offers nothing that any of the asks does not offer, for no longer and no more often", () => {
    fc.assert(
      fc.property(manyLists, ([, given]) => {
        for (const offer of mergeOffers(given)) {
          for (const list of given) {
            const covering = list.filter(({ scope }) => scopeIncludes(scope, offer.scope));
            expect(Math.max(...covering.map(({ ttlMs }) => ttlMs))).toBeGreaterThanOrEqual(
              offer.ttlMs,
            );
            expect(Math.max(...covering.map(usesOf))).toBeGreaterThanOrEqual(usesOf(offer));
          }
        }
      }),
      RUNS,
    );
  });

  it("never offers more because one more ask is behind the question", () => {
    fc.assert(
      fc.property(
        withAction((action) =>
          fc.tuple(fc.array(offersOf(action), { minLength: 1, maxLength: 2 }), offersOf(action)),
        ),
        ([, [given, more]]) => {
          const before = mergeOffers(given);
          for (const offer of mergeOffers([...given, more])) {
            const same = before.find(({ scope }) => scopeIncludes(scope, offer.scope));
            expect(same).toBeDefined();
          }
        },
      ),
      RUNS,
    );
  });

  it("gives every offer an id and a scope of its own", () => {
    fc.assert(
      fc.property(manyLists, ([, given]) => {
        const merged = mergeOffers(given);
        expect(new Set(merged.map(({ id }) => id)).size).toBe(merged.length);
        for (const [at, a] of merged.entries())
          for (const b of merged.slice(at + 1))
            expect(scopeIncludes(a.scope, b.scope) && scopeIncludes(b.scope, a.scope)).toBe(false);
      }),
      RUNS,
    );
  });
});

describe("a grant", () => {
  const AGENT = { id: "agent" };

  it("never turns a deny into an allow, whatever it covers and whatever the rules offer", async () => {
    const offering = [{ covers: "call", ttl: 60 }];
    await fc.assert(
      fc.asyncProperty(withAction(scopesOf), lists, async ([action, scope], rules) => {
        const clock = manualClock();
        const store = memoryStore(clock);
        const grant: Grant = {
          id: "gr_1",
          agentId: AGENT.id,
          scope,
          createdAtMs: clock.now(),
          expiresAtMs: clock.now() + 60_000,
          requestId: "cr_0",
          approverIds: ["local"],
          evidence: "any",
          secrets: [],
        };
        await store.grants.put(grant);
        const asked = rules.map((rule) =>
          rule.action === "ask" ? { ...rule, offers: offering } : rule,
        );
        const policy = parsePolicy({ version: "1", default: "ask", rules: asked }, origins);
        const channel = { name: "none", deliver: () => Promise.reject(new Error("nobody")) };
        const without = createConsentGate({
          policy,
          channel,
          audit: recordingSink(),
          clock,
          ids: seededIds(),
        });
        const gate = createConsentGate({
          policy,
          channel,
          audit: recordingSink(),
          clock,
          ids: seededIds(1),
          store,
        });
        const { ruling } = gate.evaluate(action, { agent: AGENT });
        const verdict = await gate(action, { agent: AGENT });
        if (ruling.effect === "deny")
          expect(verdict).toMatchObject({ decision: "deny", code: "policy_denied" });
        if (verdict.code === "grant_used") {
          expect(ruling.effect).toBe("ask");
          expect(scopeCovers(scope, action, policy)).toBe(true);
        } else expect(verdict.code).toBe((await without(action, { agent: AGENT })).code);
      }),
      { numRuns: Number(process.env["ACP_RUNS"] ?? 150) },
    );
  });
});
