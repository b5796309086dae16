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
  /** Starts with `ae_`; unique in a log. */
  readonly id: string;
  /** Wall time, milliseconds since 1970. */
  readonly atMs: number;
  /** What happened. */
  readonly eventType: AuditEventType;
  /** `""` where no question was asked. */
  readonly requestId: string;
  /** Id of the agent; `""` where none is involved. */
  readonly agent: string;
  /** The tool; the method; the program. `""` where none is involved. */
  readonly tool: string;
  /** Category of the action; `""` where none is involved. */
  readonly category: string;
  /** Risk of the action; `""` where none is involved. */
  readonly riskLevel: string;
  /** What was decided, in the event's own words; `""` where nothing was. */
  readonly decision: string;
  /** Milliseconds since the call arrived, or since the question was asked. */
  readonly responseTimeMs: number;
  /** Id of the rule that decided; `""` where none did. */
  readonly policyRule: string;
  /**
   * Everything else: its members by event type are in spec/audit.md §3. Arguments are masked.
   */
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
  /** {@link AuditEventInput.id}. */
  readonly eventId: string;
  /**
   * Its sequence number and hash; left out where the record was kept before the log had the event.
   */
  readonly seq?: number;
  /** The event's hash in the chain: `sha256:<hex>`. */
  readonly hash?: string;
}
