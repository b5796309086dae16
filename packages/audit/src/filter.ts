/** Filter: which events a reader wants. Pure. */
import { canonicalJson, isJsonList } from "@acp/core";
import type { JsonObject } from "@acp/core";
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
  /** Only events whose id, question or call has an id that begins with this text, or one of these. */
  readonly id?: string | readonly string[];
  /** Only events of the agent with this id. */
  readonly agent?: string;
  /** Only events of calls of a tool with this name. */
  readonly tool?: string;
  /** Only events with this decision. */
  readonly decision?: string;
  /** Only events that say that the person with this id answered. */
  readonly approver?: string;
  /** Only events of a log from this number on. */
  readonly fromSeq?: number;
  /** Only events of a log before this number. */
  readonly beforeSeq?: number;
}

const EQUALS = ["agent", "tool", "decision"] as const;

/** Whether the filter lets an event through. */
export function matchesFilter(event: AuditEvent, filter: AuditFilter): boolean {
  const { sinceMs, untilMs, requestId, eventType, id, approver, fromSeq, beforeSeq } = filter;
  if (sinceMs !== undefined && event.atMs < sinceMs) return false;
  if (untilMs !== undefined && event.atMs >= untilMs) return false;
  if (fromSeq !== undefined && event.seq < fromSeq) return false;
  if (beforeSeq !== undefined && event.seq >= beforeSeq) return false;
  if (requestId !== undefined && !listOf(requestId).includes(event.requestId)) return false;
  if (eventType !== undefined && !listOf(eventType).includes(event.eventType)) return false;
  if (id !== undefined) {
    const wanted = listOf(id);
    if (!idsOf(event).some((each) => wanted.some((start) => each.startsWith(start)))) return false;
  }
  if (approver !== undefined && !approversOf(event.metadata).includes(approver)) return false;
  return EQUALS.every((field) => filter[field] === undefined || filter[field] === event[field]);
}

/** What one text or several of them mean. */
export function listOf(texts: string | readonly string[]): readonly string[] {
  return typeof texts === "string" ? [texts] : texts;
}

function idsOf({ id, requestId, metadata: { call } }: AuditEvent): readonly string[] {
  return typeof call === "string" ? [id, requestId, call] : [id, requestId];
}

/** Who answered, as an event's metadata says: several people, or one of several. */
export function approversOf({ approvers, approver }: JsonObject): readonly string[] {
  const all = isJsonList(approvers) ? [...approvers, approver] : [approver];
  return all.filter((each) => typeof each === "string");
}

/** Whether a line may hold an event that is wanted: false only where it surely holds none. */
export type LineTest = (line: Buffer) => boolean;

/**
 * Tests canonical lines by the words that a wanted one has somewhere, which costs much less than
 * parsing it.
 */
export function createLineTest(filter: AuditFilter): LineTest {
  const { requestId, eventType, id, approver } = filter;
  const wanted: (readonly string[])[] = [];
  if (requestId !== undefined) wanted.push(wordsOf("request_id", listOf(requestId)));
  if (eventType !== undefined) wanted.push(wordsOf("event_type", listOf(eventType)));
  for (const field of EQUALS) {
    const value = filter[field];
    if (value !== undefined) wanted.push(wordsOf(field, [value]));
  }
  if (id !== undefined)
    wanted.push(listOf(id).map((start) => `:${canonicalJson(start).slice(0, -1)}`));
  if (approver !== undefined) wanted.push([canonicalJson(approver)]);
  const tests = wanted.map((words) => words.map((word) => Buffer.from(word)));
  return (line) => tests.every((words) => words.some((word) => line.includes(word)));
}

const wordsOf = (field: string, values: readonly string[]): readonly string[] =>
  values.map((value) => `"${field}":${canonicalJson(value)}`);
