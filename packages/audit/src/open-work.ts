/**
 * Open work: questions and calls of a log that have no end in it, because the process ended first. Pure.
 */
import type { AuditEventInput, Ids } from "@acp/core";
import type { AuditEvent } from "./event.js";
import { stampAt } from "./log-event.js";

/** What has no end, found by feeding every event in order. */
export interface OpenWork {
  add(event: AuditEvent): void;
  /** `consent_requested` events without an end. */
  questions(): readonly AuditEvent[];
  /** `tool_call_forwarded` events without an end. */
  calls(): readonly AuditEvent[];
}

/** Ends of a question. */
const QUESTION_ENDS: ReadonlySet<string> = new Set([
  "consent_approved",
  "consent_denied",
  "consent_expired",
  "consent_cancelled",
  "consent_failed",
  "consent_superseded",
]);
/** Ends of a call. */
const CALL_ENDS: ReadonlySet<string> = new Set(["tool_call_completed", "outcome_unknown"]);

/** Whether the event type can change what is open: lets a reader skip other lines unread. */
export function isWorkEvent(eventType: string): boolean {
  return (
    eventType === "consent_requested" || eventType === "tool_call_forwarded" || QUESTION_ENDS.has(eventType) || CALL_ENDS.has(eventType)
  );
}

/** Follows what is open. */
export function trackOpenWork(): OpenWork {
  const questions = new Map<string, AuditEvent>();
  const calls: AuditEvent[] = [];
  return {
    add(event) {
      const { eventType } = event;
      if (eventType === "consent_requested") questions.set(event.requestId, event);
      else if (QUESTION_ENDS.has(eventType)) questions.delete(event.requestId);
      else if (eventType === "tool_call_forwarded") calls.push(event);
      else if (CALL_ENDS.has(eventType)) {
        const at = callOf(calls, event);
        if (at !== -1) calls.splice(at, 1);
      }
    },
    questions: () => [...questions.values()],
    calls: () => [...calls],
  };
}

/** The events of one call share everything but type and outcome; two equal ones began at different times, or are told apart by nobody. */
function callOf(calls: readonly AuditEvent[], end: AuditEvent): number {
  const named = end.metadata["forwarded_seq"];
  if (typeof named === "number") return calls.findIndex(({ seq }) => seq === named);
  const isSame = (call: AuditEvent): boolean =>
    call.requestId === end.requestId && call.agent === end.agent && call.tool === end.tool && call.policyRule === end.policyRule;
  const exact = calls.findIndex((call) => isSame(call) && startOf(call) === startOf(end));
  return exact === -1 ? calls.findIndex(isSame) : exact;
}

function startOf({ atMs, responseTimeMs }: AuditEvent): number {
  return atMs - responseTimeMs;
}

/** The ends to append: questions that no store holds have expired, and of a call nobody knows whether it was performed. */
export function endsOf(work: OpenWork, { pendingIds, nowMs, ids }: RecoveryTerms): readonly AuditEventInput[] {
  const expired = work
    .questions()
    .filter(({ requestId }) => !pendingIds.has(requestId))
    .map((question) =>
      endOf(question, {
        ...stampAt(ids, nowMs),
        eventType: "consent_expired",
        decision: "expired",
        metadata: { reason: "the process ended, and no store holds the question", requested_seq: question.seq },
      }),
    );
  const unknown = work.calls().map((call) =>
    endOf(call, {
      ...stampAt(ids, nowMs),
      eventType: "outcome_unknown",
      decision: call.decision,
      metadata: { reason: "the process ended before the call did; it is not repeated", forwarded_seq: call.seq },
    }),
  );
  return [...expired, ...unknown];
}

/** What recovery goes by. */
export interface RecoveryTerms {
  /** Questions that a PendingStore still holds: its gate ends them. */
  readonly pendingIds: ReadonlySet<string>;
  readonly nowMs: number;
  readonly ids: Ids;
}

function endOf(begun: AuditEvent, end: Pick<AuditEventInput, "id" | "atMs" | "eventType" | "decision" | "metadata">): AuditEventInput {
  const { requestId, agent, tool, category, riskLevel, policyRule } = begun;
  const isolation = begun.metadata["isolation"];
  return {
    ...end,
    requestId,
    agent,
    tool,
    category,
    riskLevel,
    policyRule,
    responseTimeMs: Math.max(0, Math.round(end.atMs - startOf(begun))),
    metadata: { ...(isolation === undefined ? {} : { isolation }), ...end.metadata },
  };
}
