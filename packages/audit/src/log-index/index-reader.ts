/**
 * Index reader: which lines of a log need not be read for a filter, by the look-up tables beside it.
 * What no table speaks of, or a damaged part of one, is read.
 */
import type { FileHandle } from "node:fs/promises";
import type { AuditFilter } from "../filter.js";
import type { LogPart } from "../log-parts.js";
import { isAhead, isBegun as isBegunAt, type TimeQuery } from "../log-time.js";
import { timeOfLine } from "../wanted-line.js";
import { openIndexFile, partOf } from "./index-file.js";
import { hashKey, type KeyHash } from "./key-hash.js";
import { keysOfFilter } from "./line-fields.js";
import { findKey, type FoundTable, readSpans, type TableReader } from "./lookup-file.js";
import { isAt, isEverywhere, type KeyPlaces, type Rows } from "./lookup-table.js";
import { isMixed, type JudgedStretch, judgeTimes, type TimedLines } from "./stretch-times.js";

/** Lines that need not be read. */
export interface Skip extends Pick<TimedLines, "file" | "from" | "to" | "nextSeq"> {
  /** Whether a stretch of time that is asked for begins in it, or before it. */
  readonly isBegun: boolean;
}

/** What is looked for; with `time` the filter's own times are not looked at. */
export interface IndexQuery {
  readonly filter: AuditFilter;
  readonly time: TimeQuery | undefined;
}

/** The tables of a log, and its files. */
export interface IndexOf extends TableReader {
  readonly tables: readonly FoundTable[];
  readonly parts: readonly LogPart[];
}

/** An index that cannot be read is none. */
export async function withIndex<T>(
  { path }: { readonly path: string },
  use: (handle: FileHandle) => Promise<T>,
): Promise<T | undefined> {
  const handle = await openIndexFile(path, "read");
  if (handle === undefined) return undefined;
  try {
    return await use(handle);
  } catch {
    return undefined;
  } finally {
    await handle.close();
  }
}

/** What the filter surely has nothing in, in order; of one file alone where that is named. */
export async function findSkips(
  of: IndexOf,
  { filter, time }: IndexQuery,
  file?: number,
): Promise<readonly Skip[]> {
  const tables = of.tables.filter(({ head }) => file === undefined || head.file === file);
  const query = { filter, time, keys: keysOfFilter(filter).map((keys) => keys.map(hashKey)) };
  const found: JudgedStretch[] = [];
  for (const [number, table] of tables.entries()) {
    const near = [tables[number - 1], tables[number + 1]];
    const isNearAhead = near.some((each) => each !== undefined && isAheadIn(each, time));
    found.push(...(await judgeTable(of, table, { ...query, isNearAhead })));
  }
  return chooseSkips(await withBeginning(found, of.parts, time), time);
}

interface TableQuery extends IndexQuery {
  /** One of each list has to be there. */
  readonly keys: readonly (readonly KeyHash[])[];
  /** Whether a table beside it has times that are ahead. */
  readonly isNearAhead: boolean;
}

const isAheadIn = ({ head }: FoundTable, time: TimeQuery | undefined): boolean =>
  time !== undefined && isAhead(head.maxMs, time);

/** A table as one where its head says enough, else the spans of it. */
async function judgeTable(
  reader: TableReader,
  table: FoundTable,
  query: TableQuery,
): Promise<readonly JudgedStretch[]> {
  const { head } = table;
  const { time, isNearAhead } = query;
  const whole = (isNeeded: boolean): readonly JudgedStretch[] => [
    { stretch: head, isNeeded, hasBeginning: false },
  ];
  const isUsual = time === undefined || !(isNearAhead || isAheadIn(table, time));
  const bounds = boundsOf(query);
  // Where a clock was set back, what is too early may be needed: `judgeTimes()` knows.
  if (time !== undefined && isUsual && head.maxMs < time.sinceMs) return whole(true);
  if (isUsual && !bounds.reaches(head)) return whole(false);
  const places = await placesOf(reader, table, query.keys);
  if (isUsual && places?.some((each) => each.size === 0) === true) return whole(false);
  const isAll = places === undefined || places.every((each) => isEverywhere(each, head.stretches));
  if (isUsual && isAll && bounds.holds(head)) return whole(true);
  const rows = await readSpans(reader, table);
  if (rows === undefined) return whole(true);
  const test = time === undefined ? bounds : boundsOf({ filter: query.filter, time: NO_TIME });
  const isNeeded = (lines: TimedLines, stretch: number, span: number): boolean =>
    test.reaches(lines) && (places?.every((each) => isAt(each, stretch, span)) ?? true);
  return runsOf({ head, rows }, { isNeeded, kindOf: isUsual ? kindIn(time) : undefined });
}

/** Lines of a usual time of which the same is known lie on the same side of what is asked for. */
function kindIn(time: TimeQuery | undefined): (lines: TimedLines) => number {
  if (time === undefined) return () => 0;
  return ({ minMs, maxMs }) => (maxMs < time.sinceMs ? 1 : minMs >= time.untilMs ? 2 : 0);
}

const NO_TIME: TimeQuery = { sinceMs: -Infinity, untilMs: Infinity, nowMs: Infinity };

/** Which numbers and times are meant. */
interface Bounds {
  /** Whether lines may lie inside. */
  reaches(lines: TimedLines): boolean;
  /** Whether all of them do. */
  holds(lines: TimedLines): boolean;
}

