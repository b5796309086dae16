/**
 * Index reader: which stretches of a log need not be read for a filter. What no record speaks of is
 * read.
 */
import type { FileHandle } from "node:fs/promises";
import type { AuditFilter } from "../filter.js";
import type { LogPart } from "../log-parts.js";
import { isBegun as isBegunAt, type TimeQuery } from "../log-time.js";
import { timeOfLine } from "../wanted-line.js";
import { isMixed, type JudgedStretch, judgeTimes } from "./stretch-times.js";
import { createKeyTest, type KeyTest } from "./key-filter.js";
import { keysOfFilter } from "./line-fields.js";
import { isOfLog, openIndexFile, partOf, readIndex } from "./index-file.js";
import type { IndexRecord, Stretch } from "./record.js";

/** A stretch that need not be read. */
export interface Skip extends Pick<Stretch, "file" | "from" | "to" | "nextSeq"> {
  /** Whether a stretch of time that is asked for begins in it, or before it. */
  readonly isBegun: boolean;
}

/** What is looked for; with `time` the filter's own times are not looked at. */
export interface IndexQuery {
  readonly filter: AuditFilter;
  readonly time: TimeQuery | undefined;
}

/** Which log, and with which key its index is sealed. */
export interface IndexOf {
  readonly path: string;
  readonly key: Uint8Array;
  readonly parts: readonly LogPart[];
}

/** What the filter surely has nothing in, in order; nothing without a good index. */
export async function findSkips(of: IndexOf, query: IndexQuery): Promise<readonly Skip[]> {
  return (await withIndex(of, (handle) => skipsOf(of, handle, query))) ?? [];
}

/** An index that cannot be read is none. */
export async function withIndex<T>(
  { path }: Pick<IndexOf, "path">,
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

async function skipsOf(
  { path, key, parts }: IndexOf,
  handle: FileHandle,
  { filter, time }: IndexQuery,
): Promise<readonly Skip[]> {
  const isNeeded = createRecordTest(filter, time);
  let found: JudgedStretch[] = [];
  let last: IndexRecord | undefined;
  for await (const each of readIndex(handle, path, { key })) {
    const record = each?.record;
    // Only what the last record's hash follows from is known to be of this log.
    if (record === undefined || (last !== undefined && !isNext(record.stretch, last.stretch)))
      found = [];
    if (record !== undefined)
      found.push({ stretch: record.stretch, isNeeded: isNeeded(record), hasBeginning: false });
    last = record ?? last;
  }
  if (last === undefined || !(await isOfLog(last, parts))) return [];
  return chooseSkips(await withBeginning(found, parts, time), time);
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
  { file, from, to }: Stretch,
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

/** Whether a stretch follows another without a gap. */
export function isNext(stretch: Stretch, before: Stretch): boolean {
  if (stretch.seq !== before.nextSeq || stretch.previousHash !== before.hash) return false;
  return stretch.file === before.file ? stretch.from === before.to : stretch.from === 0;
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
    skips[skips.length - 1] = { ...before, to, nextSeq, isBegun };
  else skips.push({ file, from, to, nextSeq, isBegun });
}

function createRecordTest(
  filter: AuditFilter,
  time: TimeQuery | undefined,
): (record: IndexRecord) => boolean {
  const { fromSeq = -Infinity, beforeSeq = Infinity } = filter;
  const { sinceMs = -Infinity, untilMs = Infinity } = time === undefined ? filter : {};
  const tests = keysOfFilter(filter).map((keys): KeyTest => {
    const each = keys.map(createKeyTest);
    return (bits) => each.some((test) => test(bits));
  });
  return ({ stretch: { minMs, maxMs, seq, nextSeq }, filter: bits }) =>
    maxMs >= sinceMs &&
    minMs < untilMs &&
    nextSeq > fromSeq &&
    seq < beforeSeq &&
    tests.every((test) => test(bits));
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
