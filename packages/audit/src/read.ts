/**
 * Read: the events of a log, oldest first, for showing and searching. Checks each line by itself;
 * the chain is verifyAuditLog's.
 */
import { decodeEvent, parseEvent } from "./codec.js";
import { cannot } from "./errors.js";
import type { AuditEvent } from "./event.js";
import { lineText } from "./lines.js";
import { openParts } from "./log-parts.js";
import { readPlainLine } from "./plain-line.js";

/** Which events to read; a member that is absent matches every event. */
export interface AuditFilter {
  /** Only events from this time on, in milliseconds since 1970. */
  readonly sinceMs?: number;
  /** Only events before this time, in milliseconds since 1970. */
  readonly untilMs?: number;
  /** Only this type, such as `consent_approved`. */
  readonly eventType?: string;
  /** Only events of the question with this id. */
  readonly requestId?: string;
  /** Only events of the agent with this id. */
  readonly agent?: string;
  /** Only events of calls of a tool with this name. */
  readonly tool?: string;
  /** Only events with this decision. */
  readonly decision?: string;
}

/** Options of {@link readAuditLog}. */
export interface ReadOptions {
  /** Which events to return; all unless given. */
  readonly filter?: AuditFilter;
  /**
   * Ends the reading early, with the ConsentError `aborted`, whose cause is the signal's reason.
   */
  readonly signal?: AbortSignal | undefined;
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
  { filter = {}, signal }: ReadOptions = {},
): AsyncGenerator<AuditRecord> {
  await using log = await openParts(path, signal);
  for (const part of log.parts) {
    let number = 0;
    for await (const { bytes, ends, fault } of part.blocks()) {
      let start = 0;
      for (const end of ends) {
        number += 1;
        const line = lineText(bytes.subarray(start, end));
        const isPlain = readPlainLine(bytes, start, end) !== undefined;
        start = end + 1;
        const event = line === undefined ? undefined : readEventOf(line, isPlain);
        if (line === undefined || event === undefined)
          throw cannot(
            "read",
            path,
          )(`line ${number} of "${part.name}" is not an event; run \`acp audit verify\``);
        if (matchesFilter(event, filter)) yield { event, line };
      }
      if (fault === "line_too_long")
        throw cannot(
          "read",
          path,
        )(`line ${number + 1} of "${part.name}" is not an event; run \`acp audit verify\``);
    }
  }
}

/** The event of a good line. One that was proven good from its bytes need not be proven again. */
export function readEventOf(line: string, isProven: boolean): AuditEvent | undefined {
  if (isProven) return parseEvent(line);
  const decoded = decodeEvent(line);
  return decoded.ok ? decoded.event : undefined;
}

const EQUALS = ["eventType", "requestId", "agent", "tool", "decision"] as const;

/** Whether the filter lets an event through. */
export function matchesFilter(event: AuditEvent, filter: AuditFilter): boolean {
  if (filter.sinceMs !== undefined && event.atMs < filter.sinceMs) return false;
  if (filter.untilMs !== undefined && event.atMs >= filter.untilMs) return false;
  return EQUALS.every((field) => filter[field] === undefined || filter[field] === event[field]);
}
