/**
 * Log cut: where in a log a stretch of time begins. What stands before it happened before,
 * whatever its clock said: the first event whose time can be right and is not too early, and those
 * of a clock that was ahead just before it. Rules: spec/audit.md §9.
 */
import { type Range, rangesOf, type Skip } from "./log-index/index-reader.js";
import type { LogPart } from "./log-parts.js";
import { isAhead, isBegun, type TimeQuery } from "./log-time.js";
import { timeOfLine } from "./wanted-line.js";

/** Where to read a log, part by part. */
export interface PartRanges {
  readonly part: LogPart;
  readonly ranges: readonly Range[];
}

interface Place {
  readonly part: number;
  readonly from: number;
  readonly line: number;
}

/** What need not be read of a log, in order; of one file alone where that is given. */
export type FindSkips = (part?: LogPart) => Promise<readonly Skip[]>;

/** What is read of a log, and in which order its files come. */
export interface RangesQuery {
  readonly findSkips: FindSkips;
  readonly time: TimeQuery | undefined;
  readonly isBackward?: boolean;
}

/** The whole of a log but for what is skipped, from where the stretch begins. */
export async function* rangesOfLog(
  parts: readonly LogPart[],
  { findSkips, time, isBackward = false }: RangesQuery,
): AsyncGenerator<PartRanges> {
  const inOrder = isBackward ? parts.toReversed() : parts;
  // Looked up file by file: who has enough reads no further.
  if (time === undefined) {
    for (const part of inOrder) yield { part, ranges: await rangesOf(part, await findSkips(part)) };
    return;
  }
  const skips = await findSkips();
  const all = await Promise.all(
    parts.map(async (part) => ({ part, ranges: await rangesOf(part, skips) })),
  );
  const cut = time.sinceMs === Number.NEGATIVE_INFINITY ? FROM_THE_START : await findCut(all, time);
  const cutOff = all.map(({ part, ranges }, number) => ({
    part,
    ranges: cut === undefined ? [] : ranges.flatMap((range) => behind(range, number, cut)),
  }));
  yield* isBackward ? cutOff.toReversed() : cutOff;
}

const FROM_THE_START: Place = { part: 0, from: 0, line: 1 };

function behind(range: Range, part: number, cut: Place): readonly Range[] {
  if (part !== cut.part) return part < cut.part ? [] : [range];
  if (range.to !== undefined && range.to <= cut.from) return [];
  return cut.from <= range.from ? [range] : [{ ...range, from: cut.from, firstLine: cut.line }];
}

/** `undefined` where the stretch begins behind the end of the log. */
async function findCut(all: readonly PartRanges[], time: TimeQuery): Promise<Place | undefined> {
  let ahead: Place | undefined;
  for (const [number, { part, ranges }] of all.entries()) {
    let expected = 0;
    for (const { from, firstLine, isBegun: isPast, ...range } of ranges) {
      let place: Place = { part: number, from, line: firstLine };
      if (isPast) return ahead ?? place;
      // What was left out holds times that are right and too early, or is followed by some.
      if (from !== expected) ahead = undefined;
      expected = range.to ?? part.size;
      for await (const { bytes, ends } of part.blocks({ from, to: range.to })) {
        let start = 0;
        for (const end of ends) {
          const atMs = timeOfLine(bytes, start, end);
          // A line that is no event is left to who reads it.
          if (atMs === undefined || isBegun(atMs, time)) return ahead ?? place;
          ahead = isAhead(atMs, time) ? (ahead ?? place) : undefined;
          place = { part: number, from: place.from + end + 1 - start, line: place.line + 1 };
          start = end + 1;
        }
      }
    }
  }
  return ahead;
}
