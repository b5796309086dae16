/** Filter: which events a reader wants. Pure. */
import type { AuditEvent } from "./event.js";

/** Which events to read; a member that is absent matches every event. */
export interface AuditFilter {
  /** Only events from this time on, in milliseconds since 1970. */
  readonly sinceMs?: number;
  /** Only events before this time, in milliseconds since 1970. */
  readonly untilMs?: number;
  /** Only this type, such as `consent_approved`, or one of these. */
  readonly eventType?: string | readonly string[];
  /** Only events of the question with this id, or of those with these ids. */
  readonly requestId?: string | readonly string[];
  /** Only events of the agent with this id. */
  readonly agent?: string;
  /** Only events of calls of a tool with this name. */
  readonly tool?: string;
  /** Only events with this decision. */
  readonly decision?: string;
}

const EQUALS = ["agent", "tool", "decision"] as const;

/** What of an event a filter looks at. */
export type FilteredFields = Pick<
  AuditEvent,
  (typeof EQUALS)[number] | "eventType" | "requestId" | "atMs"
>;

/** Whether the filter lets an event through. */
export function matchesFilter(event: FilteredFields, filter: AuditFilter): boolean {
  const { sinceMs, untilMs } = filter;
  if (sinceMs !== undefined && event.atMs < sinceMs) return false;
  if (untilMs !== undefined && event.atMs >= untilMs) return false;
  if (!isAmong(event.requestId, filter.requestId)) return false;
  if (!isAmong(event.eventType, filter.eventType)) return false;
  return EQUALS.every((field) => filter[field] === undefined || filter[field] === event[field]);
}

function isAmong(value: string, wanted: string | readonly string[] | undefined): boolean {
  if (wanted === undefined) return true;
  return typeof wanted === "string" ? value === wanted : wanted.includes(value);
}
