/** An event as a gate writes it, for logs that tests make. */
import type { AuditEventInput } from "@acp/core";

/** When these events happened. */
export const SAMPLE_MS: number = Date.UTC(2026, 0, 1);

/** A call that the policy allows. */
export const sampleEvent = (
  id: string,
  change: Partial<AuditEventInput> = {},
): AuditEventInput => ({
  id,
  atMs: SAMPLE_MS,
  eventType: "policy_evaluated",
  requestId: "",
  agent: "one",
  tool: "read_file",
  category: "read",
  riskLevel: "low",
  decision: "allow",
  responseTimeMs: 0,
  policyRule: "reads",
  metadata: {},
  ...change,
});
