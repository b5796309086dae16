/** Read: the events of a log, oldest first, for showing and searching. Checks each line by itself; the chain is verifyAuditLog's. */
import { decodeEvent } from "./codec.js";
import { cannot } from "./errors.js";
import type { AuditEvent } from "./event.js";
import { splitLines } from "./lines.js";
import { openForReading } from "./source.js";

/** Which events to read; what is left out matches every event. */
export interface AuditFilter {
  /** From this time on. */
  readonly sinceMs?: number;
  /** Before this time. */
  readonly untilMs?: number;
  readonly eventType?: string;
  readonly requestId?: string;
  readonly agent?: string;
  readonly tool?: string;
  readonly decision?: string;
}

/** Options of {@link readAuditLog}. */
export interface ReadOptions {
  readonly filter?: AuditFilter;
  readonly signal?: AbortSignal;
}

/**
 * The log's events. A last line without an end is left out: it was never acknowledged.
 *
 * @throws ConsentError `audit_failed` at a line that is no event, after the events before it; `aborted` where the signal ended it.
 */
export async function* readAuditLog(path: string, options: ReadOptions = {}): AsyncGenerator<AuditEvent> {
  await using source = await openForReading(path, options.signal);
  let number = 0;
  for await (const lines of splitLines(source.chunks())) {
    for (const line of lines) {
      number += 1;
      if ("fault" in line && line.fault === "torn_line") return;
      const decoded = "text" in line ? decodeEvent(line.text) : undefined;
      if (decoded?.ok !== true) throw cannot("read", path)(`line ${number} is no event; run \`acp audit verify\``);
      if (matches(decoded.event, options.filter ?? {})) yield decoded.event;
    }
  }
}

const EQUALS = ["eventType", "requestId", "agent", "tool", "decision"] as const;

function matches(event: AuditEvent, filter: AuditFilter): boolean {
  if (filter.sinceMs !== undefined && event.atMs < filter.sinceMs) return false;
  if (filter.untilMs !== undefined && event.atMs >= filter.untilMs) return false;
  return EQUALS.every((field) => filter[field] === undefined || filter[field] === event[field]);
}
