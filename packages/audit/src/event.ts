/**
 * Events: one audit event as this package hands it out, and as it is written. Format:
 * spec/audit.md.
 */
import type { AuditEventInput } from "@acp/core";

/** One event of a log: what was appended, and its place in the chain. */
export interface AuditEvent extends Omit<AuditEventInput, "eventType"> {
  /** One of core's event types, or one that a newer version wrote. */
  readonly eventType: string;
  /** Sequence number, from 0. */
  readonly seq: number;
  /**
   * Monotonic milliseconds since the process that wrote the event opened the log; absent in older
   * logs.
   */
  readonly monoMs?: number;
  /** `event_hash` of the event before; `null` for the first. */
  readonly previousHash: string | null;
  /** Its own `event_hash`: `sha256:<hex>`. */
  readonly hash: string;
}

/** What can be wrong with a line of a log, or with all of it: every code of {@link AuditFault}. */
export const AUDIT_FAULT_CODES = [
  /** The bytes are not one JSON value in UTF-8. */
  "not_json",
  /** The bytes are JSON, but not the canonical form of what they say. */
  "not_canonical",
  /** A field is missing, unknown or of another type. */
  "schema_invalid",
  /** The event was changed: its hash is another. */
  "hash_mismatch",
  /** An event is missing, repeated or moved: the sequence number is not the next one. */
  "seq_broken",
  /** The event does not follow the one before: that one was changed or replaced. */
  "chain_broken",
  /**
   * The last line has no end: a write in progress, or a crash that the next opening of the log
   * repairs and records.
   */
  "torn_line",
  /** The line is longer than {@link LINE_BYTES_MAX}. */
  "line_too_long",
  /**
   * The log starts later than at event 0, and it does not say that the events before were removed.
   */
  "start_missing",
  /** A signed checkpoint promised more events than there are: the end was cut off. */
  "end_missing",
  /** A signed checkpoint promised other events than these. */
  "history_replaced",
  /**
   * Two signed checkpoints promise different events of the same number: somebody was shown another
   * log.
   */
  "two_histories",
] as const;

/** What is wrong with a log: one of {@link AUDIT_FAULT_CODES}. */
export type AuditFaultCode = (typeof AUDIT_FAULT_CODES)[number];

/** What is wrong with a log, as a code and in words. */
export interface AuditFault {
  /** Stable, for programs. */
  readonly code: AuditFaultCode;
  /** The same in words, with the line where one is known. */
  readonly message: string;
}

/**
 * The longest line that is written or read: several times the largest action, so that one event
 * cannot exhaust a reader, and below what core takes as JSON, so that whatever is written can be
 * verified.
 */
export const LINE_BYTES_MAX: number = 8 * 1024 * 1024;
