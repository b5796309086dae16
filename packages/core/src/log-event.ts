/**
 * Log events: facts about the log, a vault or a gate as a whole; no call, and so no tool, rule or
 * decision of one.
 */
import type { JsonObject } from "./json/value.js";
import type { AuditEventInput, AuditEventType } from "./types/audit-event.js";

/**
 * Makes an audit event about the log, a vault or a gate as a whole: its fields about a call are
 * empty.
 */
export function logEvent(
  eventType: AuditEventType,
  { id, atMs }: Pick<AuditEventInput, "id" | "atMs">,
  metadata: JsonObject,
): AuditEventInput {
  return {
    id,
    atMs,
    eventType,
    requestId: "",
    agent: "",
    tool: "",
    category: "",
    riskLevel: "",
    decision: "",
    responseTimeMs: 0,
    policyRule: "",
    metadata,
  };
}
