/**
 * Questions that this gate shows: delivery, expiry and the watch for their end. Who waits for one
 * is waiting.ts.
 */
import { endQuestion } from "./end-question.js";
import { takeAnswer } from "./answer.js";
import type { PendingRecord } from "../approval/pending-record.js";
import { channelName, LOCAL_SUBJECT } from "../channels/composite.js";
import { deliver } from "./deliver.js";
import { messageOf } from "./deny.js";
import { type Answerer, readAnswerer } from "./door.js";
import { questionLeftMs } from "./kept-time.js";
import { refuseAnswer } from "./refuse.js";
import { PART_TIMEOUT_MS } from "../limits.js";
import { outcomeOf } from "./follow-yes.js";
import type { KeptParts, OpenParts, QuestionParts, ShowParts } from "./gate-parts.js";
import type { AnswerReceipt, AskSession, Channel, Ending } from "../ports.js";

function endingOf({ end }: PendingRecord): Ending {
  if (end === undefined) return { status: "failed", reason: "the question has no end" };
  return {
    status: end.status,
    reason: end.reason,
    ...(end.successorId === undefined ? {} : { successorId: end.successorId }),
  };
}

/**
 * Waits until the question ended and its end is durable. Its place is free before that: a log that
 * is slow keeps nobody from asking the next question.
 *
 * @throws The signal's reason, what the store throws, or an Error where the store lost the record.
 */
export async function watchEnd(
  parts: Pick<KeptParts, "store"> & Partial<Pick<OpenParts, "questions">>,
  id: string,
  signal: AbortSignal,
): Promise<PendingRecord> {
  for await (const record of parts.store.pending.watch(id, signal)) {
    if (record.status === "ended") parts.questions?.remove(id);
    if (record.end?.recorded === true) return record;
  }
  signal.throwIfAborted();
  throw new Error(`the store lost the question "${id}"`);
}

/**
 * Ends the question when its time is over by the monotonic clock, whatever the wall clock does
 * meanwhile.
 */
async function expire(
  parts: QuestionParts,
  record: PendingRecord,
  signal: AbortSignal,
): Promise<void> {
  const { id } = record;
  let waitMs = questionLeftMs(parts, record);
  for (;;) {
    // Who waits for the end keeps the process alive; a question that nobody waits for is shown
    // again by the next one.
    try {
      await parts.clock.sleep(waitMs, { signal, background: true });
    } catch (error) {
      if (signal.aborted) return;
      // Nobody can say when its time is over: left open it would never end.
      const reason = `the clock failed: ${messageOf(error)}`;
      return void (await endQuestion(parts, id, {
        type: "fail",
        reason,
        denyCode: "internal_error",
      }));
    }
    try {
      return void (await endQuestion(parts, id, { type: "expire" }));
    } catch {
      // The store is down; the one who waits gives up by itself, and the question ends when the
      // store is back.
      waitMs = PART_TIMEOUT_MS;
    }
  }
}

/** Takes an answer; where an edit made a new question of it, shows that one. Never rejects. */
export async function submitAnswer(
  parts: ShowParts,
  claim: unknown,
  by: Answerer | undefined,
): Promise<AnswerReceipt> {
  const receipt = await takeAnswer(parts, claim, by);
  if (receipt.status !== "reshow") return receipt;
  try {
    const successor = await parts.within(parts.store.pending.get(receipt.request.id), "the store");
    if (successor !== undefined) showQuestion(parts, successor, false);
  } catch {
    return refuseAnswer("store_failed", "the edited action's question could not be read back");
  }
  return receipt;
}

/**
 * Shows a question and keeps watch over it until its end is durable. Returns at once.
 *
 * @param redelivery - True where the same question was shown before, by this process or an earlier
 *   one.
 */
export function showQuestion(parts: ShowParts, record: PendingRecord, redelivery: boolean): void {
  const stop = new AbortController();
  const finished = watchEnd(parts, record.id, stop.signal).finally(() => {
    stop.abort(new Error("the question is over"));
    parts.questions.remove(record.id);
    parts.rounds.delete(record.id);
    parts.held.get(record.id)?.release();
  });
  parts.questions.add(record.id, record.request.agent);
  parts.followed.add(record.id);
  const ended = finished.then(
    endingOf,
    (): Ending => ({ status: "failed", reason: "the store failed" }),
  );
  const outcome = finished
    .then(
      (last) => outcomeOf(parts, last),
      () => undefined,
    )
    .finally(() => parts.followed.delete(record.id));
  const sessionOn = (channel: Channel, again: boolean): AskSession => ({
    redelivery: again,
    ended,
    outcome,
    // Which channel it was is said by what shows the question (composite.ts), never by a plain
    // channel itself.
    submit: (claim, by) =>
      submitAnswer(
        parts,
        claim,
        readAnswerer(by, { channel: channelName(channel), subject: LOCAL_SUBJECT }),
      ),
  });
  // A store that fails here fails the watch of the one who waits as well, and that is where it is
  // heard of.
  const paused = parts.pausedAgent(record.request.agent);
  // It was paused since its call was judged, or since an earlier process asked: nobody is shown it.
  if (paused !== undefined)
    endQuestion(parts, record.id, {
      type: "pause",
      reason: paused,
      denyCode: "agent_paused",
    }).catch(() => undefined);
  else deliver(parts, { record, redelivery, over: stop.signal, sessionOn }).catch(() => undefined);
  expire(parts, record, stop.signal).catch(() => undefined);
}
