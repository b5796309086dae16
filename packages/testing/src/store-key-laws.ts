/**
 * Laws of claims, limits and grants about which is which: keys are exact, and a refusal, a grant
 * and a list name the right one.
 */
import assert from "node:assert/strict";
import type { Claims, Grant, Grants, Limits } from "@acp/core";

const HOUR_MS = 3_600_000;

/** Of claims. */
export const claimKeyLaws: Readonly<Record<string, (claims: Claims) => Promise<void>>> = {
  "claimOnce() knows a key by all of its characters": async (claims) => {
    const long = "nonce:".padEnd(300, "x");
    const keys = [
      "nonce:a",
      "nonce:A",
      "nonce:a ",
      " nonce:a",
      `${long}1`,
      `${long}2`,
      "nonce:é",
      "nonce:e\u0301",
    ];
    for (const key of keys)
      assert.equal(
        await claims.claimOnce(key, HOUR_MS),
        true,
        `${JSON.stringify(key)} is taken by another key`,
      );
    for (const key of keys)
      assert.equal(
        await claims.claimOnce(key, HOUR_MS),
        false,
        `${JSON.stringify(key)} was given twice`,
      );
  },
  "isClaimed() knows a key by all of its characters": async (claims) => {
    const long = "revoked:".padEnd(300, "x");
    await claims.claimOnce("revoked:a", HOUR_MS);
    await claims.claimOnce(`${long}1`, HOUR_MS);
    for (const key of ["revoked:A", "revoked:a ", "revoked:á", `${long}2`])
      assert.equal(
        await claims.isClaimed(key),
        false,
        `${JSON.stringify(key)} is taken for another key`,
      );
    assert.equal(await claims.isClaimed(`${long}1`), true);
  },
};

/** Of limits. */
export const limitKeyLaws: Readonly<Record<string, (limits: Limits) => Promise<void>>> = {
  "reserve() names the key that is full": async (limits) => {
    const claim = (key: string, max: number) => ({ key, amount: 1, max, windowMs: HOUR_MS });
    assert.equal((await limits.reserve([claim("full", 1)])).ok, true);
    const refused = await limits.reserve([
      claim("free", 5),
      claim("full", 1),
      claim("also free", 5),
    ]);
    assert.equal(refused.ok ? "given" : refused.key, "full");
  },
  "reserve() counts amounts": async (limits) => {
    const claim = (amount: number) => ({ key: "money", amount, max: 10, windowMs: HOUR_MS });
    assert.equal((await limits.reserve([claim(9.5)])).ok, true);
    assert.equal((await limits.reserve([claim(0.75)])).ok, false);
    assert.equal((await limits.reserve([claim(0.5)])).ok, true);
  },
};

const START_MS = 1_768_473_000_000;

/** A grant that has something in every field. */
function richGrant(id: string): Grant {
  return {
    id,
    agentId: "demo",
    scope: {
      kind: "arguments",
      server: "files",
      name: "write_file",
      args: { path: "/a/é/*", amount: 0.5 },
    },
    createdAtMs: START_MS,
    expiresAtMs: START_MS + HOUR_MS,
    usesLeft: 3,
    requestId: "cr_1",
    approverIds: ["ann", "bob"],
    evidence: "any",
    secrets: ["TOKEN"],
  };
}

/** Of grants. */
export const grantKeyLaws: Readonly<Record<string, (grants: Grants) => Promise<void>>> = {
  "get() and list() give grants back whole, each its own": async (grants) => {
    const both = [richGrant("gr_1"), { ...richGrant("gr_2"), usesLeft: 9, approverIds: ["cleo"] }];
    for (const grant of both) await grants.put(grant);
    for (const grant of both) assert.deepEqual(await grants.get(grant.id), grant);
    assert.deepEqual(
      (await grants.list()).toSorted((one, two) => (one.id < two.id ? -1 : 1)),
      both,
    );
  },
  "use() and revoke() touch the grant that they name": async (grants) => {
    for (const id of ["gr_1", "gr_2"]) await grants.put(richGrant(id));
    assert.equal(await grants.use("gr_1", START_MS), true);
    assert.deepEqual(
      [(await grants.get("gr_1"))?.usesLeft, (await grants.get("gr_2"))?.usesLeft],
      [2, 3],
    );
    assert.equal(await grants.revoke("gr_1"), true);
    assert.deepEqual(
      (await grants.list()).map(({ id }) => id),
      ["gr_2"],
      "a revoked grant is listed, or another one was revoked",
    );
    assert.deepEqual(await grants.get("gr_2"), richGrant("gr_2"));
  },
};
