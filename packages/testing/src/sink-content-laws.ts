/**
 * Laws of an AuditSink about what it keeps: events of every type, with every field, under a hash of
 * their content. A log that leaves out denials, or whose hash does not cover the arguments, proves
 * what did not happen.
 */
import assert from "node:assert/strict";
import { AUDIT_EVENT_TYPES, type AuditEventInput } from "@acp/core";
import type { SinkUnderTest } from "./sink-under-test.js";

const DECISIONS = ["allow", "deny", "ask", "pending", "approved", "denied", "failed", ""] as const;

const event = (number: number, fields: Partial<AuditEventInput> = {}): AuditEventInput => ({
  id: `ae_${number}`,
  atMs: Date.UTC(2026, 0, 15, 10, 30) + number,
  eventType: "consent_denied",
  requestId: "cr_1",
  agent: "agent-1",
  tool: "write_file – é😀",
  category: "write",
  riskLevel: "medium",
  decision: "denied",
  responseTimeMs: 1234.5,
  policyRule: "rule_1",
  metadata: { amount: 0.5, list: [1, null, { deep: "é\u2028" }] },
  ...fields,
});

/** A field, and another value for it. */
const OTHER_CONTENT: readonly Partial<AuditEventInput>[] = [
  { id: "ae_other" },
  { eventType: "consent_approved" },
  { requestId: "cr_2" },
  { agent: "agent-2" },
  { tool: "read_file" },
  { category: "read" },
  { riskLevel: "high" },
  { decision: "approved" },
  { responseTimeMs: 1 },
  { policyRule: "rule_2" },
  { metadata: { amount: 0.25, list: [1, null, { deep: "é\u2028" }] } },
];

/** The laws, by name; each gets fresh sinks. */
export const contentLaws: Readonly<
  Record<string, (makeSink: () => Promise<SinkUnderTest>) => Promise<void>>
> = {
  "keeps events of every type and decision whole, denials too": async (makeSink) => {
    await using under = await makeSink();
    const events = AUDIT_EVENT_TYPES.flatMap((eventType, at) =>
      // A log's own events are of no call.
      [
        event(2 * at, { eventType, decision: DECISIONS[at % DECISIONS.length] ?? "" }),
        event(2 * at + 1, { eventType, tool: "", agent: "", requestId: "" }),
      ],
    );
    for (let at = 0; at < events.length; at += 3) await under.sink.append(events.slice(at, at + 3));
    const stored = (await under.read()).map(
      ({ seq: _seq, hash: _hash, previousHash: _previous, monoMs: _mono, ...kept }) => kept,
    );
    assert.deepEqual(stored, events);
  },
  "names other content by another hash": async (makeSink) => {
    const hashOf = async (only: AuditEventInput): Promise<string> => {
      await using under = await makeSink();
      return (await under.sink.append([only])).hash;
    };
    const hashes = new Map([[await hashOf(event(1)), "the event itself"]]);
    for (const fields of OTHER_CONTENT) {
      const [what = ""] = Object.keys(fields);
      const hash = await hashOf(event(1, fields));
      assert.equal(
        hashes.get(hash),
        undefined,
        `another "${what}" has the hash of ${hashes.get(hash)}`,
      );
      hashes.set(hash, `another "${what}"`);
    }
  },
};
