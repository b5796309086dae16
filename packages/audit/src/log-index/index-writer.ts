/**
 * Index writer: brings the index of a log up to its end when the log is opened, and goes on with
 * what is appended. Never fails a log: what goes wrong here ends the index until the next opening.
 */
import type { FileHandle } from "node:fs/promises";
import { nextSeq } from "../event-line.js";
import type { GroupPlace } from "../file-store.js";
import type { KeptGroup } from "../after-release.js";
import { type LogPart, openParts } from "../log-parts.js";
import { type OpenWork, trackOpenWork, writeOpenWork } from "../open-work.js";
import type { TreeEdge } from "../tree-edge.js";
import { type BuilderStart, createIndexBuilder, type IndexBuilder } from "./builder.js";
import { catchUp, EVERY_EVENTS, type LineTaker, startOfLog } from "./catch-up.js";
import {
  type FoundRecord,
  indexPath,
  isOfLog,
  openIndexFile,
  readIndex,
  readLastRecord,
} from "./index-file.js";
import { createLookupWriter, type LookupSizes, type LookupWriter } from "./lookup-writer.js";
import { isNext, sealRecord } from "./record.js";
import { copyRange, replaceFile } from "./replace-file.js";
import { createWriteQueue } from "./write-queue.js";

/** The index of an open log, which ends where the log does. */
export interface IndexWriter {
  /** What is open at the end of the log, a copy of its own; `undefined` where it came no further. */
  work(): OpenWork | undefined;
  /** The tree of all events. */
  edge(): TreeEdge;
  /** Takes lines that are durable. */
  add(group: KeptGroup, at: GroupPlace): void;
  /** Settles when what was begun is written, and what was missing in the middle is mended. */
  written(): Promise<void>;
  /** Writes what is worth it, and closes. Never rejects. */
  close(): Promise<void>;
}

/** What a writer works with. */
export interface IndexWriterParts {
  readonly path: string;
  readonly key: Uint8Array;
  readonly now: () => number;
  /** Number of the log's next event. */
  readonly nextSeq: number;
  /** Events that a record and its table cover, and the fewest for one when the log is closed; for tests. */
  readonly everyEvents?: number;
  readonly closeEventsMin?: number;
  /** For tests. */
  readonly sizes?: LookupSizes;
  /** Ends the reading of what the index lacks; what it has by then stays. */
  readonly signal?: AbortSignal | undefined;
  /** Hears how many bytes of lines were added since it was called last. */
  readonly onRead?: ((bytes: number) => void) | undefined;
}

/** At the end of a log that was used for less, the next opening reads them faster than a record. */
const CLOSE_EVENTS_MIN = 50;

/**
 * The index of a log that this process writes, brought up to the end of the log; `undefined` where
 * that cannot be: a line is no good event, or the file is not ours.
 */
export async function openIndexWriter(parts: IndexWriterParts): Promise<IndexWriter | undefined> {
  const { path, key } = parts;
  let handle = await openIndexFile(path, "write");
  if (handle === undefined) return undefined;
  let lookup: LookupWriter | undefined;
  try {
    await using log = await openParts(path, parts.signal);
    const found = await readLastRecord(handle, path, key);
    const last =
      found !== undefined && (await isOfLog(found.record.stretch, log.parts)) ? found : undefined;
    const start =
      (last === undefined ? undefined : startAfter(last)) ?? (await startOfLog(log.parts));
    const isKept = last !== undefined && start?.head?.hash === last.record.stretch.hash;
    await handle.truncate(isKept ? last.end : 0);
    if (isKept) handle = await dropRemoved(parts, handle, log.parts);
    if (start !== undefined) {
      const from = isKept ? last.record.stretch : undefined;
      lookup = createLookupWriter({ ...parts, head: start.head });
      const builder = createIndexBuilder(start, parts.sizes?.spanLines);
      const writer = createWriter(parts, { handle, builder, lookup });
      if (
        (await catchUp(log.parts, writer, { from, onRead: parts.onRead })) &&
        nextSeq(writer.head()) === parts.nextSeq
      ) {
        if (isKept) writer.mend();
        return writer;
      }
    }
  } catch {
    // no index: whoever asks reads the log
  }
  await lookup?.close();
  await handle.close().catch(() => {});
  return undefined;
}

/** Where the record ends; `undefined` where it does not say how the log stands there. */
function startAfter({ record }: FoundRecord): BuilderStart | undefined {
  const state = record.state();
  const { nextSeq: after, hash } = record.stretch;
  return state === undefined ? undefined : { head: { seq: after - 1, hash }, state };
}

interface Writer extends IndexWriter, LineTaker {
  /** Begins to look for records that are missing in the middle; closing ends it. */
  mend(): void;
  /** Makes a record of what was taken, and waits until it is written; false where that failed. */
  flush(): Promise<boolean>;
}

interface WriterParts {
  readonly handle: FileHandle;
  readonly builder: IndexBuilder;
  /** None where what is written has its tables already. */
  readonly lookup?: LookupWriter;
}

