/** Sink mutants: an audit sink with one fault each. Source of the laws: spec/audit.md §5 and §6. */
import type { AuditEventInput, AuditReceipt, AuditSink } from "@acp/core";
import type { SinkUnderTest, StoredEvent } from "../sink-under-test.js";
import type { Mutant } from "./mutant.js";

type Append = AuditSink["append"];

/** A sink whose append has a fault. */
const appending = (
  name: string,
  fault: (append: Append, good: SinkUnderTest) => Append,
): Mutant<SinkUnderTest> => ({
  name,
  mutate: (good) => {
    const append: Append = (events) => good.sink.append(events);
    return { ...bound(good), sink: { append: fault(append, good) } };
  },
});

/** A sink whose stored events are not what they should be. */
const storing = (
  name: string,
  change: (stored: readonly StoredEvent[]) => readonly StoredEvent[],
): Mutant<SinkUnderTest> => ({
  name,
  mutate: (good) => ({
    ...bound(good),
    sink: good.sink,
    read: async () => change(await good.read()),
  }),
});

const bound = (good: SinkUnderTest): Omit<SinkUnderTest, "sink"> => ({
  close: () => good.close(),
  read: () => good.read(),
  fail: () => good.fail(),
  [Symbol.asyncDispose]: () => good[Symbol.asyncDispose](),
});

const changing = (
  name: string,
  change: (event: AuditEventInput) => AuditEventInput,
): Mutant<SinkUnderTest> => appending(name, (append) => (events) => append(events.map(change)));

/** Appends what is left of the events; the receipt of none is that of the last append. */
const dropping = (
  name: string,
  isKept: (event: AuditEventInput) => boolean,
): Mutant<SinkUnderTest> =>
  appending(name, (append) => {
    let last: AuditReceipt = { seq: -1, hash: `sha256:${"0".repeat(64)}` };
    return async (events) => {
      const kept = events.filter(isKept);
      if (kept.length > 0) last = await append(kept);
      return last;
    };
  });

/** A sink whose hashes, in receipts and in what is stored, are made of the number. */
const hashing = (name: string, hashOf: (seq: number) => string): Mutant<SinkUnderTest> => ({
  name,
  mutate: (good) => ({
    ...bound(good),
    sink: {
      async append(events) {
        const { seq } = await good.sink.append(events);
        return { seq, hash: hashOf(seq) };
      },
    },
    read: async () =>
      (await good.read()).map((event) => ({
        ...event,
        hash: hashOf(event.seq),
        previousHash: event.previousHash === null ? null : hashOf(event.seq - 1),
      })),
  }),
});

const NO_HASH = `sha256:${"0".repeat(64)}`;

/** Faults of audit sinks: {@link auditSinkConformance} must find each of them. */
export const sinkMutants: readonly Mutant<SinkUnderTest>[] = [
  dropping("drops denials", ({ decision }) => decision !== "deny"),
  dropping("drops denials of people", ({ eventType }) => eventType !== "consent_denied"),
  dropping("drops completed calls", ({ eventType }) => eventType !== "tool_call_completed"),
  dropping("drops refused answers", ({ eventType }) => eventType !== "consent_refused"),
  dropping("drops events of the log itself", ({ tool }) => tool !== ""),
  changing("keeps blank ids", (event) => ({ ...event, id: "" })),
  changing("keeps no question's id", (event) => ({ ...event, requestId: "" })),
  changing("keeps no agent", (event) => ({ ...event, agent: "" })),
  changing("keeps no metadata", (event) => ({ ...event, metadata: {} })),
  changing("keeps no rule", (event) => ({ ...event, policyRule: "" })),
  changing("keeps seconds", (event) => ({
    ...event,
    atMs: Math.floor(event.atMs / 1_000) * 1_000,
  })),
  changing("calls every decision an allow", (event) => ({ ...event, decision: "allow" })),
  changing("keeps ASCII alone", (event) => ({
    ...event,
    tool: event.tool.replaceAll(/[^\u0000-\u007f]/g, "?"),
  })),
  appending(
    "turns the order of a batch around",
    (append) => (events) => append(events.toReversed()),
  ),
  appending(
    "writes the first event of a batch alone",
    (append) => (events) => append(events.slice(0, 1)),
  ),
  appending(
    "writes a batch one by one, so that a bad event leaves half of it",
    (append) => async (events) => {
      let last: AuditReceipt = { seq: -1, hash: NO_HASH };
      for (const event of events) last = await append([event]);
      return last;
    },
  ),
  appending(
    "writes every batch twice",
    (append) => (events) => append(events).then(() => append(events)),
  ),
  appending("answers before it has written", (append) => (events) => {
    void append(events).catch(() => undefined);
    return Promise.resolve({ seq: events.length - 1, hash: NO_HASH });
  }),
  appending("answers with the place of the first event", (append) => async (events) => {
    const { seq, hash } = await append(events);
    return { seq: seq - events.length + 1, hash };
  }),
  appending("answers with a hash of its own", (append) => async (events) => ({
    ...(await append(events)),
    hash: NO_HASH,
  })),
  appending(
    "says that it wrote what it could not write",
    (append) => (events) => append(events).catch(() => ({ seq: 0, hash: NO_HASH })),
  ),
  appending("looks at the events when it comes to them", (append) => async (events) => {
    await new Promise((resolve) => setImmediate(resolve));
    return append(events);
  }),
  appending("lets callers overtake each other", (append) => {
    let calls = 0;
    return async (events) => {
      calls += 1;
      if (calls % 2 === 1) await new Promise((resolve) => setImmediate(resolve));
      return append(events);
    };
  }),
  hashing("hashes the number alone", (seq) => `sha256:${String(seq).padStart(64, "0")}`),
  hashing("has one hash for all events", () => NO_HASH),
  storing("chains nothing", (stored) => stored.map((event) => ({ ...event, previousHash: null }))),
  storing("counts from 1", (stored) => stored.map((event) => ({ ...event, seq: event.seq + 1 }))),
  storing("counts in twos", (stored) => stored.map((event) => ({ ...event, seq: event.seq * 2 }))),
  storing("loses the first event", (stored) => stored.slice(1)),
  storing("loses the last event", (stored) => stored.slice(0, -1)),
];
