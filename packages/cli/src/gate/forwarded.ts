/**
 * Forwarded: what the logs of a home show of calls and questions that a process left. The log is
 * written before anything is released, so what it does not show was not done. Fails closed: where
 * a log cannot be read, or does not reach back far enough, everything counts as forwarded.
 */
import { basename } from "node:path";
import { readAuditLog, readAuditLogBackward } from "@acp/audit";
import type { AuditEvent } from "@acp/audit";
import { isUnrecorded, isUnreleased } from "@acp/core";
import type { PendingRecord, PendingStore, ResumeOptions } from "@acp/core";
import { auditFilesFor } from "../logs/log-files.js";
import { homePaths } from "@acp/home";
import { readIndexKey } from "../logs/index-key.js";
import { findEvents } from "../why/find-events.js";
import type { FoundEvent } from "../why/find-events.js";
import { textAt } from "../why/fields.js";

/** How far a call came, by its log. */
export type CallState = "unknown" | "open" | "forwarded";

/** A call that a client asks about. */
export interface AskedCall {
  /** Its id. */
  readonly call: string;
  /** How long ago it was sent, in milliseconds. */
  readonly agoMs: number;
}

/** A clock that was set in between must not hide that events are gone. */
const MARGIN_MS = 60_000;

/** How far these calls came. Never rejects. */
export async function stateOfCalls(
  home: string,
  calls: readonly AskedCall[],
  nowMs: number = Date.now(),
): Promise<ReadonlyMap<string, CallState>> {
  const states = new Map<string, CallState>(calls.map(({ call }) => [call, "forwarded"]));
  try {
    const begun = new Map<string, FoundEvent>();
    const forwarded = new Set<string>();
    for await (const found of findEvents(home, { filter: { id: [...states.keys()] } })) {
      const call = textAt(found.event.metadata, "call") ?? "";
      if (isForwarding(found.event)) forwarded.add(call);
      if (!begun.has(call)) begun.set(call, found);
    }
    // Looked for afterwards: what was pruned meanwhile was not read.
    const lost = await lostUntil(home);
    for (const { call, agoMs } of calls) {
      const first = begun.get(call);
      const sinceMs = (first?.event.atMs ?? nowMs - agoMs) - MARGIN_MS;
      // A log that has its beginning has all that came after it.
      const isWhole = [...lost].every(([log, ms]) => log === first?.log || ms <= sinceMs);
      if (isWhole && !forwarded.has(call))
        states.set(call, first === undefined ? "unknown" : "open");
    }
  } catch {
    return new Map(calls.map(({ call }) => [call, "forwarded"]));
  }
  return states;
}

/** Whether a log shows one of these calls or questions as forwarded. Never rejects. */
export async function isForwarded(home: string, ids: readonly string[]): Promise<boolean> {
  try {
    for await (const { event } of findEvents(home, { filter: { id: ids } }))
      if (isForwarding(event)) return true;
    return false;
  } catch {
    return true;
  }
}

/** What the logs have of the questions in a store that their records do not say. */
export async function loggedOf(
  home: string,
  store: Pick<PendingStore, "open">,
): Promise<Required<Pick<ResumeOptions, "answered" | "forwarded" | "unanswered">>> {
  const records: PendingRecord[] = [];
  for await (const record of store.open()) records.push(record);
  const logged = await eventsOf(home, records).catch(() => undefined);
  const idsOf = (isOne: (record: PendingRecord, events: readonly AuditEvent[]) => boolean) =>
    new Set(
      records.filter((each) => isOne(each, logged?.events.get(each.id) ?? [])).map(({ id }) => id),
    );
  return {
    answered: idsOf((record, events) => isUnrecorded(record) && events.some(isAnswer)),
    forwarded: idsOf(
      (record, events) =>
        isUnreleased(record) && (logged === undefined || events.some(isForwarding)),
    ),
    unanswered: idsOf(
      (record, events) =>
        record.request.createdAtMs - MARGIN_MS > (logged?.lostUntilMs ?? Infinity) &&
        isUnanswered(record, events),
    ),
  };
}

/** The events of some questions, by the question. */
interface Logged {
  readonly events: ReadonlyMap<string, readonly AuditEvent[]>;
  readonly lostUntilMs: number;
}

/** @throws ConsentError where a log cannot be read. */
async function eventsOf(home: string, records: readonly PendingRecord[]): Promise<Logged> {
  const events = new Map<string, AuditEvent[]>(records.map(({ id }) => [id, []]));
  const requestId = [...events.keys()];
  // The log of a home that is new need not be read for nothing.
  if (requestId.length === 0) return { events, lostUntilMs: -Infinity };
  for await (const { event } of findEvents(home, { filter: { requestId } }))
    events.get(event.requestId)?.push(event);
  return { events, lostUntilMs: Math.max(-Infinity, ...(await lostUntil(home)).values()) };
}

const isAnswer = ({ eventType }: AuditEvent): boolean =>
  eventType === "consent_approved" || eventType === "consent_denied";

/** What a question may have in the log and wait on; one that has anything else is over. */
const WAITING: readonly string[] = [
  "consent_requested",
  "consent_delivered",
  "consent_undelivered",
  "consent_escalated",
  "consent_refused",
  "consent_deferred",
];

/**
 * Whether the log shows an open question as one that waits, and no answer that its record has not
 * counted. A store that was set back is behind the log, and shows itself here.
 */
function isUnanswered({ status, approvals }: PendingRecord, seen: readonly AuditEvent[]): boolean {
  const isCounted = ({ eventType, metadata }: AuditEvent): boolean =>
    eventType === "consent_counted" &&
    approvals.some(({ approverId }) => approverId === metadata["approver"]);
  return (
    status !== "ended" &&
    seen.some(({ eventType }) => eventType === "consent_requested") &&
    seen.every((event) => WAITING.includes(event.eventType) || isCounted(event))
  );
}

/** An end that names no performance says that there was none. */
function isForwarding({ eventType, metadata }: AuditEvent): boolean {
  return (
    eventType === "tool_call_forwarded" ||
    eventType === "outcome_unknown" ||
    (eventType === "tool_call_completed" && metadata["outcome"] !== "not_performed")
  );
}

/** When the last event may have been that each log has no more: it was pruned or set aside. */
async function lostUntil(home: string): Promise<ReadonlyMap<string, number>> {
  const indexKey = await readIndexKey(homePaths(home));
  const lost = new Map<string, number>();
  for (const path of await auditFilesFor([], home))
    for await (const { seq, eventType, atMs } of readAuditLog(path)) {
      if (eventType === "log_quarantined") lost.set(basename(path), atMs);
      // The first that is left may be much later than the last that went.
      if (seq > 0) lost.set(basename(path), (await prunedUntil(path, seq, indexKey)) ?? atMs);
      break;
    }
  return lost;
}

/** When the last event before this one was, as the log says; logs of before do not. */
async function prunedUntil(
  path: string,
  beforeSeq: number,
  indexKey: Awaited<ReturnType<typeof readIndexKey>>,
): Promise<number | undefined> {
  const reading = { filter: { eventType: "log_pruned" }, indexKey };
  for await (const { metadata } of readAuditLogBackward(path, reading)) {
    const { before_seq: before, last_ms: lastMs } = metadata;
    if (before === beforeSeq) return typeof lastMs === "number" ? lastMs : undefined;
  }
  return undefined;
}
