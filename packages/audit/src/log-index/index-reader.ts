/**
 * Index reader: which stretches of a log need not be read for a filter. What no record speaks of is
 * read.
 */
import type { FileHandle } from "node:fs/promises";
import type { AuditFilter } from "../filter.js";
import type { LogPart } from "../log-parts.js";
import { createKeyTest, type KeyTest } from "./key-filter.js";
import { keysOfFilter } from "./line-fields.js";
import { isOfLog, openIndexFile, readIndex } from "./index-file.js";
import type { IndexRecord, Stretch } from "./record.js";

/** A stretch that need not be read. */
export type Skip = Pick<Stretch, "file" | "from" | "to" | "nextSeq">;

/** Which log, and with which key its index is sealed. */
export interface IndexOf {
  readonly path: string;
  readonly key: Uint8Array;
  readonly parts: readonly LogPart[];
}

/** What the filter surely has nothing in, in order; nothing without a good index. */
export async function findSkips(of: IndexOf, filter: AuditFilter): Promise<readonly Skip[]> {
  return (await withIndex(of, (handle) => skipsOf(of, handle, filter))) ?? [];
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
  filter: AuditFilter,
): Promise<readonly Skip[]> {
  const isNeeded = createRecordTest(filter);
  let skips: Skip[] = [];
  let last: IndexRecord | undefined;
  for await (const found of readIndex(handle, path, key)) {
    const record = found?.record;
    // Only what the last record's hash follows from is known to be of this log.
    if (record === undefined || (last !== undefined && !isNext(record.stretch, last.stretch)))
      skips = [];
    if (record !== undefined && !isNeeded(record)) addSkip(skips, record.stretch);
    last = record ?? last;
  }
  return last !== undefined && (await isOfLog(last, parts)) ? skips : [];
}

function isNext(stretch: Stretch, before: Stretch): boolean {
  if (stretch.seq !== before.nextSeq || stretch.previousHash !== before.hash) return false;
  return stretch.file === before.file ? stretch.from === before.to : stretch.from === 0;
}

function addSkip(skips: Skip[], { file, from, to, nextSeq }: Stretch): void {
  const before = skips.at(-1);
  if (before?.file === file && before.to === from)
    skips[skips.length - 1] = { ...before, to, nextSeq };
  else skips.push({ file, from, to, nextSeq });
}

function createRecordTest(filter: AuditFilter): (record: IndexRecord) => boolean {
  const { sinceMs = Number.NEGATIVE_INFINITY, untilMs = Number.POSITIVE_INFINITY } = filter;
  const tests = keysOfFilter(filter).map((keys): KeyTest => {
    const each = keys.map(createKeyTest);
    return (bits) => each.some((test) => test(bits));
  });
  return ({ stretch, filter: bits }) =>
    stretch.maxMs >= sinceMs && stretch.minMs < untilMs && tests.every((test) => test(bits));
}

/** Whole lines of a part to be read; `firstLine` is the number of the first one, from 1. */
export interface Range {
  readonly from: number;
  readonly to: number | undefined;
  readonly firstLine: number;
}

/** What is to be read of a part, in order. */
export async function rangesOf(part: LogPart, skips: readonly Skip[]): Promise<readonly Range[]> {
  const file = skips.length === 0 ? undefined : await part.startSeq();
  const ranges: Range[] = [];
  let [at, firstLine] = [0, 1];
  for (const skip of skips) {
    if (file === undefined || skip.file !== file) continue;
    if (skip.from > at) ranges.push({ from: at, to: skip.from, firstLine });
    [at, firstLine] = [skip.to, skip.nextSeq - file + 1];
  }
  return [...ranges, { from: at, to: undefined, firstLine }];
}
