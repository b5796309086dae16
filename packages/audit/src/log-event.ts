/** Log events: what the log itself records about itself; no agent, tool or decision of one call. */
import type { AuditEventInput, AuditEventType, Ids, JsonObject } from "@acp/core";

/** Id and time of an event. */
export type Stamp = Pick<AuditEventInput, "id" | "atMs">;

/** A fresh id, and the time given. */
export function stampAt(ids: Ids, atMs: number): Stamp {
  return { id: ids.next("ae"), atMs };
}

/** An event about the log. */
export function logEvent(eventType: AuditEventType, stamp: Stamp, metadata: JsonObject): AuditEventInput {
  return {
    ...stamp,
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
