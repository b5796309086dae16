/**
 * What the gate's tests share: a recording sink, a channel in the test's hands, and a gate made of
 * them.
 */
import { manualClock, type ManualClock, seededIds } from "@acp/testing";
import {
  type Agent,
  type AskSession,
  type AuditEventInput,
  type Channel,
  type ConsentGate,
  type ConsentRequest,
  createConsentGate,
  type GateOptions,
  type JsonObject,
  makeResponse,
  type Pending,
  type Policy,
  type Verdict,
} from "../src/index.js";
import { createRecordMacs, type RecordMacs } from "../src/gate/record-mac.js";
import { parsePolicy } from "../src/policy.js";
import type { AnswerParts } from "../src/index.js";

export const agent: Agent = { id: "demo" };

/** One question as the channel got it. */
export interface Shown {
  readonly request: ConsentRequest;
  readonly session: AskSession;
}

/** A sink whose events a test can read and whose disk a test can break. */
export interface RecordingSink {
  readonly events: AuditEventInput[];
  append(events: readonly AuditEventInput[]): Promise<{ seq: number; hash: string }>;
  /** From now on: throw, hang, or work. */
  mode: "works" | "throws" | "hangs";
}

export function recordingSink(): RecordingSink {
  const sink: RecordingSink = {
    events: [],
    mode: "works",
    append(events) {
      if (sink.mode === "throws") return Promise.reject(new Error("disk full"));
      if (sink.mode === "hangs") return new Promise(() => undefined);
      sink.events.push(...events);
      return Promise.resolve({ seq: sink.events.length - 1, hash: "sha256:0" });
    },
  };
  return sink;
}

/**
 * The key of every kit's gate, and what it writes: for tests that put records into a store as a
 * gate would.
 */
export const recordKey: Uint8Array = new Uint8Array(32).fill(7);
export const macs: RecordMacs = createRecordMacs(recordKey);

/** Everything a gate test holds. */
export interface Kit {
  readonly gate: ConsentGate;
  readonly clock: ManualClock;
  readonly sink: RecordingSink;
  readonly shown: Shown[];
  readonly types: () => readonly string[];
  /** Lets everything that is ready run. */
  readonly settle: () => Promise<void>;
}

export const askAll: Policy = parsePolicy({ version: "1", default_action: "ask" });
export const allowAll: Policy = parsePolicy({ version: "1", default_action: "allow" });
export const denyAll: Policy = parsePolicy({ version: "1", default_action: "deny" });

export function makeKit(options: Partial<GateOptions> = {}): Kit {
  const clock = manualClock();
  const sink = recordingSink();
  const shown: Shown[] = [];
  const channel: Channel = {
    name: "test",
    deliver(request, session) {
      shown.push({ request, session });
      return Promise.resolve();
    },
  };
  const gate = createConsentGate({
    policy: askAll,
    channel,
    audit: sink,
    clock,
    ids: seededIds(),
    recordKey,
    ...options,
  });
  return {
    gate,
    clock,
    sink,
    shown,
    types: () => sink.events.map(({ eventType }) => eventType),
    settle: () => clock.advance(0),
  };
}

/** The answer to a question as a channel would write it. */
export function reply(
  { request }: Shown,
  parts: Partial<AnswerParts> & { readonly decision: AnswerParts["decision"] },
): JsonObject {
  return makeResponse(request, { nowMs: request.createdAtMs, channel: "test", ...parts });
}

export function first<T>(list: readonly T[]): T {
  const [item] = list;
  if (item === undefined) throw new Error("the list is empty");
  return item;
}

export function last<T>(list: readonly T[]): T {
  return first(list.slice(-1));
}

export function asPending(opened: Verdict | Pending): Pending {
  if (opened.decision !== "pending")
    throw new Error(`expected a pending question, got ${opened.decision} ${opened.code}`);
  return opened;
}
