/**
 * Conformance of a Store: atomic verbs under concurrency, exact windows, one end, one adoption.
 * Source: spec/ports.md.
 */
import assert from "node:assert/strict";
import {
  type Claims,
  type Grant,
  type Grants,
  type Limits,
  type PendingRecord,
  type PendingStore,
  reduce,
  type Store,
  toolAction,
} from "@acp/core";
import { type ConformanceCase, withPatience } from "./conformance.js";
import { type ManualClock, manualClock } from "./manual-clock.js";
import { pendingRecord } from "./pending-record.js";
import { claimKeyLaws, grantKeyLaws, limitKeyLaws } from "./store-key-laws.js";
import { recordLaws } from "./store-record-laws.js";

/** Makes a fresh, empty store, which should use the suite's clock if it can. */
export type MakeStore = (clock: ManualClock) => Promise<Store> | Store;

interface Under extends Store {
  readonly clock: ManualClock;
}

type Check = (under: Under) => Promise<void>;

const CALLS_AT_ONCE = 20;

const count = (results: readonly boolean[]): number => results.filter(Boolean).length;
const atOnce = <T>(work: () => Promise<T>): Promise<readonly T[]> =>
  Promise.all(Array.from({ length: CALLS_AT_ONCE }, work));

const claimChecks: Readonly<Record<string, (claims: Claims, clock: ManualClock) => Promise<void>>> =
  {
    "claimOnce() gives a key to one of many at once": async (claims) => {
      assert.equal(count(await atOnce(() => claims.claimOnce("nonce:1", 60_000))), 1);
    },
    "claimOnce() keeps keys apart": async (claims) => {
      assert.equal(await claims.claimOnce("nonce:1", 60_000), true);
      assert.equal(await claims.claimOnce("nonce:2", 60_000), true);
    },
    "claimOnce() frees a key after its time and not before, whatever the wall clock does": async (
      claims,
      clock,
    ) => {
      await claims.claimOnce("nonce:1", 60_000);
      clock.jump(24 * 3_600_000);
      await clock.advance(59_999);
      assert.equal(await claims.claimOnce("nonce:1", 60_000), false);
      await clock.advance(2);
      assert.equal(await claims.claimOnce("nonce:1", 60_000), true);
    },
    "isClaimed() tells what is claimed, and claims nothing itself": async (claims) => {
      assert.equal(await claims.isClaimed("revoked:1"), false);
      assert.equal(await claims.claimOnce("revoked:1", 60_000), true);
      assert.deepEqual(
        [await claims.isClaimed("revoked:1"), await claims.isClaimed("revoked:2")],
        [true, false],
      );
      assert.equal(await claims.claimOnce("revoked:1", 60_000), false);
    },
    "isClaimed() tells it for the time of the claim and no longer, whatever the wall clock does":
      async (claims, clock) => {
        await claims.claimOnce("revoked:1", 60_000);
        clock.jump(24 * 3_600_000);
        await clock.advance(59_999);
        assert.equal(await claims.isClaimed("revoked:1"), true);
        await clock.advance(2);
        assert.equal(await claims.isClaimed("revoked:1"), false);
      },
  };

const perMinute = (
  key: string,
  max: number,
): { key: string; amount: number; max: number; windowMs: number } => ({
  key,
  amount: 1,
  max,
  windowMs: 60_000,
});

