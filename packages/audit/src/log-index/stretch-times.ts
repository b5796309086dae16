/**
 * Stretch times: which stretches of a log need not be read for a stretch of time, where the clock
 * may have been wrong. When an event of a clock that was ahead happened is known from the events
 * around it, so that it is left out only where they surely lie outside. Pure. Rules: spec/audit.md
 * §9.1.
 */
import { isAhead, type TimeQuery } from "../log-time.js";
import type { Stretch } from "./record.js";

/** Whole lines in a row, of which the earliest and the latest time are known. */
export type TimedLines = Pick<
  Stretch,
  "file" | "from" | "to" | "seq" | "nextSeq" | "minMs" | "maxMs"
>;

/** A stretch, and what is known of its lines. */
export interface JudgedStretch {
  readonly stretch: TimedLines;
  /** Whether the rest of a filter can have something in it. */
  readonly isNeeded: boolean;
  /** Of one with right times and such that are ahead: whether the stretch of time begins in it. */
  readonly hasBeginning: boolean;
}

/** Whether a stretch has times that can be right, and such that are ahead: its lines say more. */
export function isMixed({ minMs, maxMs }: TimedLines, time: TimeQuery): boolean {
  return isAhead(maxMs, time) && !isAhead(minMs, time);
}

/** What is known of a stretch. */
export interface StretchTime {
  readonly isLeftOut: boolean;
  /** Whether the stretch of time begins in it, or before it. */
  readonly isBegun: boolean;
}

/** Judges all stretches of a log, in their order. */
export function judgeTimes(
  found: readonly JudgedStretch[],
  time: TimeQuery,
): readonly StretchTime[] {
  const ahead = found.map(({ stretch }) => isAhead(stretch.maxMs, time));
  const wholly = found.map(({ stretch }) => isAhead(stretch.minMs, time));
  const later = found.map(({ stretch }) => stretch.minMs >= time.untilMs);
  const early = found.map(({ stretch }) => stretch.maxMs < time.sinceMs);
  const begun: boolean[] = [];
  const after: boolean[] = [];
  for (const [at, { hasBeginning }] of found.entries()) {
    const isBegunHere = hasBeginning || (ahead[at] === false && early[at] === false);
    begun[at] = begun[at - 1] === true || isBegunHere;
    const isBeforeLater = wholly[at - 1] === true ? after[at - 1] : later[at - 1];
    after[at] = ahead[at] === true && later[at] === true && isBeforeLater === true;
  }
  const before = found.map(() => false);
  for (let at = found.length - 2; at >= 0; at -= 1) {
    const isNextEarly = wholly[at + 1] === true ? before[at + 1] : isEarly(at + 1);
    before[at] = wholly[at] === true && begun[at] === false && isNextEarly === true;
  }
  function isEarly(at: number): boolean {
    return ahead[at] === false && early[at] === true;
  }
  const isOpen = (at: number): boolean =>
    ahead[at] === true && after[at] === false && before[at] === false;
  return found.map(({ isNeeded }, at) => {
    const isTooEarly = early[at] === true && (begun[at] === false || time.untilMs < Infinity);
    const isOutside = isTooEarly || later[at] === true;
    const isNextToOpen = isOpen(at - 1) || isOpen(at + 1);
    const isLeftOut =
      after[at] === true ||
      before[at] === true ||
      (ahead[at] === false && !isNextToOpen && (isOutside || !isNeeded));
    return { isLeftOut, isBegun: begun[at] === true };
  });
}
