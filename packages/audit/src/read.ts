/**
 * Read: the events of a log, oldest first or newest first, for showing and searching. Checks each
 * line by itself; the chain is verifyAuditLog's. With the key of its index, stretches in which the
 * filter has nothing are not read.
 */
import { cannot } from "./errors.js";
import { type AuditEvent, LINE_BYTES_MAX } from "./event.js";
import type { AuditFilter } from "./filter.js";
import { type FindSkips, rangesOfLog } from "./log-cut.js";
import type { Range } from "./log-index/index-reader.js";
import { type LogLookup, openLogLookup } from "./log-index/log-lookup.js";
import { type LogPart, type LogParts, openParts } from "./log-parts.js";
import { isAhead, type TimeQuery } from "./log-time.js";
import { throwIfAborted } from "./source.js";
import { type AuditRecord, createLineReader, type ReadLine } from "./wanted-line.js";

/** Options of {@link readAuditLog}. */
export interface ReadOptions {
  /** Which events to return; all unless given. */
  readonly filter?: AuditFilter;
  /**
   * Ends the reading early, with the ConsentError `aborted`, whose cause is the signal's reason.
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * Key of the index beside the log ({@link AuditLogOptions.indexKey}): what it says has nothing
   * for the filter is not read. Without it, or with no good index there, everything is.
   */
  readonly indexKey?: Uint8Array | undefined;
  /**
   * The reader's time: with it `sinceMs` and `untilMs` mean when an event can have happened by the
   * log's order, also where the clock that stamped it was wrong. Source: spec/audit.md §9.
   */
  readonly nowMs?: number | undefined;
}

/**
 * The log's events, oldest first, from all its files. A last line without an end is left out: it
 * was never acknowledged.
 *
 * @throws ConsentError `audit_failed` at a line that is not an event, after the events before it;
 *   `aborted` where the signal ended it.
 */
export async function* readAuditLog(
  path: string,
  options: ReadOptions = {},
): AsyncGenerator<AuditEvent> {
  for await (const { event } of readRecords(path, options)) yield event;
}

/** {@link readAuditLog} with the lines. */
export async function* readRecords(
  path: string,
  options: ReadOptions = {},
): AsyncGenerator<AuditRecord> {
  await using log = await openParts(path, options.signal);
  await using lookup = openLogLookup(log, path, options.indexKey);
  yield* readParts(log, { path, ...queryOf(options, lookup) });
}

/**
 * The log's events, newest first, from all its files: what is not asked for is not read.
 *
 * @throws ConsentError as {@link readAuditLog} does, at the line that the reading has come to.
 */
export async function* readAuditLogBackward(
  path: string,
  options: ReadOptions = {},
): AsyncGenerator<AuditEvent> {
  await using log = await openParts(path, options.signal);
  await using lookup = openLogLookup(log, path, options.indexKey);
  yield* readBackward(log, { path, signal: options.signal, ...queryOf(options, lookup) });
}

/** A log that is asked several times: the files that it had when it was opened. */
export interface AuditReader extends AsyncDisposable {
  /** As {@link readAuditLog}. */
  read(options: AuditQuery): AsyncGenerator<AuditEvent>;
  /** As {@link readAuditLogBackward}. */
  readBackward(options: AuditQuery): AsyncGenerator<AuditEvent>;
}

/** What one query says. */
export type AuditQuery = Pick<ReadOptions, "filter" | "nowMs">;

/**
 * Opens a log for several queries, which share what they read of its index.
 *
 * @throws ConsentError `audit_failed` where there is none; `aborted` where the signal ended it.
 */
export async function openAuditReader(
  path: string,
  { indexKey, signal }: Pick<ReadOptions, "indexKey" | "signal"> = {},
): Promise<AuditReader> {
  const log = await openParts(path, signal);
  const lookup = openLogLookup(log, path, indexKey);
  return {
    async *read(options) {
      for await (const { event } of readParts(log, { path, ...queryOf(options, lookup) }))
        yield event;
    },
    readBackward: (options) => readBackward(log, { path, signal, ...queryOf(options, lookup) }),
    async [Symbol.asyncDispose]() {
      await lookup[Symbol.asyncDispose]();
      await log[Symbol.asyncDispose]();
    },
  };
}

function queryOf(options: AuditQuery, lookup: LogLookup): Omit<PartsToRead, "path"> {
  const { filter = {} } = options;
  const time = timeOf(options);
  return { filter, time, findSkips: (part) => lookup.findSkips({ filter, time }, part) };
}

