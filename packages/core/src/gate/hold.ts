/**
 * Holding: a question whose caller went away stays open for a while, for the same call of the same
 * agent. Clients give a call up sooner than people answer; without this a person would be asked the
 * same thing again and again, and never be in time.
 */
import { advanceQuestion } from "./advance-question.js";
import { endEvent, endQuestion, recordEnd } from "./end-question.js";
import type { PendingRecord } from "../approval/pending-record.js";
import { rootOf } from "../layers.js";
import { HELD_PER_AGENT_MAX } from "../limits.js";
import { decisionLeftMs } from "./kept-time.js";
import type { Held, LogParts, OpenParts, QuestionParts } from "./gate-parts.js";
import { appendEvent } from "./record.js";

async function lapseQuestion(parts: QuestionParts, id: string, untilMs: number): Promise<void> {
  const lapsed = await advanceQuestion(parts, id, {
    type: "lapse",
    untilMs,
    atMs: parts.clock.now(),
  });
  if (lapsed.ok)
    await recordEnd(parts, lapsed.record, { events: [endEvent(parts, lapsed.record)] });
}

/**
 * Keeps watch over a question that waits for a retry, until its time is over, a retry comes or the
 * gate closes.
 */
function watchHold(
  parts: QuestionParts & OpenParts,
  { id, request }: PendingRecord,
  untilMs: number,
): void {
  const stop = new AbortController();
  const release = (): void => {
    parts.held.delete(id);
    parts.closers.delete(closer);
    stop.abort(new Error("nobody is waited for anymore"));
  };
  // A store that fails leaves the question to its own time-out.
  const lapse = async (): Promise<void> => {
    release();
    await lapseQuestion(parts, id, untilMs).catch(() => undefined);
  };
  const closer = (): void => {
    release();
    endQuestion(parts, id, {
      type: "cancel",
      reason: "the gate is shutting down",
      denyCode: "gate_closed",
    }).catch(() => undefined);
  };
  const held: Held = { root: rootOf(request.agent), lapse, release };
  parts.held.set(id, held);
  parts.closers.add(closer);
  if (parts.shutdown.signal.aborted) return closer();
  const leftMs = Math.max(0, untilMs - parts.clock.now());
  parts.clock.sleep(leftMs, { signal: stop.signal, background: true }).then(lapse, release);
  endOldest(parts, held.root);
}

/** One agent that calls and leaves cannot fill a person's screen. */
function endOldest({ held }: Pick<OpenParts, "held">, root: string): void {
  const mine = [...held.values()].filter((each) => each.root === root);
  for (const each of mine.slice(0, Math.max(0, mine.length - HELD_PER_AGENT_MAX)))
    void each.lapse();
}

async function noteLeft(parts: LogParts, record: PendingRecord, reason: string): Promise<void> {
  // Nothing is released because somebody left.
  await appendEvent(parts, record, "consent_deferred", "pending", { reason }).catch(
    () => undefined,
  );
}

/**
 * Notes that the caller of a question went away, and holds the question for its retry while it is
 * open. Where it is over already, a person's answer that nobody took is kept for the retry. Never
 * rejects.
 *
 * @param follow - The question; set to the one that took its place, where one did.
 * @returns False where the question is to be taken back: the gate holds none or closes, or the
 *   store failed.
 */
export async function holdQuestion(
  parts: QuestionParts & OpenParts,
  follow: { id: string },
  reason: string,
): Promise<boolean> {
  const { clock, retryWindowMs, shutdown } = parts;
  if (retryWindowMs === 0 || shutdown.signal.aborted) return false;
  const untilMs = clock.now() + retryWindowMs;
  try {
    for (;;) {
      const left = await advanceQuestion(parts, follow.id, { type: "leave", untilMs });
      if (left.ok) {
        const { record } = left;
        if (record.status !== "ended") watchHold(parts, record, untilMs);
        await noteLeft(parts, record, reason);
        return true;
      }
      const successorId = left.record?.end?.successorId;
      if (successorId === undefined) return true;
      follow.id = successorId;
    }
  } catch {
    return false;
  }
}

/**
 * Holds a question that an earlier process asked: its caller went with that process, and their
 * retry may find it for as long as it is open.
 *
 * @throws What the store throws.
 */
export async function holdAfterRestart(
  parts: QuestionParts & OpenParts,
  record: PendingRecord,
): Promise<void> {
  const { leftUntilMs, request } = record;
  // What dead processes left ends by its own time, and nobody left it to fill a screen.
  if (leftUntilMs !== undefined && leftUntilMs < request.expiresAtMs)
    return watchHold(parts, record, leftUntilMs);
  if (record.deferred) return;
  await leaveDead(parts, record);
}

/**
 * Keeps a yes that nobody took before the process ended that asked: its caller may call again for
 * as long as the yes holds.
 *
 * @throws What the store throws.
 */
export async function keepAfterRestart(parts: QuestionParts, record: PendingRecord): Promise<void> {
  if (!record.deferred && decisionLeftMs(parts, record) > 0) await leaveDead(parts, record);
}

/**
 * Notes that the process ended whose caller waited for a question.
 *
 * @throws What the store throws.
 */
export async function leaveDead(
  parts: QuestionParts,
  { id, request }: PendingRecord,
): Promise<void> {
  const left = await advanceQuestion(parts, id, { type: "leave", untilMs: request.expiresAtMs });
  if (left.ok) await noteLeft(parts, left.record, "the process that asked ended");
}
