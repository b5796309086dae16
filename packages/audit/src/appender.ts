/**
 * Appender: puts events into the chain in the order of the calls and hands them to a store. Calls that come while a write is under way share
 * the next one (group commit). The first failure of the store is final: every later append is refused.
 */
import {
  logEvent,
  type AuditEventInput,
  type AuditReceipt,
  type AuditSink,
  type ConsentError,
  type Ids,
  randomIds,
  systemClock,
} from "@acp/core";
import { encodeEvent } from "./codec.js";
import { cannot, causeText } from "./errors.js";
import { LINE_BYTES_MAX } from "./event.js";
import { stampAt } from "./stamp.js";
import { type LogClock, watchClock } from "./wall-clock.js";

/** A sink with an end. */
export interface Appender extends AuditSink {
  /** Waits for what was appended, then refuses more. Never rejects; more calls change nothing. */
  close(): Promise<void>;
}

/** Lines that are written at once. */
export interface LineGroup {
  /** Each with its newline. */
  readonly bytes: Buffer;
  readonly firstSeq: number;
  readonly head: AuditReceipt;
}

/** Where lines become durable. */
export interface LogStore {
  /** Adds lines at the end; resolves when they are durable. After a rejection nothing more may be added. */
  append(group: LineGroup): Promise<void>;
  close(): Promise<void>;
}

/** What an appender starts from. */
export interface AppenderStart {
  /** Names the log in errors. */
  readonly path: string;
  /** Where the chain ends so far. */
  readonly head?: AuditReceipt | undefined;
  /** Wall time of the last event so far. */
  readonly lastMs?: number | undefined;
  readonly clock?: LogClock | undefined;
  readonly ids?: Ids | undefined;
}

/** One group is written at once, so it is bounded. */
const GROUP_BYTES_MAX = 8 * 1024 * 1024;
/** A UTF-16 unit has at most three bytes. */
const CHARS_SAFE = LINE_BYTES_MAX / 3;

interface Batch {
  readonly text: string;
  readonly firstSeq: number;
  readonly receipt: AuditReceipt;
  readonly resolve: (receipt: AuditReceipt) => void;
  readonly reject: (error: ConsentError) => void;
}

/** Chains events after the start into the store. */
export function createAppender(store: LogStore, start: AppenderStart): Appender {
  const { path, clock = systemClock, ids = randomIds } = start;
  const look = watchClock(clock, start.lastMs);
  let { head } = start;
  let failure: ConsentError | undefined;
  let closed: Promise<void> | undefined;
  let waiting: Batch[] = [];
  let draining: Promise<void> = Promise.resolve();
  let isDraining = false;

  async function drain(): Promise<void> {
    await Promise.resolve(); // calls of the same tick go into the first group
    while (waiting.length > 0) {
      const group = takeGroup(waiting);
      waiting = waiting.slice(group.length);
      try {
        await store.append(joinGroup(group));
        for (const batch of group) batch.resolve(batch.receipt);
      } catch (error) {
        latch(error, group);
      }
    }
    isDraining = false;
  }

  function latch(cause: unknown, group: readonly Batch[]): void {
    failure = cannot("append to", path)(`${causeText(cause)}; nothing is recorded until it is mended and opened again`, cause);
    for (const batch of [...group, ...waiting]) batch.reject(failure);
    waiting = [];
  }

  function encode(events: readonly AuditEventInput[]): Pick<Batch, "text" | "firstSeq" | "receipt"> {
    const { nowMs, monoMs, backMs } = look();
    const noted = backMs === undefined ? [] : [logEvent("clock_went_back", stampAt(ids, nowMs), { back_ms: backMs })];
    const firstSeq = head === undefined ? 0 : head.seq + 1;
    return { ...encodeBatch(path, backMs === undefined ? events : [...noted, ...events], { head, monoMs }), firstSeq };
  }

  return {
    append(events) {
      return new Promise((resolve, reject) => {
        if (failure !== undefined) throw failure;
        if (closed !== undefined) throw cannot("append to", path)("it is closed");
        if (events.length === 0) throw cannot("append to", path)("there is no event to append");
        const { text, firstSeq, receipt } = encode(events);
        head = receipt;
        waiting.push({ text, firstSeq, receipt, resolve, reject });
        if (isDraining) return;
        isDraining = true;
        draining = drain();
      });
    },
    close() {
      closed ??= draining.then(() => store.close()).catch(() => {}); // what matters was synced before
      return closed;
    },
  };
}

function takeGroup(waiting: readonly Batch[]): readonly Batch[] {
  let bytes = 0;
  const end = waiting.findIndex(({ text }) => {
    bytes += text.length;
    return bytes > GROUP_BYTES_MAX;
  });
  return end === -1 ? waiting : waiting.slice(0, Math.max(1, end));
}

function joinGroup(group: readonly Batch[]): LineGroup {
  const [first] = group;
  const last = group.at(-1);
  if (first === undefined || last === undefined) throw new RangeError("the group is empty");
  let text = "";
  for (const batch of group) text += batch.text;
  return { bytes: Buffer.from(text), firstSeq: first.firstSeq, head: last.receipt };
}

/** All lines of a batch, or a refusal that leaves the log as it is: an event without a line is the caller's fault, not the store's. */
function encodeBatch(
  path: string,
  events: readonly AuditEventInput[],
  { head, monoMs }: { readonly head: AuditReceipt | undefined; readonly monoMs: number },
): { readonly text: string; readonly receipt: AuditReceipt } {
  let text = "";
  let receipt = head;
  try {
    for (const event of events) {
      const encoded = encodeEvent(event, receipt, { monoMs });
      const { line } = encoded;
      if (line.length > CHARS_SAFE && Buffer.byteLength(line) > LINE_BYTES_MAX)
        throw new RangeError(`the event is larger than ${LINE_BYTES_MAX} bytes`);
      text += `${line}\n`;
      receipt = encoded.head;
    }
  } catch (error) {
    throw cannot("append to", path)(causeText(error), error);
  }
  if (receipt === undefined) throw cannot("append to", path)("there is no event to append");
  return { text, receipt };
}