async function* readBackward(
  log: LogParts,
  { path, signal, filter, ...query }: PartsToRead & Pick<ReadOptions, "signal">,
): AsyncGenerator<AuditEvent> {
  const { time, findSkips } = query;
  const reader = createLineReader(filter, time);
  let ahead: AuditRecord[] = [];
  const files = rangesOfLog(log.parts, { findSkips, time, isBackward: true });
  for await (const { part, ranges } of files)
    for (const range of ranges.toReversed())
      for await (const { bytes, start, end } of linesBackward(part, range, path)) {
        throwIfAborted(signal, path);
        const read = reader.read(bytes, start, end);
        if (read === undefined)
          throw cannot(
            "read",
            path,
          )(`a line of "${part.name}" is not an event; run \`acp audit verify\``);
        const { record, atMs } = read;
        if (time === undefined || atMs === undefined || !isAhead(atMs, time)) {
          if (time === undefined || atMs === undefined || atMs < time.untilMs)
            for (const { event } of ahead) yield event;
          ahead = [];
          if (record !== undefined) yield record.event;
        } else if (record !== undefined) ahead.push(record);
        // Rather shown too often than held in memory without end.
        if (ahead.length > HELD_MAX) for (const { event } of ahead.splice(0)) yield event;
      }
  for (const { event } of ahead) yield event;
}

/** Events of a clock that was ahead which are held until it is known when they happened. */
const HELD_MAX = 10_000;

function timeOf({ filter = {}, nowMs }: ReadOptions): TimeQuery | undefined {
  const { sinceMs = -Infinity, untilMs = Infinity } = filter;
  return nowMs === undefined || (sinceMs === -Infinity && untilMs === Infinity)
    ? undefined
    : { sinceMs, untilMs, nowMs };
}

/** What is read of an opened log. */
export interface PartsToRead {
  readonly path: string;
  readonly filter: AuditFilter;
  readonly time?: TimeQuery | undefined;
  readonly findSkips: FindSkips;
}

/** The records of an opened log but for what is skipped. */
export async function* readParts(
  log: LogParts,
  { path, filter, time, findSkips }: PartsToRead,
): AsyncGenerator<AuditRecord> {
  const reader = createLineReader(filter, time);
  const isLater = createAheadTest(time);
  for await (const { part, ranges } of rangesOfLog(log.parts, { findSkips, time })) {
    for (const range of ranges) {
      let number = range.firstLine - 1;
      for await (const { bytes, ends, fault } of part.blocks(range)) {
        let start = 0;
        for (const end of ends) {
          number += 1;
          const read = reader.read(bytes, start, end);
          start = end + 1;
          if (read === undefined) throw noEvent(path, part, number);
          if (!isLater(read) && read.record !== undefined) yield read.record;
        }
        if (fault === "line_too_long") throw noEvent(path, part, number + 1);
      }
    }
  }
}

/** Whether an event of a clock that was ahead happened after the stretch: the one before it did. */
function createAheadTest(time: TimeQuery | undefined): (line: ReadLine) => boolean {
  if (time === undefined) return () => false;
  let before = -Infinity;
  return ({ atMs = -Infinity }) => {
    if (isAhead(atMs, time)) return before >= time.untilMs;
    before = atMs;
    return false;
  };
}

function noEvent(path: string, { name }: LogPart, number: number): Error {
  return cannot(
    "read",
    path,
  )(`line ${number} of "${name}" is not an event; run \`acp audit verify\``);
}

const NEWLINE = 0x0a;
const CHUNK_BYTES = 256 * 1024;

/** The whole lines of a range, the last first. */
async function* linesBackward(
  part: LogPart,
  { from, to = part.size }: Range,
  path: string,
): AsyncGenerator<{ readonly bytes: Buffer; readonly start: number; readonly end: number }> {
  let length = CHUNK_BYTES;
  for (let end = to; end > from; ) {
    const start = Math.max(from, end - length);
    const bytes = await part.read(start, end);
    const first = start === from ? 0 : bytes.indexOf(NEWLINE) + 1;
    // A last line without an end is left out, as it is by who reads forward.
    let lineEnd = bytes.lastIndexOf(NEWLINE);
    const isWhole = lineEnd !== -1 && (start === from || first <= lineEnd);
    if (!isWhole && start > from) {
      if (length > LINE_BYTES_MAX)
        throw cannot("read", path)(`a line of "${part.name}" is too long`);
      length *= 2;
      continue;
    }
    while (lineEnd >= first) {
      const lineStart = Math.max(
        first,
        lineEnd === 0 ? 0 : bytes.lastIndexOf(NEWLINE, lineEnd - 1) + 1,
      );
      yield { bytes, start: lineStart, end: lineEnd };
      lineEnd = lineStart - 1;
    }
    end = start + first;
    length = CHUNK_BYTES;
    if (start === from) return;
  }
}
