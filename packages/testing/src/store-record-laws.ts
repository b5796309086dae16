/**
 * Laws of a PendingStore about what it keeps: a record comes back whole, from every door of the
 * store, and never another one. A store that loses an approval, an edit, a step or an end lets
 * people's answers count otherwise than they gave them.
 */
import assert from "node:assert/strict";
import type { CountedApproval, PendingRecord, PendingStore, RecordedEnd } from "@acp/core";
import { pendingRecord } from "./pending-record.js";

const response = {
  type: "consent_response",
  decision: "approved",
  proof: { algorithm: "Ed25519", signature: "00" },
} as const;

/** A record that has something in every field. */
function richRecord(id: string): PendingRecord {
  const plain = pendingRecord({ id });
  const approval: CountedApproval = {
    approverId: "ann",
    channel: "test",
    atMs: plain.request.createdAtMs + 1,
    response,
  };
  return {
    ...plain,
    action: {
      ...plain.action,
      args: {
        amount: 0.1,
        total: 1e21,
        list: [1, -2.5, null, true, { deep: "é😀\u2028" }],
        __proto__x: "own",
      },
    },
    request: {
      ...plain.request,
      text: `Agent: demo\n${"é😀\u2028".repeat(20_000)}`,
      approvers: ["ann", "bob"],
      quorum: 2,
      escalation: [{ afterMs: 1_000, approvers: ["bob"], channel: "later" }],
      offers: [
        {
          id: "tool-10m",
          scope: { kind: "tool", server: "files", name: "write_file" },
          ttlMs: 600_000,
          uses: 3,
        },
      ],
      secrets: ["TOKEN"],
      agent: { id: "demo", name: "Demo", command: "demo --run", parents: ["root"] },
    },
    approvals: [approval, { ...approval, approverId: "bob" }],
    escalated: 1,
  };
}

const endOf = ({ request }: PendingRecord): RecordedEnd => ({
  status: "approved_with_modifications",
  atMs: request.createdAtMs + 5,
  reason: "fine — é",
  approverIds: ["ann", "bob"],
  channels: ["test", "later"],
  responses: [response, response],
  modifications: { path: "b.txt", amount: 12.5 },
  effectiveDigest: `sha256:${"1".repeat(64)}`,
  grantId: "tool-10m",
  confirmation: "approve",
  validUntilMs: request.createdAtMs + 60_000,
  recorded: false,
});

/** The states that one record goes through, each a change of another field. */
function lifeOf(id: string): readonly PendingRecord[] {
  const first = richRecord(id);
  const end = endOf(first);
  const { escalated: _, ...fewer } = first;
  const states: readonly PendingRecord[] = [
    first,
    { ...first, status: "delivered" },
    { ...fewer, status: "delivered" },
    { ...first, status: "delivered", deferred: true },
    { ...first, status: "delivered", deferred: true, approvals: first.approvals.slice(0, 1) },
    { ...first, status: "ended", deferred: true, end },
    { ...first, status: "ended", deferred: true, end: { ...end, recorded: true } },
    { ...first, status: "ended", deferred: true, adopted: true, end: { ...end, recorded: true } },
  ];
  return states.map((state, version) => ({ ...state, version }));
}

async function live(pending: PendingStore, states: readonly PendingRecord[]): Promise<void> {
  for (const [at, state] of states.entries())
    if (at === 0) assert.equal(await pending.put(state), true);
    else assert.equal(await pending.transition(state.id, at - 1, state), true);
}

async function openOf(pending: PendingStore): Promise<readonly PendingRecord[]> {
  const found: PendingRecord[] = [];
  for await (const record of pending.open()) found.push(record);
  return found;
}

