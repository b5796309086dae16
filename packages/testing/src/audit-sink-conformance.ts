/**
 * Conformance of an AuditSink: order, receipts, durability, batches, concurrency, the latch after a
 * failure, the end; and, for sinks that outlive their process, what opening one again finds.
 * Source: spec/audit.md §5, §6.
 */
import assert from "node:assert/strict";
import { type AuditEventInput, isConsentError } from "@acp/core";
import type { ConformanceCase } from "./conformance.js";
import { contentLaws } from "./sink-content-laws.js";
import type { DurableSinkUnderTest, SinkUnderTest, StoredEvent } from "./sink-under-test.js";

type Check = (under: SinkUnderTest) => Promise<void>;

/**
 * The conformance suite for audit sinks.
 *
 * @param makeSink - Makes a fresh, empty sink for each case.
 */
export function auditSinkConformance(
  makeSink: () => Promise<SinkUnderTest>,
): readonly ConformanceCase[] {
  const single = Object.entries(CHECKS).map(([name, check]) => ({
    name: `append() ${name}`,
    async run() {
      await using under = await makeSink();
      await check(under);
    },
  }));
  return [
    ...single,
    ...Object.entries(contentLaws).map(([name, law]) => ({
      name: `append() ${name}`,
      run: () => law(makeSink),
    })),
  ];
}

/**
 * The conformance suite for sinks that outlive their process, in addition to {@link
 * auditSinkConformance}.
 *
 * @param makeSink - Makes a fresh, empty sink for each case.
 */
export function auditRecoveryConformance(
  makeSink: () => Promise<DurableSinkUnderTest>,
): readonly ConformanceCase[] {
  return Object.entries(RECOVERY_CHECKS).map(([name, check]) => ({
    name: `a sink opened again ${name}`,
    async run() {
      await using under = await makeSink();
      await check(under);
    },
  }));
}

const CHECKS: Readonly<Record<string, Check>> = {
  "keeps every field of an event": async ({ sink, read }) => {
    const event = makeEvent(1, {
      metadata: {
        text: 'line\none\u2028two"}',
        list: [1, -0.5, null, { deep: true }],
        seq_of: "7",
      },
    });
    await sink.append([event]);
    const [stored] = await read();
    assert.ok(stored !== undefined, "the event is not stored");
    const {
      seq: _seq,
      hash: _hash,
      previousHash: _previousHash,
      monoMs: _monoMs,
      ...kept
    } = stored;
    assert.deepEqual(kept, event);
  },
  "keeps the order of events and of calls": async ({ sink, read }) => {
    await sink.append([makeEvent(1), makeEvent(2)]);
    await sink.append([makeEvent(3)]);
    assert.deepEqual(ids(await read()), ids([makeEvent(1), makeEvent(2), makeEvent(3)]));
  },
  "answers with the place of the last event": async ({ sink, read }) => {
    const receipts = [
      await sink.append([makeEvent(1), makeEvent(2)]),
      await sink.append([makeEvent(3)]),
    ];
    const stored = await read();
    assert.deepEqual(receipts, [placeOf(stored[1]), placeOf(stored[2])]);
  },
  "chains the events from 0 without a gap": async ({ sink, read }) => {
    for (let number = 1; number <= 5; number++) await sink.append([makeEvent(number)]);
    assertChain(await read(), 5);
  },
  "resolves when the event can be read": async ({ sink, read }) => {
    for (let number = 1; number <= 5; number++) {
      await sink.append([makeEvent(number)]);
      assert.equal((await read()).length, number, "an acknowledged event is missing");
    }
  },
  "keeps concurrent calls in order and their batches whole": async ({ sink, read }) => {
    const batches = Array.from({ length: 40 }, (_, call) =>
      [1, 2, 3].slice(0, 1 + (call % 3)).map((part) => makeEvent(call * 10 + part)),
    );
    const receipts = await Promise.all(batches.map((batch) => sink.append(batch)));
    const stored = await read();
    assert.deepEqual(ids(stored), ids(batches.flat()));
    assertChain(stored, batches.flat().length);
    for (const [call, batch] of batches.entries()) {
      const last = stored.find((event) => event.id === batch.at(-1)?.id);
      assert.deepEqual(receipts[call], placeOf(last), "a receipt names another event");
    }
  },
  "keeps the order of every caller among many": async ({ sink, read }) => {
    const receipts: number[] = [];
    const call = async (caller: number): Promise<void> => {
      for (let turn = 0; turn < 10; turn++)
        receipts.push((await sink.append([makeEvent(caller * 100 + turn)])).seq);
    };
    await Promise.all(Array.from({ length: 30 }, (_, caller) => call(caller)));
    const stored = await read();
    assertChain(stored, 300);
    for (let caller = 0; caller < 30; caller++) {
      const own = ids(stored).filter(
        (id) => Math.floor(Number(id.slice("ae_".length)) / 100) === caller,
      );
      assert.deepEqual(
        own,
        ids(Array.from({ length: 10 }, (_, turn) => makeEvent(caller * 100 + turn))),
      );
    }
    assert.deepEqual(
      receipts.toSorted((a, b) => a - b),
      Array.from({ length: 300 }, (_, seq) => seq),
      "two appends got one place",
    );
  },
  "takes the event as it was at the call": async ({ sink, read }) => {
    const metadata = { list: ["before"] };
    const appending = sink.append([makeEvent(1, { metadata })]);
    metadata.list[0] = "after";
    await appending;
    assert.deepEqual((await read())[0]?.metadata, { list: ["before"] });
  },
  "stores nothing of a batch that holds a bad event": async ({ sink, read }) => {
    await sink.append([makeEvent(1)]);
    await assertRefused(
      sink.append([makeEvent(2), makeEvent(3, { tool: "\ud800" }), makeEvent(4)]),
    );
    assert.deepEqual(ids(await read()), ids([makeEvent(1)]));
  },
  "refuses everything after a failure": async ({ sink, read, fail }) => {
    await sink.append([makeEvent(1)]);
    await fail();
    await assertRefused(sink.append([makeEvent(2)]));
    await assertRefused(sink.append([makeEvent(3)]));
    assert.deepEqual(ids(await read()), ids([makeEvent(1)]));
  },
  "refuses all concurrent calls after a failure": async ({ sink, read, fail }) => {
    await sink.append([makeEvent(1)]);
    await fail();
    await Promise.all(
      Array.from({ length: 10 }, (_, call) => assertRefused(sink.append([makeEvent(2 + call)]))),
    );
    assert.deepEqual(ids(await read()), ids([makeEvent(1)]));
  },
  "is refused after close()": async ({ sink, read, close }) => {
    await sink.append([makeEvent(1)]);
    await close();
    await assertRefused(sink.append([makeEvent(2)]));
    assert.deepEqual(ids(await read()), ids([makeEvent(1)]));
  },
  "is waited for by close(), which may be called again": async ({ sink, read, close }) => {
    const appending = sink.append([makeEvent(1)]);
    await Promise.all([close(), close()]);
    await appending;
    await close();
    assert.deepEqual(ids(await read()), ids([makeEvent(1)]));
  },
};