/** The filter's own times count where a clock is not doubted. */
function boundsOf({ filter, time }: IndexQuery): Bounds {
  const { fromSeq = -Infinity, beforeSeq = Infinity } = filter;
  const { sinceMs = -Infinity, untilMs = Infinity } = time ?? filter;
  return {
    reaches: ({ seq, nextSeq, minMs, maxMs }) =>
      maxMs >= sinceMs && minMs < untilMs && nextSeq > fromSeq && seq < beforeSeq,
    holds: ({ seq, nextSeq, minMs, maxMs }) =>
      minMs >= sinceMs && maxMs < untilMs && seq >= fromSeq && nextSeq <= beforeSeq,
  };
}

interface RunsQuery {
  readonly isNeeded: (lines: TimedLines, stretch: number, span: number) => boolean;
  /** Spans in a row of one kind are one; none where each is for itself. */
  readonly kindOf: ((lines: TimedLines) => number) | undefined;
}

/** The spans of a table; there are thousands, of which few are needed. */
function runsOf(
  { head, rows }: { readonly head: FoundTable["head"]; readonly rows: Rows },
  { isNeeded: needs, kindOf }: RunsQuery,
): readonly JudgedStretch[] {
  const runs: JudgedStretch[] = [];
  let run: (Writable<TimedLines> & { isNeeded: boolean; kind: number }) | undefined;
  const end = (): void => {
    if (run === undefined) return;
    const { isNeeded, kind: _kind, ...stretch } = run;
    runs.push({ stretch, isNeeded, hasBeginning: false });
  };
  let { from, seq } = head;
  rows.forEach((span) => {
    const { to, lines: count, minMs, maxMs } = span;
    const lines = { file: head.file, from, to, seq, nextSeq: seq + count, minMs, maxMs };
    const isNeeded = needs(lines, span.stretch, span.span);
    const kind = kindOf?.(lines) ?? 0;
    if (kindOf !== undefined && run?.isNeeded === isNeeded && run.kind === kind) {
      [run.to, run.nextSeq] = [to, lines.nextSeq];
      [run.minMs, run.maxMs] = [Math.min(run.minMs, minMs), Math.max(run.maxMs, maxMs)];
    } else {
      end();
      run = { ...lines, isNeeded, kind };
    }
    [from, seq] = [to, lines.nextSeq];
  });
  end();
  return runs;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Where each list of keys is; `undefined` where the table does not say that. */
async function placesOf(
  reader: TableReader,
  table: FoundTable,
  keys: readonly (readonly KeyHash[])[],
): Promise<readonly KeyPlaces[] | undefined> {
  const places: KeyPlaces[] = [];
  for (const each of keys) {
    const all = new Set<number>();
    for (const key of each) {
      const found = await findKey(reader, table, key);
      if (found === undefined) return undefined;
      for (const place of found) all.add(place);
    }
    places.push(all);
    if (all.size === 0) break;
  }
  return places;
}

/** Looks into the lines of the few stretches whose times do not say whether a query begins there. */
async function withBeginning(
  found: readonly JudgedStretch[],
  parts: readonly LogPart[],
  time: TimeQuery | undefined,
): Promise<readonly JudgedStretch[]> {
  if (time === undefined || time.sinceMs === -Infinity) return found;
  const looked = [...found];
  for (const [at, each] of found.entries()) {
    const { stretch } = each;
    if (isMixed(stretch, time)) {
      const hasBeginning = await beginsIn(stretch, parts, time);
      looked[at] = { ...each, hasBeginning };
      if (hasBeginning) break;
    } else if (isBegunAt(stretch.maxMs, time)) break;
  }
  return looked;
}

async function beginsIn(
  { file, from, to }: TimedLines,
  parts: readonly LogPart[],
  time: TimeQuery,
): Promise<boolean> {
  const part = await partOf(parts, file);
  for await (const { bytes, ends } of part?.blocks({ from, to }) ?? []) {
    let start = 0;
    for (const end of ends) {
      const atMs = timeOfLine(bytes, start, end);
      if (atMs === undefined || isBegunAt(atMs, time)) return true;
      start = end + 1;
    }
  }
  return false;
}

function chooseSkips(
  found: readonly JudgedStretch[],
  time: TimeQuery | undefined,
): readonly Skip[] {
  const skips: Skip[] = [];
  const judged = time === undefined ? undefined : judgeTimes(found, time);
  for (const [number, { stretch, isNeeded }] of found.entries()) {
    const { isLeftOut, isBegun } = judged?.[number] ?? { isLeftOut: !isNeeded, isBegun: false };
    if (isLeftOut) addSkip(skips, { ...stretch, isBegun });
  }
  return skips;
}

function addSkip(skips: Skip[], { file, from, to, nextSeq, isBegun }: Skip): void {
  const before = skips.at(-1);
  if (before?.file === file && before.to === from)
    skips[skips.length - 1] = { file, from: before.from, to, nextSeq, isBegun };
  else skips.push({ file, from, to, nextSeq, isBegun });
}

/** Whole lines of a part to be read; `firstLine` is the number of the first one, from 1. */
export interface Range {
  readonly from: number;
  readonly to: number | undefined;
  readonly firstLine: number;
  /** Whether a stretch of time that is asked for begins before it. */
  readonly isBegun: boolean;
}

/** What is to be read of a part, in order. */
export async function rangesOf(part: LogPart, skips: readonly Skip[]): Promise<readonly Range[]> {
  const file = skips.length === 0 ? undefined : await part.startSeq();
  const ranges: Range[] = [];
  let [at, firstLine, isBegun] = [0, 1, false];
  for (const skip of skips) {
    if (file === undefined || skip.file !== file) continue;
    if (skip.from > at) ranges.push({ from: at, to: skip.from, firstLine, isBegun });
    [at, firstLine, isBegun] = [skip.to, skip.nextSeq - file + 1, skip.isBegun];
  }
  return [...ranges, { from: at, to: undefined, firstLine, isBegun }];
}