/** The laws, by name. */
export const recordLaws: Readonly<Record<string, (pending: PendingStore) => Promise<void>>> = {
  "get() gives a record back whole after every change, ended ones too, and no other": async (
    pending,
  ) => {
    const [mine, other] = [lifeOf("cr_1"), lifeOf("cr_2")];
    for (const [at, state] of mine.entries()) {
      if (at === 0) await pending.put(state);
      else
        assert.equal(
          await pending.transition(state.id, at - 1, state),
          true,
          `change ${at} was not made`,
        );
      if (at === 1) await pending.put(other[0] ?? state);
      assert.deepEqual(await pending.get("cr_1"), state, `after change ${at}`);
    }
    assert.deepEqual(await pending.get("cr_2"), other[0]);
    assert.equal(await pending.get("cr_3"), undefined, "a record that nobody put");
  },
  "get() gives every kind of end back whole": async (pending) => {
    const ends: readonly Partial<RecordedEnd>[] = [
      { status: "superseded", successorId: "cr_next" },
      { status: "denied", denyCode: "consent_denied" },
      { status: "expired", denyCode: "consent_expired", approverIds: [] },
      { status: "cancelled", denyCode: "consent_cancelled", approverIds: [] },
      { status: "failed", denyCode: "audit_failed", approverIds: [] },
    ];
    for (const [at, change] of ends.entries()) {
      const first = richRecord(`cr_${at}`);
      const {
        modifications: _edits,
        effectiveDigest: _digest,
        grantId: _grant,
        confirmation: _word,
        ...end
      } = endOf(first);
      const over: PendingRecord = {
        ...first,
        version: 1,
        status: "ended",
        end: { ...end, ...change },
      };
      await live(pending, [first, over]);
      assert.deepEqual(await pending.get(first.id), over, `an end that is ${change.status}`);
    }
  },
  "open() gives records whole, whether they were shown or not": async (pending) => {
    const [created, delivered] = [lifeOf("cr_1").slice(0, 1), lifeOf("cr_2").slice(0, 2)];
    await live(pending, created);
    await live(pending, delivered);
    const found = (await openOf(pending)).toSorted((one, two) => (one.id < two.id ? -1 : 1));
    assert.deepEqual(found, [created.at(-1), delivered.at(-1)]);
  },
  "open() lists an approval whole from its recording until somebody took it, and no other end":
    async (pending) => {
      const states = lifeOf("cr_1");
      await live(pending, states.slice(0, -2));
      assert.deepEqual(await openOf(pending), [], "an approval before its end is recorded");
      const [recorded, taken] = states.slice(-2);
      assert.ok(recorded !== undefined && taken !== undefined);
      await pending.transition("cr_1", recorded.version - 1, recorded);
      assert.deepEqual(await openOf(pending), [recorded], "an approval that is recorded");
      await pending.transition("cr_1", recorded.version, taken);
      assert.deepEqual(await openOf(pending), [], "an approval that was taken");
    },
  "open() lists an approval that its caller waits for, and neither one that is known not to be collected nor a denial":
    async (pending) => {
      const first = richRecord("cr_1");
      const end = { ...endOf(first), recorded: true };
      const waited: PendingRecord = { ...first, version: 1, status: "ended", end };
      await live(pending, [first, waited]);
      assert.deepEqual(await openOf(pending), [waited], "an approval that its caller waits for");
      const outcome = { status: "not_collected", detail: "nobody waited" } as const;
      await pending.transition("cr_1", 1, { ...waited, version: 2, outcome });
      assert.deepEqual(await openOf(pending), [], "an approval that was not collected");
      const { effectiveDigest: _, modifications: _edits, ...no } = end;
      const kept = { ...richRecord("cr_2"), deferred: true };
      await live(pending, [
        kept,
        {
          ...kept,
          version: 1,
          status: "ended",
          end: { ...no, status: "denied", denyCode: "consent_denied" },
        },
      ]);
      assert.deepEqual(await openOf(pending), [], "a denial");
    },
  "transition() makes no record that nobody put": async (pending) => {
    const [first] = lifeOf("cr_1");
    assert.ok(first !== undefined);
    for (const version of [0, 1, -1])
      assert.equal(
        await pending.transition("cr_1", version, { ...first, version: version + 1 }),
        false,
      );
    assert.equal(await pending.get("cr_1"), undefined);
    assert.deepEqual(await openOf(pending), []);
  },
  "put() changes nothing of a record that is there": async (pending) => {
    const [first] = lifeOf("cr_1");
    assert.ok(first !== undefined);
    await pending.put(first);
    assert.equal(
      await pending.put({ ...first, approvals: [], request: { ...first.request, quorum: 1 } }),
      false,
    );
    assert.deepEqual(await pending.get("cr_1"), first);
  },
  "watch() yields its own record whole, from the first to the end": async (pending) => {
    const [mine, other] = [lifeOf("cr_1"), lifeOf("cr_2")];
    await live(pending, other.slice(0, 1));
    await live(pending, mine.slice(0, 1));
    const stop = new AbortController();
    const seen: PendingRecord[] = [];
    const watching = (async () => {
      for await (const record of pending.watch("cr_1", stop.signal)) {
        seen.push(record);
        const next = mine[record.version + 1];
        // What changes elsewhere is nobody's to see here.
        await pending
          .transition("cr_2", 0, { ...(other[1] ?? record), id: "cr_2", version: 1 })
          .catch(() => false);
        if (next === undefined) stop.abort(new Error("seen"));
        else void pending.transition("cr_1", record.version, next);
      }
    })();
    await watching.catch((error: unknown) => assert.equal(error, stop.signal.reason));
    assert.deepEqual(seen, mine);
  },
  "takeDecision() gives the record whole": async (pending) => {
    const states = lifeOf("cr_1").slice(0, -1);
    await live(pending, states);
    const last = states.at(-1);
    assert.ok(last !== undefined);
    const taken = await pending.takeDecision(
      last.agentId,
      last.originalDigest,
      last.request.createdAtMs + 10,
    );
    assert.deepEqual(taken, { ...last, adopted: true, version: last.version + 1 });
    assert.deepEqual(await pending.get("cr_1"), taken);
  },
};
