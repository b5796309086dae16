/**
 * Appender: puts events into the chain in the order of the calls and hands them to a store. Calls that come while a write is under way share
 * the next one (group commit). The first failure of the store is final: every later append is refused.
 */
import type { AuditEventInput, AuditReceipt, AuditSink, ConsentError } from "@acp/core";
import { encodeEvent } from "./codec.js";
import { cannot, causeText } from "./errors.js";
import { LINE_BYTES_MAX } from "./event.js";
import type { LogStore } from "./log-file.js";

/** A sink with an end. */
export interface Appender extends AuditSink {
  /** Waits for what was appended, then refuses more. Never rejects; more calls change nothing. */
  close(): Promise<void>;
}

/** One group is written at once, so it is bounded. */
const GROUP_BYTES_MAX = 8 * 1024 * 1024;

interface Batch {
  readonly text: string;
  readonly receipt: AuditReceipt;
  readonly resolve: (receipt: AuditReceipt) => void;
  readonly reject: (error: ConsentError) => void;
}

/** Chains events after `start` into the store. `path` names the log in errors. */
export function createAppender(path: string, store: LogStore, start: AuditReceipt | undefined): Appender {
  let head = start;
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
        await store.append(group.map((batch) => batch.text).join(""));
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

  return {
    async append(events) {
      if (failure !== undefined) throw failure;
      if (closed !== undefined) throw cannot("append to", path)("it is closed");
      const { text, receipt } = encodeBatch(path, events, head);
      head = receipt;
      return new Promise((resolve, reject) => {
        waiting.push({ text, receipt, resolve, reject });
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

/** All lines of a batch, or a refusal that leaves the log as it is: an event without a line is the caller's fault, not the store's. */
function encodeBatch(
  path: string,
  events: readonly AuditEventInput[],
  start: AuditReceipt | undefined,
): { readonly text: string; readonly receipt: AuditReceipt } {
  let text = "";
  let receipt = start;
  for (const event of events) {
    try {
      const encoded = encodeEvent(event, receipt);
      if (Buffer.byteLength(encoded.line) > LINE_BYTES_MAX) throw new RangeError(`the event is larger than ${LINE_BYTES_MAX} bytes`);
      text += `${encoded.line}\n`;
      receipt = encoded.head;
    } catch (error) {
      throw cannot("append to", path)(causeText(error), error);
    }
  }
  if (receipt === undefined || text === "") throw cannot("append to", path)("there is no event to append");
  return { text, receipt };
}