function createWriter(
  parts: IndexWriterParts,
  { handle: opened, builder, lookup }: WriterParts,
): Writer {
  const { key, now, everyEvents = EVERY_EVENTS, closeEventsMin = CLOSE_EVENTS_MIN } = parts;
  const closing = new AbortController();
  const queue = createWriteQueue(opened);

  function seal(): void {
    const built = builder.seal(now());
    if (built === undefined) return;
    lookup?.add(built.table);
    queue.write(sealRecord(built, key));
  }

  function take(line: Parameters<IndexBuilder["add"]>[0]): boolean {
    const pending = builder.pending();
    if (pending !== undefined && (pending.file !== line.file || pending.events >= everyEvents))
      seal();
    return builder.add(line);
  }

  return {
    head: () => builder.head(),
    work: () => (queue.isFailed() ? undefined : trackOpenWork(writeOpenWork(builder.work()))),
    edge: () => builder.state().edge,
    take,
    // Not while the log is opened: it reads all of the index, which grows with the log.
    mend: () => queue.replace((handle) => mendMiddle(parts, handle, closing.signal)),
    async keptUp() {
      await queue.written();
      await lookup?.keptUp();
    },
    async written() {
      await queue.written();
      await lookup?.written();
    },
    async flush() {
      seal();
      await queue.written();
      return !queue.isFailed();
    },
    add({ bytes, lines }, { file, from }) {
      for (const { start, end, leaf, facts } of lines) {
        if (queue.isFailed()) return;
        const line = { bytes, start, end, file, from: from + start, leaf, facts };
        if (!safely(() => take(line))) queue.fail();
      }
      if (!queue.isFailed() && (builder.pending()?.events ?? 0) >= everyEvents) seal();
    },
    async close() {
      closing.abort();
      if (!queue.isFailed() && (builder.pending()?.events ?? 0) >= closeEventsMin) seal();
      await queue.close();
      await lookup?.close();
    },
  };
}

/** A line that cannot be read ends the index, and nothing else. */
function safely(take: () => boolean): boolean {
  try {
    return take();
  } catch {
    return false;
  }
}

/** What of an index holds: records from the log's start on, and those that lead to its end. */
interface Ends {
  readonly prefix: FoundRecord | undefined;
  readonly suffix: FoundRecord;
}

/** `undefined` where nothing is missing. */
async function findGap(
  { path, key }: IndexWriterParts,
  handle: FileHandle,
  { firstSeq, signal }: { readonly firstSeq: number; readonly signal: AbortSignal },
): Promise<Ends | undefined> {
  let prefix: FoundRecord | undefined;
  let suffix: FoundRecord | undefined;
  let before: FoundRecord | undefined;
  let isPrefix = true;
  for await (const found of readIndex(handle, path, { key, signal })) {
    const stretch = found?.record.stretch;
    const isJoined =
      stretch !== undefined && before !== undefined && isNext(stretch, before.record.stretch);
    isPrefix &&= isJoined || (prefix === undefined && stretch?.seq === firstSeq);
    if (isPrefix) prefix = found;
    else if (suffix === undefined || !isJoined) suffix = found ?? suffix;
    before = found;
  }
  return suffix === undefined ? undefined : { prefix, suffix };
}

/**
 * Writes the index anew with records in the place of those that are missing in the middle: each
 * search would read what they speak of. Leaves it as it is where that cannot be.
 */
async function mendMiddle(
  parts: IndexWriterParts,
  handle: FileHandle,
  signal: AbortSignal,
): Promise<FileHandle> {
  await using opened = await openParts(parts.path, signal);
  const log = opened.parts;
  const firstSeq = (await log[0]?.startSeq()) ?? 0;
  const gap = await findGap(parts, handle, { firstSeq, signal });
  if (gap === undefined) return handle;
  const { suffix } = gap;
  const { seq, previousHash } = suffix.record.stretch;
  const prefix = (gap.prefix?.record.stretch.nextSeq ?? Infinity) <= seq ? gap.prefix : undefined;
  const start = prefix === undefined ? await startOfLog(log) : startAfter(prefix);
  if (start === undefined) return handle;
  // Awaited here: the log is read until it is done.
  return await replaceFile(indexPath(parts.path), handle, async (writing) => {
    await copyRange(handle, writing, { position: 0, end: prefix?.end ?? 0 });
    const writer = createWriter(parts, { handle: writing, builder: createIndexBuilder(start) });
    const between = { from: prefix?.record.stretch, beforeSeq: seq };
    const isBuilt = await catchUp(log, writer, between);
    const isWhole = (writer.head()?.hash ?? null) === previousHash;
    if (!isBuilt || !isWhole || !(await writer.flush())) return false;
    await copyRange(handle, writing, { position: suffix.from });
    return true;
  });
}

/** Writes the index anew without the records of files that retention removed. */
async function dropRemoved(
  parts: IndexWriterParts,
  handle: FileHandle,
  log: readonly LogPart[],
): Promise<FileHandle> {
  const first = await log[0]?.startSeq();
  let dropped = 0;
  for await (const found of readIndex(handle, parts.path, { key: parts.key })) {
    if (found === undefined || first === undefined || found.record.stretch.file >= first) break;
    dropped = found.end;
  }
  if (dropped === 0) return handle;
  return replaceFile(indexPath(parts.path), handle, async (writing) => {
    await copyRange(handle, writing, { position: dropped });
    return true;
  });
}
