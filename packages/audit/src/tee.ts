/** Tee: one sink of several, so that a gate writes a chained log and what stands beside it. */
import type { AuditSink } from "@acp/core";

/**
 * Appends to the first sink, then to each next one: what a later one holds is durable in those
 * before it. Resolves with the first one's receipt when all have the events, and fails as soon as
 * one does. The events must not change meanwhile. Close the sinks in the order given.
 */
export function teeSinks(first: AuditSink, ...others: readonly AuditSink[]): AuditSink {
  return {
    async append(events) {
      const receipt = await first.append(events);
      for (const sink of others) await sink.append(events);
      return receipt;
    },
  };
}
