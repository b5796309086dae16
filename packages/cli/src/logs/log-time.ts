/**
 * Log time: when the events of one log happened, whatever the wall clock said. A log's order is
 * its events' numbers; a clock that was wrong for a while must neither put events into every later
 * stretch of time nor keep them out of their own. Pure.
 */
import type { AuditEvent } from "@acp/audit";

/** Whether the wall clock of an event can have been right. */
export type ClockState = "right" | "ahead" | "behind";

/** An event, and between which times it happened. */
export interface TimedEvent<T> {
  readonly event: T;
  /** The earliest time at which it can have happened, as far as the log shows. */
  readonly fromMs: number;
  /** The latest one. Equal to `fromMs` where the clock was right. */
  readonly toMs: number;
  readonly clock: ClockState;
}

/** Which stretch of time. */
export interface Stretch {
  readonly sinceMs?: number | undefined;
  readonly untilMs?: number | undefined;
  /** The time of whoever reads: no event can have happened later. */
  readonly nowMs: number;
}

type Timed = Pick<AuditEvent, "atMs">;

/** The clocks of two machines, or of one before and after it was set right, differ by less. */
const TOLERATED_MS = 1_000;
/** Events of a clock that is ahead which are held back until it is known when they happened. */
const HELD_MAX = 10_000;

/**
 * The times of one log's events, in the log's order. An event that is stamped later than now was
 * written by a clock that was ahead: it happened between the right events around it. One that is
 * stamped earlier than a right event before it was written by a clock that was behind, or after one
 * that was ahead and of which nobody knows any more: it happened no earlier than its stamp, and no
 * later than the latest right stamp before it.
 *
 * @param events - All events of one log, without a filter of time.
 */
export async function* timeEvents<T extends Timed>(
  events: AsyncIterable<T>,
  nowMs: number,
): AsyncGenerator<TimedEvent<T>> {
  let latestMs: number | undefined;
  let held: T[] = [];
  const release = function* (toMs: number): Generator<TimedEvent<T>> {
    const fromMs = Math.min(latestMs ?? 0, toMs);
    for (const event of held) yield { event, fromMs, toMs, clock: "ahead" };
    held = [];
  };
  for await (const event of events) {
    const { atMs } = event;
    if (atMs > nowMs + TOLERATED_MS) {
      held.push(event);
      // Rather shown too often than held in memory without end.
      if (held.length >= HELD_MAX) yield* release(nowMs);
      continue;
    }
    yield* release(Math.max(atMs, latestMs ?? atMs));
    const isBehind = latestMs !== undefined && atMs < latestMs - TOLERATED_MS;
    yield {
      event,
      fromMs: atMs,
      toMs: isBehind && latestMs !== undefined ? latestMs : atMs,
      clock: isBehind ? "behind" : "right",
    };
    latestMs = Math.max(atMs, latestMs ?? atMs);
  }
  yield* release(nowMs);
}

/**
 * The events of one log that can have happened in a stretch of time. Those of a wrong clock are
 * there if any time at which they can have happened is: nothing is hidden by setting a clock.
 */
export async function* eventsWithin<T extends Timed>(
  events: AsyncIterable<T>,
  { sinceMs, untilMs, nowMs }: Stretch,
): AsyncGenerator<TimedEvent<T>> {
  for await (const timed of timeEvents(events, nowMs))
    if (
      (sinceMs === undefined || timed.toMs >= sinceMs) &&
      (untilMs === undefined || timed.fromMs < untilMs)
    )
      yield timed;
}
