/**
 * Index reader: which stretches of a log need not be read for a filter. What no record speaks of is
 * read.
 */
import type { FileHandle } from "node:fs/promises";
import type { AuditFilter } from "../filter.js";
import type { LogPart } from "../log-parts.js";
import { isAhead, type TimeQuery } from "../log-time.js";
import { createKeyTest, type KeyTest } from "./key-filter.js";
import { keysOfFilter } from "./line-fields.js";
import { isOfLog, openIndexFile, readIndex } from "./index-file.js";
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
  let skips = collectSkips(time);
  let last: IndexRecord | undefined;
  for await (const found of readIndex(handle, path, key)) {
    const record = found?.record;
    // Only what the last record's hash follows from is known to be of this log.
    if (record === undefined || (last !== undefined && !isNext(record.stretch, last.stretch)))
      skips = collectSkips(time);
    if (record !== undefined) skips.add(record.stretch, isNeeded(record));
    last = record ?? last;
  }
  return last !== undefined && (await isOfLog(last, parts)) ? skips.all() : [];
}

/** Whether a stretch follows another without a gap. */
export function isNext(stretch: Stretch, before: Stretch): boolean {
  if (stretch.seq !== before.nextSeq || stretch.previousHash !== before.hash) return false;
  return stretch.file === before.file ? stretch.from === before.to : stretch.from === 0;
}

interface SkipCollector {
  add(stretch: Stretch, isNeeded: boolean): void;
  all(): readonly Skip[];
}

/**
 * Puts stretches together that are not needed. When an event of a clock that was ahead happened is
 * known from its neighbors: they are read with it.
 */
function collectSkips(time: TimeQuery | undefined): SkipCollector {
  const skips: Skip[] = [];
  let held: { readonly stretch: Stretch; readonly isNeeded: boolean } | undefined;
  let [isBegun, wasAhead] = [false, false];

  function settle(isNextAhead: boolean): void {
    if (held === undefined) return;
    const { stretch, isNeeded } = held;
    held = undefined;
    const isWrong = time !== undefined && isAhead(stretch.maxMs, time);
    isBegun ||= !isWrong && time !== undefined && stretch.maxMs >= time.sinceMs;
    const isOutside = time !== undefined && (!isBegun || stretch.minMs >= time.untilMs);
    if (!isWrong && !wasAhead && !isNextAhead && (isOutside || !isNeeded))
      addSkip(skips, { ...stretch, isBegun });
    wasAhead = isWrong;
  }

  return {
    add(stretch, isNeeded) {
      settle(time !== undefined && isAhead(stretch.maxMs, time));
      held = { stretch, isNeeded };
    },
    all() {
      settle(false);
      return skips;
    },
  };
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
