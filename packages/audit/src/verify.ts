/**
 * Verify: reads a log from its first line and names the first broken promise. Streams; its memory does not grow with the log.
 * Finds changed, missing, repeated and moved lines. Lines cut off at the end leave no trace in the file: compare `head` with a receipt kept elsewhere.
 * Format: spec/audit.md. Vectors: spec/vectors/audit.json.
 */
import type { AuditReceipt } from "@acp/core";
import { checkLink, decodeEvent } from "./codec.js";
import type { AuditEvent, AuditFault } from "./event.js";
import { type Line, splitLines } from "./lines.js";
import { openForReading } from "./source.js";

/** The first bad line, counted from 1. */
export interface BadLine extends AuditFault {
  readonly line: number;
}

/** What a log proved to be. */
export interface AuditVerification {
  readonly ok: boolean;
  /** How many events are good, counted from the start. */
  readonly events: number;
  /** Where the good part ends; left out where it is empty. */
  readonly head?: AuditReceipt;
  /** Left out where all lines are good. */
  readonly firstBad?: BadLine;
}

/** How far a verification is. */
export interface VerifyProgress {
  readonly events: number;
  readonly bytes: number;
  readonly bytesTotal: number;
}

/** Options of {@link verifyAuditLog}. */
export interface VerifyOptions {
  readonly signal?: AbortSignal;
  /** Called after every part of the file that was read. */
  readonly onProgress?: (progress: VerifyProgress) => void;
}

/**
 * Whether a log is whole: every line canonical, its hash its own, and the chain without a gap.
 *
 * @throws ConsentError `audit_failed` where the file cannot be read, `aborted` where the signal ended it.
 */
export async function verifyAuditLog(path: string, options: VerifyOptions = {}): Promise<AuditVerification> {
  await using source = await openForReading(path, options.signal);
  const report = (events: number): void => options.onProgress?.({ events, bytes: source.bytesRead(), bytesTotal: source.size });
  return await verifyLines(splitLines(source.chunks()), report);
}

/** {@link verifyAuditLog} over lines from anywhere; `report` hears the number of good events after every group. */
export async function verifyLines(
  groups: AsyncIterable<readonly Line[]>,
  report: (events: number) => void = () => {},
): Promise<AuditVerification> {
  let events = 0;
  let head: AuditReceipt | undefined;
  const end = (fault?: AuditFault): AuditVerification => ({
    ok: fault === undefined,
    events,
    ...(head === undefined ? {} : { head }),
    ...(fault === undefined ? {} : { firstBad: { line: events + 1, ...fault } }),
  });
  for await (const lines of groups) {
    for (const line of lines) {
      const checked = checkLine(line, head);
      if ("code" in checked) return end(checked);
      head = { seq: checked.seq, hash: checked.hash };
      events += 1;
    }
    report(events);
  }
  return end();
}

const LINE_FAULTS: Readonly<Record<Extract<Line, { fault: unknown }>["fault"], string>> = {
  not_json: "it is not UTF-8 text",
  torn_line: "it has no end: a write is in progress or was cut short",
  line_too_long: "it is longer than any line of a log",
};

/** The event of a line that follows `head`, or what is wrong. */
export function checkLine(line: Line, head: AuditReceipt | undefined): AuditEvent | AuditFault {
  if ("fault" in line) return { code: line.fault, message: LINE_FAULTS[line.fault] };
  const decoded = decodeEvent(line.text);
  if (!decoded.ok) return decoded.fault;
  return checkLink(decoded.event, head) ?? decoded.event;
}