/** The events that the suite appended: a sink may record of its own what it found. */
const own = (stored: readonly StoredEvent[]): readonly string[] =>
  ids(stored.filter(({ eventType }) => eventType === "policy_evaluated"));

const RECOVERY_CHECKS: Readonly<Record<string, (under: DurableSinkUnderTest) => Promise<void>>> = {
  "has every event and continues the chain": async ({ sink, close, reopen, read }) => {
    const first = await sink.append([makeEvent(1), makeEvent(2)]);
    await close();
    const again = await reopen();
    const next = await again.append([makeEvent(3)]);
    const stored = await read();
    assert.deepEqual(own(stored), ids([makeEvent(1), makeEvent(2), makeEvent(3)]));
    assertChain(stored, stored.length);
    assert.equal(stored.at(-1)?.previousHash, first.hash);
    assert.deepEqual(next, placeOf(stored.at(-1)));
  },
  "has every acknowledged event after a crash, and nothing of a write that the crash cut short":
    async ({ sink, crash, reopen, read }) => {
      for (let number = 1; number <= 5; number++) await sink.append([makeEvent(number)]);
      await crash();
      const again = await reopen();
      await again.append([makeEvent(6)]);
      const stored = await read();
      assert.deepEqual(own(stored), ids([1, 2, 3, 4, 5, 6].map((number) => makeEvent(number))));
      assertChain(stored, stored.length);
    },
  "survives one crash after another": async ({ sink, crash, reopen, read }) => {
    await sink.append([makeEvent(0)]);
    for (let number = 1; number <= 4; number++) {
      await crash();
      const again = await reopen();
      await again.append([makeEvent(number)]);
    }
    const stored = await read();
    assert.deepEqual(own(stored), ids([0, 1, 2, 3, 4].map((number) => makeEvent(number))));
    assertChain(stored, stored.length);
  },
  "takes events again once a failure is fixed": async ({
    sink,
    fail,
    mend,
    close,
    reopen,
    read,
  }) => {
    await sink.append([makeEvent(1)]);
    await fail();
    await assertRefused(sink.append([makeEvent(2)]));
    await mend();
    await assertRefused(sink.append([makeEvent(3)]));
    await close();
    const again = await reopen();
    await again.append([makeEvent(4)]);
    assert.deepEqual(own(await read()), ids([makeEvent(1), makeEvent(4)]));
  },
  "is refused while another writer has it": async ({ sink, reopen, read }) => {
    await sink.append([makeEvent(1)]);
    await assert.rejects(reopen(), (error) => isConsentError(error, "audit_busy"));
    await sink.append([makeEvent(2)]);
    assert.deepEqual(own(await read()), ids([makeEvent(1), makeEvent(2)]));
  },
};

function makeEvent(number: number, fields: Partial<AuditEventInput> = {}): AuditEventInput {
  return {
    id: `ae_${number}`,
    atMs: Date.UTC(2026, 0, 15, 10, 30) + number,
    eventType: "policy_evaluated",
    requestId: "",
    agent: "agent-1",
    tool: "write_file",
    category: "write",
    riskLevel: "medium",
    decision: "allow",
    responseTimeMs: 0.25,
    policyRule: "rule_1",
    metadata: {},
    ...fields,
  };
}

function ids(events: readonly { readonly id: string }[]): readonly string[] {
  return events.map(({ id }) => id);
}

function placeOf(
  event: StoredEvent | undefined,
): { readonly seq: number; readonly hash: string } | undefined {
  return event === undefined ? undefined : { seq: event.seq, hash: event.hash };
}

function assertChain(stored: readonly StoredEvent[], length: number): void {
  assert.deepEqual(
    stored.map(({ seq }) => seq),
    Array.from({ length }, (_, seq) => seq),
  );
  assert.deepEqual(
    stored.map(({ previousHash }) => previousHash),
    [null, ...stored.slice(0, -1).map(({ hash }) => hash)],
  );
  assert.equal(new Set(stored.map(({ hash }) => hash)).size, length, "two events have one hash");
}

async function assertRefused(appending: Promise<unknown>): Promise<void> {
  await assert.rejects(appending, (error) => isConsentError(error, "audit_failed"));
}
