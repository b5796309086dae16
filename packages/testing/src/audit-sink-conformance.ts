/**
 * Conformance of an AuditSink: order, receipts, durability, batches, the latch after a failure, the end. Source: spec/audit.md §5.
 */
import assert from "node:assert/strict";
import { type AuditEventInput, type AuditSink, isConsentError } from "@acp/core";
import type { ConformanceCase } from "./conformance.js";

/** One event as it was stored. */
export interface StoredEvent extends Omit<AuditEventInput, "eventType"> {
  readonly eventType: string;
  readonly seq: number;
  /** Monotonic time, where the sink keeps it. */
  readonly monoMs?: number;
  readonly previousHash: string | null;
  readonly hash: string;
}

/** A fresh, empty sink, and what the suite needs beside it. */
export interface SinkUnderTest extends AsyncDisposable {
  readonly sink: AuditSink;
  /** Ends the sink. */
  close(): Promise<void>;
  /** Every event, oldest first, read from where it is kept and not through the sink. */
  read(): Promise<readonly StoredEvent[]>;
  /** Breaks what the sink writes to; what was stored stays readable. */
  fail(): Promise<void>;
}

type Check = (under: SinkUnderTest) => Promise<void>;

/** The suite for sinks that `makeSink` makes. */
export function auditSinkConformance(makeSink: () => Promise<SinkUnderTest>): readonly ConformanceCase[] {
  return Object.entries(CHECKS).map(([name, check]) => ({
    name: `append() ${name}`,
    async run() {
      await using under = await makeSink();
      await check(under);
    },
  }));
}

const CHECKS: Readonly<Record<string, Check>> = {
  "keeps every field of an event": async ({ sink, read }) => {
    const event = makeEvent(1, { metadata: { text: 'line\none\u2028two"}', list: [1, -0.5, null, { deep: true }], seq_of: "7" } });
    await sink.append([event]);
    const [stored] = await read();
    assert.ok(stored !== undefined, "the event is not stored");
    const { seq: _seq, hash: _hash, previousHash: _previousHash, monoMs: _monoMs, ...kept } = stored;
    assert.deepEqual(kept, event);
  },
  "keeps the order of events and of calls": async ({ sink, read }) => {
    await sink.append([makeEvent(1), makeEvent(2)]);
    await sink.append([makeEvent(3)]);
    assert.deepEqual(ids(await read()), ids([makeEvent(1), makeEvent(2), makeEvent(3)]));
  },
  "answers with the place of the last event": async ({ sink, read }) => {
    const receipts = [await sink.append([makeEvent(1), makeEvent(2)]), await sink.append([makeEvent(3)])];
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
    const batches = Array.from({ length: 40 }, (_, call) => [1, 2, 3].slice(0, 1 + (call % 3)).map((part) => makeEvent(call * 10 + part)));
    const receipts = await Promise.all(batches.map((batch) => sink.append(batch)));
    const stored = await read();
    assert.deepEqual(ids(stored), ids(batches.flat()));
    assertChain(stored, batches.flat().length);
    for (const [call, batch] of batches.entries()) {
      const last = stored.find((event) => event.id === batch.at(-1)?.id);
      assert.deepEqual(receipts[call], placeOf(last), "a receipt names another event");
    }
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
    await assertRefused(sink.append([makeEvent(2), makeEvent(3, { tool: "\ud800" }), makeEvent(4)]));
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
    await Promise.all(Array.from({ length: 10 }, (_, call) => assertRefused(sink.append([makeEvent(2 + call)]))));
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

function placeOf(event: StoredEvent | undefined): { readonly seq: number; readonly hash: string } | undefined {
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
