/** Tee: one sink of several, so that a gate writes a chained log and what stands beside it. */
import type { AuditSink } from "@acp/core";

/**
 * Makes one sink of several: appends to the first, then to each next one. What a later sink has is
 * durable in those before it. An append resolves with the first sink's receipt when all have the
 * events, and fails as soon as one does. Do not change the events meanwhile, and close the sinks in
 * the order given.
 */
export function teeSinks(first: AuditSink, ...others: readonly AuditSink[]): AuditSink {
  return {
    async append(events, terms) {
      const receipt = await first.append(events, terms);
      for (const sink of others) await sink.append(events, terms);
      return receipt;
    },
  };
}
