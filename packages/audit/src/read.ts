/**
 * Read: the events of a log, oldest first or newest first, for showing and searching. Checks each
 * line by itself; the chain is verifyAuditLog's. With the key of its index, stretches in which the
 * filter has nothing are not read.
 */
import { decodeEvent, parseEvent } from "./codec.js";
import { cannot } from "./errors.js";
import { type AuditEvent, LINE_BYTES_MAX } from "./event.js";
import { type AuditFilter, matchesFilter } from "./filter.js";
import { lineText } from "./lines.js";
import { findSkips, type Range, rangesOf, type Skip } from "./log-index/index-reader.js";
import { readLineFields } from "./log-index/line-fields.js";
import { type LogPart, type LogParts, openParts } from "./log-parts.js";
import { readPlainLine } from "./plain-line.js";
import { throwIfAborted } from "./source.js";

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

/** An event, and its line as it is stored. */
export interface AuditRecord {
  readonly event: AuditEvent;
  readonly line: string;
}

/** {@link readAuditLog} with the lines. */
export async function* readRecords(
  path: string,
  options: ReadOptions = {},
): AsyncGenerator<AuditRecord> {
  await using log = await openParts(path, options.signal);
  yield* readParts(log, { path, ...options, skips: await skipsFor(log, path, options) });
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
  const { filter = {}, signal } = options;
  await using log = await openParts(path, signal);
  const skips = await skipsFor(log, path, options);
  for (const part of log.parts.toReversed())
    for (const range of (await rangesOf(part, skips)).toReversed())
      for await (const { bytes, start, end } of linesBackward(part, range, path)) {
        throwIfAborted(signal, path);
        const record = readLine(bytes, { start, end, filter });
        if (record === undefined)
          throw cannot(
            "read",
            path,
          )(`a line of "${part.name}" is not an event; run \`acp audit verify\``);
        if (record !== "other") yield record.event;
      }
}

async function skipsFor(
  log: LogParts,
  path: string,
  { filter = {}, indexKey: key }: ReadOptions,
): Promise<readonly Skip[]> {
  const isAll = Object.values(filter).every((value) => value === undefined);
  return key === undefined || isAll ? [] : findSkips({ path, key, parts: log.parts }, filter);
}

/** The records of an opened log but for what is skipped. */
export async function* readParts(
  log: LogParts,
  {
    path,
    filter = {},
    skips,
  }: Pick<ReadOptions, "filter"> & { readonly path: string; readonly skips: readonly Skip[] },
): AsyncGenerator<AuditRecord> {
  for (const part of log.parts) {
    for (const range of await rangesOf(part, skips)) {
      let number = range.firstLine - 1;
      for await (const { bytes, ends, fault } of part.blocks(range)) {
        let start = 0;
        for (const end of ends) {
          number += 1;
          const record = readLine(bytes, { start, end, filter });
          start = end + 1;
          if (record === undefined) throw noEvent(path, part, number);
          if (record !== "other") yield record;
        }
        if (fault === "line_too_long") throw noEvent(path, part, number + 1);
      }
    }
  }
}

function noEvent(path: string, { name }: LogPart, number: number): Error {
  return cannot(
    "read",
    path,
  )(`line ${number} of "${name}" is not an event; run \`acp audit verify\``);
}

interface WantedLine {
  readonly start: number;
  readonly end: number;
  readonly filter: AuditFilter;
}

/** The record of a line, or "other" where the filter does not want it; `undefined` for no event. */
function readLine(
  bytes: Buffer,
  { start, end, filter }: WantedLine,
): AuditRecord | "other" | undefined {
  const isPlain = readPlainLine(bytes, start, end) !== undefined;
  // Most are not wanted: those that are proven need not be parsed whole for that.
  const fields = isPlain ? readLineFields(bytes, start, end) : undefined;
  if (fields !== undefined && !matchesFilter(fields, filter)) return "other";
  const line = lineText(bytes.subarray(start, end));
  const event = line === undefined ? undefined : readEventOf(line, isPlain);
  if (line === undefined || event === undefined) return undefined;
  return matchesFilter(event, filter) ? { event, line } : "other";
}

/** The event of a good line. One that was proven good from its bytes need not be proven again. */
export function readEventOf(line: string, isProven: boolean): AuditEvent | undefined {
  if (isProven) return parseEvent(line);
  const decoded = decodeEvent(line);
  return decoded.ok ? decoded.event : undefined;
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
