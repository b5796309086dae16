/** Wanted line: the event of a line, where a reader wants it. Each line is checked by itself. */
import { decodeEvent, parseEvent } from "./codec.js";
import type { AuditEvent } from "./event.js";
import { type AuditFilter, createLineTest, matchesFilter } from "./filter.js";
import { lineText } from "./lines.js";
import { readLineTime } from "./line-time.js";
import { isAhead, isWithin, type TimeQuery } from "./log-time.js";
import { readPlainLine } from "./plain-line.js";

/** An event, and its line as it is stored. */
export interface AuditRecord {
  readonly event: AuditEvent;
  readonly line: string;
}

/** What a line holds; `ahead` where its clock was, so that its neighbors say when it happened. */
export interface ReadLine {
  /** Its wall time; only where a stretch of time is asked for. */
  readonly atMs: number | undefined;
  /** Absent where it is not wanted. */
  readonly record: AuditRecord | undefined;
}

/** Reads lines for a filter. */
export interface LineReader {
  /** `undefined` for what is no event. */
  read(bytes: Buffer, start: number, end: number): ReadLine | undefined;
}

/** With `time` the filter's own times are not looked at. */
export function createLineReader(filter: AuditFilter, time: TimeQuery | undefined): LineReader {
  const { sinceMs = -Infinity, untilMs = Infinity, ...rest } = filter;
  const mayMatch = createLineTest(filter);
  const isTimed = time !== undefined || sinceMs > -Infinity || untilMs < Infinity;
  const isInTime = (atMs: number): boolean =>
    time === undefined
      ? atMs >= sinceMs && atMs < untilMs
      : isAhead(atMs, time) || isWithin(atMs, time);
  const isWanted = (event: AuditEvent): boolean =>
    isInTime(event.atMs) && matchesFilter(event, rest);
  return {
    read(bytes, start, end) {
      const line = bytes.subarray(start, end);
      const isPlain = readPlainLine(bytes, start, end) !== undefined;
      if (isPlain) {
        const atMs = isTimed ? readLineTime(line) : undefined;
        if (!mayMatch(line) || (atMs !== undefined && !isInTime(atMs)))
          return { atMs, record: undefined };
      }
      const text = lineText(line);
      const event = text === undefined ? undefined : readEventOf(text, isPlain);
      if (text === undefined || event === undefined) return undefined;
      const record = isWanted(event) ? { event, line: text } : undefined;
      return { atMs: event.atMs, record };
    },
  };
}

/** The event of a good line. One that was proven good from its bytes need not be proven again. */
export function readEventOf(line: string, isProven: boolean): AuditEvent | undefined {
  if (isProven) return parseEvent(line);
  const decoded = decodeEvent(line);
  return decoded.ok ? decoded.event : undefined;
}

/** The wall time of a line; `undefined` for what is no event. */
export function timeOfLine(bytes: Buffer, start: number, end: number): number | undefined {
  const line = bytes.subarray(start, end);
  if (readPlainLine(bytes, start, end) !== undefined) return readLineTime(line);
  return readEventOf(lineText(line) ?? "", false)?.atMs;
}
