/** Sink under test: what a suite for an AuditSink is given. Types only. */
import type { AuditEventInput, AuditSink } from "@acp/core";

/** One event as it was stored. */
export interface StoredEvent extends Omit<AuditEventInput, "eventType"> {
  /** A type of spec/audit.md §3. */
  readonly eventType: string;
  /** Position in the log, from 1. */
  readonly seq: number;
  /** Monotonic time, where the sink keeps it. */
  readonly monoMs?: number;
  /** Hash of the event before it, as `sha256:<hex>`; `null` for the first. */
  readonly previousHash: string | null;
  /** Its own hash, as `sha256:<hex>`. */
  readonly hash: string;
}

/** A fresh, empty sink, and what the suite needs beside it. */
export interface SinkUnderTest extends AsyncDisposable {
  /** Empty, and open for appends. */
  readonly sink: AuditSink;
  /** Ends the sink. */
  close(): Promise<void>;
  /** Every event, oldest first, read from where it is kept and not through the sink. */
  read(): Promise<readonly StoredEvent[]>;
  /** Breaks what the sink writes to; what was stored stays readable. */
  fail(): Promise<void>;
}

/** A sink that outlives its process. */
export interface DurableSinkUnderTest extends SinkUnderTest {
  /**
   * Ends the sink as a process that dies in the middle of a write does: part of an event that
   * nobody acknowledged may stay behind.
   */
  crash(): Promise<void>;
  /** Mends what {@link SinkUnderTest.fail} broke. */
  mend(): Promise<void>;
  /** Opens what the sink wrote to, as the next process does. */
  reopen(): Promise<AuditSink>;
}
