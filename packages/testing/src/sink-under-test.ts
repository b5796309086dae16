/** Sink under test: what a suite for an AuditSink is given. Types only. */
import type { AuditEventInput, AuditSink } from "@acp/core";

/** One event as a sink stored it. */
export interface StoredEvent extends Omit<AuditEventInput, "eventType"> {
  /** Type of the event: one of spec/audit.md §3. */
  readonly eventType: string;
  /** Sequence number in the log, from 0. */
  readonly seq: number;
  /** Monotonic milliseconds since the log was opened; absent where the sink does not keep it. */
  readonly monoMs?: number;
  /** Hash of the event before it, as `sha256:<hex>`; `null` for the first. */
  readonly previousHash: string | null;
  /** Its own hash, as `sha256:<hex>`. */
  readonly hash: string;
}

/** A fresh, empty sink, and what the suite needs with it. */
export interface SinkUnderTest extends AsyncDisposable {
  /** The sink, empty and open for appends. */
  readonly sink: AuditSink;
  /** Ends the sink in order, as its process does before it exits. */
  close(): Promise<void>;
  /** Every event, oldest first, read from where it is stored and not through the sink. */
  read(): Promise<readonly StoredEvent[]>;
  /** Breaks what the sink writes to; what is stored stays readable. */
  fail(): Promise<void>;
}

/** A sink that outlives its process. */
export interface DurableSinkUnderTest extends SinkUnderTest {
  /**
   * Ends the sink as if its process died in the middle of a write: part of an event that was not
   * acknowledged may stay behind.
   */
  crash(): Promise<void>;
  /** Repairs what {@link SinkUnderTest.fail} broke. */
  mend(): Promise<void>;
  /** Opens what the sink wrote to, as the next process would. */
  reopen(): Promise<AuditSink>;
}