const limitChecks: Readonly<Record<string, (limits: Limits, clock: ManualClock) => Promise<void>>> =
  {
    "reserve() never gives more than the maximum, many at once": async (limits) => {
      const results = await atOnce(() => limits.reserve([perMinute("a", 7)]));
      assert.equal(results.filter(({ ok }) => ok).length, 7);
    },
    "reserve() slides: no window border lets two bursts through": async (limits, clock) => {
      await clock.advance(59_000);
      for (let use = 0; use < 5; use++)
        assert.equal((await limits.reserve([perMinute("a", 5)])).ok, true);
      await clock.advance(2_000);
      const refused = await limits.reserve([perMinute("a", 5)]);
      assert.equal(refused.ok, false);
      assert.equal(refused.ok ? 0 : refused.retryAfterMs, 58_000);
      await clock.advance(58_000);
      assert.equal((await limits.reserve([perMinute("a", 5)])).ok, true);
    },
    "reserve() takes all claims or none": async (limits) => {
      assert.equal((await limits.reserve([perMinute("full", 1)])).ok, true);
      assert.equal((await limits.reserve([perMinute("free", 1), perMinute("full", 1)])).ok, false);
      assert.equal((await limits.reserve([perMinute("free", 1)])).ok, true);
    },
    "reserve() counts two claims on one key together": async (limits) => {
      assert.equal((await limits.reserve([perMinute("a", 1), perMinute("a", 1)])).ok, false);
    },
    "reserve() refuses claims that are no amounts": async (limits) => {
      for (const amount of [Number.NaN, -1, Number.POSITIVE_INFINITY])
        assert.equal((await limits.reserve([{ ...perMinute("a", 5), amount }])).ok, false);
      assert.equal((await limits.reserve([{ ...perMinute("a", 5), max: Number.NaN }])).ok, false);
    },
    "settle() gives an unused reservation back, once, and keeps a used one": async (limits) => {
      const first = await limits.reserve([perMinute("a", 1)]);
      assert.ok(first.ok);
      await limits.settle(first.id, false);
      const second = await limits.reserve([perMinute("a", 1)]);
      assert.ok(second.ok);
      await limits.settle(second.id, true);
      await limits.settle(second.id, false);
      assert.equal((await limits.reserve([perMinute("a", 1)])).ok, false);
    },
  };

async function mustTransition(
  pending: PendingStore,
  record: PendingRecord,
  event: Parameters<typeof reduce>[1],
): Promise<PendingRecord> {
  const reduction = reduce(record, event);
  assert.ok(reduction.ok, `the reducer refuses ${event.type}`);
  assert.equal(await pending.transition(record.id, record.version, reduction.next), true);
  return reduction.next;
}

/** A deferred record whose denial is recorded: what a retry may adopt. */
async function decided(pending: PendingStore): Promise<PendingRecord> {
  const record = pendingRecord();
  const atMs = record.request.createdAtMs + 1;
  assert.equal(await pending.put(record), true);
  const deferred = await mustTransition(pending, record, { type: "defer" });
  const approval = { approverId: "local", channel: "test", atMs };
  const ended = await mustTransition(pending, deferred, {
    type: "approve",
    approval,
    terms: { reason: "", validUntilMs: atMs + 60_000 },
  });
  return mustTransition(pending, ended, { type: "recorded" });
}

