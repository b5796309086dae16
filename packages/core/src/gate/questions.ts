/**
 * Questions that this gate shows: delivery, expiry and the watch for their end. Who waits for one is waiting.ts.
 */
import { advance, endQuestion } from "./advance.js";
import { type Answerer, takeAnswer } from "./answer.js";
import type { PendingRecord } from "../approval/machine.js";
import type { DenyCode } from "../deny-codes.js";
import { messageOf } from "./deny.js";
import { isConsentError } from "../errors.js";
import { PART_TIMEOUT_MS } from "../limits.js";
import type { GateParts } from "./parts.js";
import type { AnswerReceipt, AskSession, Ending } from "../ports.js";
import { eventMaker, subjectOfRequest } from "./record.js";

const LOCAL_SUBJECT = "local";

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

function deliveryFailure(error: unknown): { readonly denyCode: DenyCode; readonly reason: string } {
  const message = messageOf(error);
  if (isConsentError(error, "channel_unavailable")) return { denyCode: "channel_unavailable", reason: message };
  return { denyCode: "channel_failed", reason: `the channel failed: ${message}` };
}

async function deliver(parts: GateParts, { id, request }: PendingRecord, session: AskSession): Promise<void> {
  try {
    await parts.channel.deliver(request, session);
  } catch (error) {
    await endQuestion(parts, id, { type: "fail", atMs: parts.clock.now(), ...deliveryFailure(error) });
    return;
  }
  const delivered = await advance(parts, id, { type: "delivered" });
  // Nothing is released because of a delivery, so a log that cannot keep this event shows itself at the next one.
  if (delivered.ok)
    await parts.append([eventMaker(subjectOfRequest(request), parts)("consent_delivered", "pending", { channel: parts.channel.name })]);
}

/** Ends the question when its time is over by the monotonic clock, whatever the wall clock does meanwhile. */
async function expire(parts: GateParts, { id, request }: PendingRecord, signal: AbortSignal): Promise<void> {
  let waitMs = Math.max(0, request.expiresAtMs - parts.clock.now());
  for (;;) {
    await parts.clock.sleep(waitMs, { signal });
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
  const session: AskSession = {
    redelivery,
    ended: finished.then(endingOf, (): Ending => ({ status: "failed", reason: "the store failed" })),
    submit: (claim, by) =>
      submitAnswer(parts, claim, { channel: parts.channel.name, subject: by === undefined ? LOCAL_SUBJECT : by.subject }),
  };
  // A store that fails here fails the watch of the one who waits as well, and that is where it is heard of.
  deliver(parts, record, session).catch(() => undefined);
  expire(parts, record, stop.signal).catch(() => undefined);
}
