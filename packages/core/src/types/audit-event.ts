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
  "state_saved",
  "home_restored",
  "gate_notice",
  "outcome_unknown",
  "log_opened",
  "log_recovered",
  "log_pruned",
  "log_quarantined",
  "clock_went_back",
  "witness_failed",
  "witness_restored",
] as const;

/** Kinds of audit events: the nine of ACP v0.2 §7.3, and those of spec/audit.md. */
export type AuditEventType = (typeof AUDIT_EVENT_TYPES)[number];

/**
 * One fact for the log, before the sink adds its sequence number and hashes. Wire form: ACP v0.2
 * §7.4, spec/audit.md.
 */
export interface AuditEventInput {
  /** Starts with `ae_`; unique in a log. */
  readonly id: string;
  /** Wall time, milliseconds since 1970. */
  readonly atMs: number;
  /** What happened. */
  readonly eventType: AuditEventType;
  /** Id of the question; `""` where none was asked. */
  readonly requestId: string;
  /** Id of the agent; `""` where none is involved. */
  readonly agent: string;
  /**
   * The tool's name; of an HTTP request, the method; of a command, its program. `""` where none is
   * involved.
   */
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
   * Everything else; spec/audit.md §3 lists the members of each event type. Arguments are masked.
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

/** Where an event is in the log. */
export interface LoggedAt {
  /** The event's id: {@link AuditEventInput.id}. */
  readonly eventId: string;
  /** Its sequence number, from 0; absent where the record was kept before the log had the event. */
  readonly seq?: number;
  /** The event's hash in the chain, `sha256:<hex>`; absent where `seq` is. */
  readonly hash?: string;
}