const pendingChecks: Readonly<Record<string, (pending: PendingStore) => Promise<void>>> = {
  "put() keeps a record once and get() gives it back": async (pending) => {
    const record = pendingRecord();
    assert.equal(await pending.put(record), true);
    assert.equal(await pending.put({ ...record, agentId: "other" }), false);
    assert.deepEqual(await pending.get(record.id), record);
    assert.equal(await pending.get("cr_unknown"), undefined);
  },
  "transition() lets one of many at once win": async (pending) => {
    const record = pendingRecord();
    await pending.put(record);
    const next = { ...record, version: 1, status: "delivered" as const };
    assert.equal(count(await atOnce(() => pending.transition(record.id, 0, next))), 1);
    assert.equal(await pending.transition(record.id, 0, next), false);
    assert.equal(await pending.transition("cr_unknown", 0, next), false);
    assert.deepEqual(await pending.get(record.id), next);
  },
  "open() lists what has not ended": async (pending) => {
    const open = pendingRecord({ id: "cr_open" });
    const over = pendingRecord({ id: "cr_over" });
    await pending.put(open);
    await pending.put(over);
    await mustTransition(pending, over, { type: "expire", atMs: over.request.expiresAtMs });
    const found: string[] = [];
    for await (const { id } of pending.open()) found.push(id);
    assert.deepEqual(found, ["cr_open"]);
  },
  "takeDecision() gives a recorded decision to one of many at once, and never again": async (
    pending,
  ) => {
    const { agentId, originalDigest, request } = await decided(pending);
    const taken = await atOnce(() =>
      pending.takeDecision(agentId, originalDigest, request.createdAtMs + 2),
    );
    assert.equal(taken.filter((record) => record !== undefined).length, 1);
    assert.equal(taken.find((record) => record !== undefined)?.adopted, true);
    assert.equal(
      await pending.takeDecision(agentId, originalDigest, request.createdAtMs + 2),
      undefined,
    );
  },
  "takeDecision() gives nothing to another agent, another action or after its time": async (
    pending,
  ) => {
    const { agentId, originalDigest, request } = await decided(pending);
    assert.equal(
      await pending.takeDecision("other", originalDigest, request.createdAtMs + 2),
      undefined,
    );
    assert.equal(
      await pending.takeDecision(agentId, "sha256:other", request.createdAtMs + 2),
      undefined,
    );
    assert.equal(
      await pending.takeDecision(agentId, originalDigest, request.createdAtMs + 60_002),
      undefined,
    );
  },
  "takeDecision() gives nothing of a caller that was not told to call again, nor an unrecorded end":
    async (pending) => {
      const waited = pendingRecord({ id: "cr_waited" });
      await pending.put(waited);
      const atMs = waited.request.createdAtMs + 1;
      await mustTransition(pending, waited, {
        type: "cancel",
        atMs,
        reason: "",
        denyCode: "consent_cancelled",
      });
      const unrecorded = pendingRecord({ id: "cr_unrecorded" });
      await pending.put(unrecorded);
      const deferred = await mustTransition(pending, unrecorded, { type: "defer" });
      await mustTransition(pending, deferred, {
        type: "cancel",
        atMs,
        reason: "",
        denyCode: "consent_cancelled",
      });
      assert.equal(
        await pending.takeDecision(waited.agentId, waited.originalDigest, atMs),
        undefined,
      );
    },
  "takeDecision() gives an open question back unadopted": async (pending) => {
    const record = pendingRecord();
    await pending.put(record);
    const deferred = await mustTransition(pending, record, { type: "defer" });
    assert.deepEqual(
      await pending.takeDecision(record.agentId, record.originalDigest, record.request.createdAtMs),
      deferred,
    );
  },
  "watch() yields the record, then its changes, until it is told to stop": async (pending) => {
    const record = pendingRecord();
    await pending.put(record);
    const stop = new AbortController();
    const versions: number[] = [];
    const watching = (async () => {
      for await (const { version } of pending.watch(record.id, stop.signal)) {
        versions.push(version);
        if (version === 0) void mustTransition(pending, record, { type: "delivered" });
        else stop.abort(new Error("seen"));
      }
    })();
    await watching.catch((error: unknown) => assert.equal(error, stop.signal.reason));
    assert.deepEqual(versions, [0, 1]);
  },
};

const START_MS = 1_768_473_000_000;
const write = toolAction("files", "write_file", { path: "a" });

function grant(change: Partial<Grant> = {}): Grant {
  return {
    id: "gr_1",
    agentId: "demo",
    scope: { kind: "tool", server: "files", name: "write_file" },
    createdAtMs: START_MS,
    expiresAtMs: START_MS + 60_000,
    requestId: "cr_1",
    approverIds: ["local"],
    evidence: "any",
    secrets: [],
    ...change,
  };
}

