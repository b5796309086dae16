/** Audit events: one fact for the log, and where the log has it. */
import type { JsonObject } from "../json/value.js";

/** Every type of event that a log holds. */
export const AUDIT_EVENT_TYPES = [
  "tool_call_intercepted",
  "policy_evaluated",
  "consent_requested",
  "consent_delivered",
  "consent_undelivered",
  "consent_escalated",
  "consent_counted",
  "consent_refused",
  "consent_approved",
  "consent_denied",
  "consent_expired",
  "consent_cancelled",
  "consent_failed",
  "consent_superseded",
  "consent_deferred",
  "consent_not_collected",
  "decision_adopted",
  "grant_created",
  "grant_used",
  "grant_revoked",
  "stored_record_ignored",
  "tool_call_forwarded",
  "tool_call_completed",
  "credential_injected",
  "vault_changed",
  "keys_rotated",
  "gate_notice",
  "outcome_unknown",
  "log_opened",
  "log_recovered",
  "log_pruned",
  "clock_went_back",
  "witness_failed",
  "witness_restored",
] as const;

/** Kinds of audit events: S0 §7.3's nine, and ours (spec/audit.md). */
export type AuditEventType = (typeof AUDIT_EVENT_TYPES)[number];

/** One fact before it is chained; the sink adds sequence number and hashes. Wire form: S0 §7.4. */
export interface AuditEventInput {
  readonly id: string;
  readonly atMs: number;
  readonly eventType: AuditEventType;
  /** `""` where no question was asked. */
  readonly requestId: string;
  readonly agent: string;
  readonly tool: string;
  readonly category: string;
  readonly riskLevel: string;
  readonly decision: string;
  readonly responseTimeMs: number;
  readonly policyRule: string;
  readonly metadata: JsonObject;
}

/** Where the log ends after an append. */
export interface AuditReceipt {
  /** Sequence number of the last event written, from 0. */
  readonly seq: number;
  /** Its `event_hash`: `sha256:<hex>`. */
  readonly hash: string;
}

/** Makes one event of a decision. */
export type EventMaker = (
  eventType: AuditEventType,
  decision: string,
  metadata?: JsonObject,
) => AuditEventInput;

/** An event in the log. */
export interface LoggedAt {
  readonly eventId: string;
  /**
   * Its sequence number and hash; left out where the record was kept before the log had the event.
   */
  readonly seq?: number;
  readonly hash?: string;
}
