/**
 * Questions that this gate shows: delivery, expiry and the watch for their end. Who waits for one is waiting.ts.
 */
import { endQuestion } from "./advance.js";
import { type Answerer, takeAnswer } from "./answer.js";
import type { PendingRecord } from "../approval/machine.js";
import { LOCAL_SUBJECT } from "../channels/composite.js";
import { deliver } from "./deliver.js";
import { PART_TIMEOUT_MS } from "../limits.js";
import type { GateParts } from "./parts.js";
import type { AnswerReceipt, AskSession, Channel, Ending } from "../ports.js";

function endingOf({ end }: PendingRecord): Ending {
  if (end === undefined) return { status: "failed", reason: "the question has no end" };
  return { status: end.status, reason: end.reason, ...(end.successorId === undefined ? {} : { successorId: end.successorId }) };
}

/**
 * Waits until the question ended and its end is durable.
 *
 * @throws The signal's reason, what the store throws, or an Error where the store lost the record.
 */
export async function watchEnd(parts: GateParts, id: string, signal: AbortSignal): Promise<PendingRecord> {
  for await (const record of parts.store.pending.watch(id, signal)) {
    if (record.end?.recorded === true) return record;
  }
  signal.throwIfAborted();
  throw new Error(`the store lost the question "${id}"`);
}

/** Ends the question when its time is over by the monotonic clock, whatever the wall clock does meanwhile. */
async function expire(parts: GateParts, { id, request }: PendingRecord, signal: AbortSignal): Promise<void> {
  let waitMs = Math.max(0, request.expiresAtMs - parts.clock.now());
  for (;;) {
    // Who waits for the end keeps the process alive; a question that nobody waits for is shown again by the next one.
    await parts.clock.sleep(waitMs, { signal, background: true });
    try {
      return void (await endQuestion(parts, id, { type: "expire", atMs: parts.clock.now() }));
    } catch {
      // The store is down; the one who waits gives up by itself, and the question ends when the store is back.
      waitMs = PART_TIMEOUT_MS;
    }
  }
}

/** Takes an answer; where an edit made a new question of it, shows that one. Never rejects. */
export async function submitAnswer(parts: GateParts, claim: unknown, by: Answerer): Promise<AnswerReceipt> {
  const receipt = await takeAnswer(parts, claim, by);
  if (receipt.status !== "reshow") return receipt;
  try {
    const successor = await parts.within(parts.store.pending.get(receipt.request.id), "the store");
    if (successor !== undefined) showQuestion(parts, successor, false);
  } catch {
    return { status: "refused", code: "store_failed", reason: "the edited action's question could not be read back" };
  }
  return receipt;
}

/**
 * Shows a question and keeps watch over it until its end is durable. Returns at once.
 *
 * @param redelivery - True where the same question was shown before, by this process or an earlier one.
 */
export function showQuestion(parts: GateParts, record: PendingRecord, redelivery: boolean): void {
  const stop = new AbortController();
  const finished = watchEnd(parts, record.id, stop.signal).finally(() => {
    stop.abort(new Error("the question is over"));
    parts.questions.delete(record.id);
  });
  parts.questions.add(record.id);
  const ended = finished.then(endingOf, (): Ending => ({ status: "failed", reason: "the store failed" }));
  const sessionOn = (channel: Channel, again: boolean): AskSession => ({
    redelivery: again,
    ended,
    // Which channel it was is said by what shows the question (composite.ts), never by a plain channel itself.
    submit: (claim, by) => submitAnswer(parts, claim, { channel: by?.channel ?? channel.name, subject: by?.subject ?? LOCAL_SUBJECT }),
  });
  // A store that fails here fails the watch of the one who waits as well, and that is where it is heard of.
  deliver(parts, { record, redelivery, over: stop.signal, sessionOn }).catch(() => undefined);
  expire(parts, record, stop.signal).catch(() => undefined);
}
