/**
 * Log time: when the events of one log happened, whatever the wall clock said. A log's order is its
 * events' numbers; a clock that was wrong for a while must neither put events into every later
 * stretch of time nor keep them out of their own. Pure. Rules: spec/audit.md §9.
 */

/** Which stretch of time, as somebody at `nowMs` asks about it. */
export interface TimeQuery {
  readonly sinceMs: number;
  readonly untilMs: number;
  /** No event can have happened later. */
  readonly nowMs: number;
}

/** The clocks of two machines, or of one before and after it was set right, differ by less. */
const TOLERATED_MS = 1_000;

/** Whether a clock that said so was ahead: its event happened when the events around it did. */
export function isAhead(atMs: number, { nowMs }: Pick<TimeQuery, "nowMs">): boolean {
  return atMs > nowMs + TOLERATED_MS;
}

/** Whether a time that can be right says that the stretch has begun: what follows is in it. */
export function isBegun(atMs: number, query: Pick<TimeQuery, "sinceMs" | "nowMs">): boolean {
  return atMs >= query.sinceMs && !isAhead(atMs, query);
}

/**
 * Whether an event behind the first that {@link isBegun} lies in the stretch by its own time. What
 * is asked for up to now has all that came since: a clock that was set back hides nothing.
 */
export function isWithin(atMs: number, { sinceMs, untilMs }: TimeQuery): boolean {
  const isSetBack = untilMs === Infinity && atMs < sinceMs - TOLERATED_MS;
  return atMs < untilMs && (atMs >= sinceMs || isSetBack);
}
