/**
 * Forwarded: what the logs of a home show of calls and questions that a process left. The log is
 * written before anything is released, so what it does not show was not done. Fails closed: where
 * a log cannot be read, or does not reach back far enough, everything counts as forwarded.
 */
import { readAuditLog } from "@acp/audit";
import type { AuditEvent } from "@acp/audit";
import { isUnrecorded, isUnreleased } from "@acp/core";
import type { PendingStore, ResumeOptions } from "@acp/core";
import { auditFilesFor } from "../logs/log-files.js";
import { findEvents } from "../why/find-events.js";
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
  const sinceMs = nowMs - Math.max(0, ...calls.map(({ agoMs }) => agoMs)) - MARGIN_MS;
  try {
    if (!(await reachesBack(home, sinceMs))) return states;
    const begun = new Map<string, number>();
    const forwarded = new Set<string>();
    for await (const { event } of findEvents(home, { filter: { id: [...states.keys()] } })) {
      const call = textAt(event.metadata, "call") ?? "";
      if (isForwarding(event)) forwarded.add(call);
      begun.set(
        call,
        (begun.get(call) ?? 0) + (event.eventType === "tool_call_intercepted" ? 1 : 0),
      );
    }
    for (const { call } of calls) {
      const times = begun.get(call);
      // What was begun twice is not begun a third time.
      if (forwarded.has(call) || (times ?? 0) > 1) continue;
      states.set(call, times === undefined ? "unknown" : "open");
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
): Promise<Required<Pick<ResumeOptions, "answered" | "forwarded">>> {
  const answered = new Set<string>();
  const forwarded = new Set<string>();
  for await (const record of store.open()) {
    const { id } = record;
    if (isUnrecorded(record) && (await isAnswered(home, id))) answered.add(id);
    if (isUnreleased(record) && (await isForwarded(home, [id]))) forwarded.add(id);
  }
  return { answered, forwarded };
}

/** Whether a log has a person's answer. Never rejects: what cannot be read has none. */
async function isAnswered(home: string, id: string): Promise<boolean> {
  const filter = { requestId: id, eventType: ["consent_approved", "consent_denied"] };
  try {
    for await (const _found of findEvents(home, { filter })) return true;
  } catch {
    return false;
  }
  return false;
}

/** An end that names no performance says that there was none. */
function isForwarding({ eventType, metadata }: AuditEvent): boolean {
  return (
    eventType === "tool_call_forwarded" ||
    eventType === "outcome_unknown" ||
    (eventType === "tool_call_completed" && metadata["outcome"] !== "not_performed")
  );
}

/** Whether the logs have everything since then: none was pruned, and none set aside. */
async function reachesBack(home: string, sinceMs: number): Promise<boolean> {
  for (const path of await auditFilesFor([], home))
    for await (const { seq, eventType, atMs } of readAuditLog(path)) {
      if ((seq > 0 || eventType === "log_quarantined") && atMs > sinceMs) return false;
      break;
    }
  return true;
}