const grantChecks: Readonly<Record<string, (grants: Grants) => Promise<void>>> = {
  "find() gives live grants of the agent that cover the action, narrowest first": async (
    grants,
  ) => {
    await grants.put(grant({ id: "gr_tool" }));
    const { actionDigest } = await import("@acp/core");
    await grants.put(
      grant({ id: "gr_exact", scope: { kind: "action", digest: actionDigest(write) } }),
    );
    await grants.put(grant({ id: "gr_other_agent", agentId: "other" }));
    await grants.put(
      grant({ id: "gr_other_tool", scope: { kind: "tool", server: "files", name: "read_file" } }),
    );
    await grants.put(grant({ id: "gr_over", expiresAtMs: START_MS }));
    const found = await grants.find("demo", write, START_MS);
    assert.deepEqual(
      found.map(({ id }) => id),
      ["gr_exact", "gr_tool"],
    );
    assert.deepEqual(await grants.find("demo", write, START_MS + 60_000), []);
    assert.deepEqual(await grants.find("demo", write, START_MS - 1), []);
  },
  "find() gives a grant for argument patterns of the action's tool: what they cover is not the store's to know":
    async (grants) => {
      const scope = {
        kind: "arguments",
        server: "files",
        name: "write_file",
        args: { path: "b" },
      } as const;
      await grants.put(grant({ id: "gr_patterns", scope }));
      await grants.put(grant({ id: "gr_other", scope: { ...scope, name: "read_file" } }));
      assert.deepEqual(
        (await grants.find("demo", write, START_MS)).map(({ id }) => id),
        ["gr_patterns"],
      );
    },
  "get() gives a grant as it is, used up or not, and none that was revoked": async (grants) => {
    await grants.put(grant({ usesLeft: 1 }));
    assert.deepEqual(await grants.get("gr_1"), grant({ usesLeft: 1 }));
    await grants.use("gr_1", START_MS);
    assert.deepEqual(await grants.get("gr_1"), grant({ usesLeft: 0 }));
    await grants.revoke("gr_1");
    assert.equal(await grants.get("gr_1"), undefined);
    assert.equal(await grants.get("gr_unknown"), undefined);
  },
  "put() may forget what is over, and nothing else": async (grants) => {
    await grants.put(grant({ id: "gr_over" }));
    await grants.put(grant({ id: "gr_open", expiresAtMs: START_MS + 120_000 }));
    await grants.put(
      grant({ id: "gr_new", createdAtMs: START_MS + 60_000, expiresAtMs: START_MS + 120_000 }),
    );
    const listed = (await grants.list()).map(({ id }) => id).filter((id) => id !== "gr_over");
    assert.deepEqual(listed.toSorted(), ["gr_new", "gr_open"]);
  },
  "use() gives no more uses than there are, many at once": async (grants) => {
    await grants.put(grant({ usesLeft: 3 }));
    assert.equal(count(await atOnce(() => grants.use("gr_1", START_MS))), 3);
    assert.deepEqual(await grants.find("demo", write, START_MS), []);
  },
  "use() refuses what is over, revoked or unknown": async (grants) => {
    await grants.put(grant());
    assert.equal(await grants.use("gr_1", START_MS + 60_000), false);
    assert.equal(await grants.revoke("gr_1"), true);
    assert.equal(await grants.revoke("gr_1"), false);
    assert.equal(await grants.use("gr_1", START_MS), false);
    assert.equal(await grants.use("gr_unknown", START_MS), false);
    assert.deepEqual(await grants.find("demo", write, START_MS), []);
  },
};

function checksOf(): readonly (readonly [string, Check])[] {
  return [
    ...Object.entries({ ...claimChecks, ...claimKeyLaws }).map(
      ([name, check]) => [name, ({ claims, clock }: Under) => check(claims, clock)] as const,
    ),
    ...Object.entries({ ...limitChecks, ...limitKeyLaws }).map(
      ([name, check]) => [name, ({ limits, clock }: Under) => check(limits, clock)] as const,
    ),
    ...Object.entries({ ...pendingChecks, ...recordLaws }).map(
      ([name, check]) => [name, ({ pending }: Under) => check(pending)] as const,
    ),
    ...Object.entries({ ...grantChecks, ...grantKeyLaws }).map(
      ([name, check]) => [name, ({ grants }: Under) => check(grants)] as const,
    ),
  ];
}

/** Options of {@link storeConformance}. */
export interface StoreConformanceOptions {
  /**
   * How long one case may take before the store counts as stuck, in milliseconds; 120,000 unless
   * given.
   */
  readonly patienceMs?: number;
}

/**
 * The conformance suite for stores. A case is named after the rule that a store must keep.
 *
 * @param makeStore - Makes a fresh store for each case.
 */
export function storeConformance(
  makeStore: MakeStore,
  { patienceMs = 120_000 }: StoreConformanceOptions = {},
): readonly ConformanceCase[] {
  return checksOf().map(([name, check]) => ({
    name,
    async run() {
      const clock = manualClock(START_MS);
      await withPatience(check({ ...(await makeStore(clock)), clock }), patienceMs);
    },
  }));
}
