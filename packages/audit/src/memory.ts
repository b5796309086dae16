/**
 * Memory: a log that lives as long as its process, for tests and first steps. Chained like the
 * file; grows without bound.
 */
import type { AuditSink } from "@acp/core";
import { createAppender } from "./appender.js";
import type { LineGroup } from "./group-commit.js";
import { decodeEvent } from "./codec.js";
import type { AuditEvent } from "./event.js";

/** A log in memory, for tests and first steps. It grows without bound. */
export interface MemoryAuditSink extends AuditSink, AsyncDisposable {
  /** The lines that a file would hold, one event each, without newlines. */
  readonly lines: readonly string[];
  /** The same events, decoded. */
  events(): readonly AuditEvent[];
  /** Makes every further append fail with this error, as when a disk fails. */
  fail(cause: Error): void;
  /** Refuses further appends. */
  close(): Promise<void>;
}

/** A sink that keeps its chained events in memory. Nothing is durable. */
export function memoryAuditSink(): MemoryAuditSink {
  const lines: string[] = [];
  let failure: Error | undefined;
  const store = {
    async append({ bytes }: LineGroup): Promise<void> {
      if (failure !== undefined) throw failure;
      for (const line of bytes.toString("utf8").split("\n").slice(0, -1)) lines.push(line);
    },
    close: async () => {},
  };
  const fail = (cause: Error): void => {
    failure ??= cause;
  };
  const { append: write, close } = createAppender(store, { path: "memory" });
  // There is no disk to write to less often.
  const append: AuditSink["append"] = (given) => write(given);
  const events = (): readonly AuditEvent[] =>
    lines.flatMap((line) => {
      const decoded = decodeEvent(line);
      return decoded.ok ? [decoded.event] : [];
    });
  return {
    lines,
    events,
    fail,
    // Nothing waits for a write to share: there is none to save.
    append: (inputs) => append(inputs),
    close,
    [Symbol.asyncDispose]: close,
  };
}
