/**
 * Plain format: decisions as ACP v0.3 §6.2 writes them, one entry a verdict: `{ timestamp, action, verdict }`, without chain. Pure.
 */
import { type JsonObject, isoTime } from "@acp/core";
import type { AuditEvent } from "./event.js";

/** One decision. */
export interface PlainEntry {
  readonly timestamp: string;
  readonly action: JsonObject;
  readonly verdict: { readonly decision: "allow" | "deny"; readonly reason: string };
}

/** Turns events, fed in order, into entries. */
export function plainEntries(): (event: AuditEvent) => PlainEntry | undefined {
  const intercepted = new Map<string, JsonObject>();
  const asked = new Map<string, JsonObject>();
  return (event) => {
    if (event.eventType === "tool_call_intercepted") {
      intercepted.set(callKey(event), actionOf(event));
      return undefined;
    }
    if (event.eventType === "consent_requested") {
      asked.set(event.requestId, intercepted.get(callKey(event)) ?? nameOnly(event));
      intercepted.delete(callKey(event));
      return undefined;
    }
    const verdict = verdictOf(event);
    if (verdict === undefined) return undefined;
    const action = asked.get(event.requestId) ?? intercepted.get(callKey(event)) ?? nameOnly(event);
    asked.delete(event.requestId);
    intercepted.delete(callKey(event));
    return { timestamp: isoTime(event.atMs), action, verdict };
  };
}

/** The events of one decision share agent, tool and the moment it began. */
function callKey({ agent, tool, atMs, responseTimeMs }: AuditEvent): string {
  return JSON.stringify([agent, tool, atMs - responseTimeMs]);
}

function nameOnly({ tool }: AuditEvent): JsonObject {
  return { name: tool };
}

function actionOf({ tool, metadata }: AuditEvent): JsonObject {
  const { kind, server, parameters } = metadata;
  const given = isObject(parameters) ? parameters : {};
  switch (kind) {
    case "http": {
      const { method, url, host, port, ...args } = given;
      const meta = { kind, ...defined({ host, method, port, url }) };
      return { name: tool, ...(Object.keys(args).length === 0 ? {} : { args }), meta };
    }
    case "shell": {
      const { command, ...rest } = given;
      return { name: tool, ...defined({ args: command }), meta: { kind, ...rest } };
    }
    default:
      return { name: tool, args: given, meta: { ...defined({ kind, server }) } };
  }
}

function defined(fields: Readonly<Record<string, JsonObject[string] | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])));
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What the event decided; `undefined` where the decision is another event's. */
function verdictOf({ eventType, decision, metadata }: AuditEvent): PlainEntry["verdict"] | undefined {
  const said = (fallback: string): string => {
    const reason = metadata["denied"] ?? metadata["reason"];
    return typeof reason === "string" && reason !== "" ? reason : fallback;
  };
  switch (eventType) {
    case "policy_evaluated":
      return decision === "allow" || decision === "deny" ? { decision, reason: said("policy") } : undefined;
    case "consent_approved":
      return { decision: "allow", reason: said("Approved by human") };
    case "grant_used":
      return { decision: "allow", reason: said("an earlier consent covers it") };
    case "decision_adopted":
      return { decision: decision.startsWith("approved") ? "allow" : "deny", reason: said(`the kept decision: ${decision}`) };
    case "consent_denied":
    case "consent_expired":
    case "consent_cancelled":
    case "consent_failed":
      return { decision: "deny", reason: said(eventType) };
    default:
      return undefined;
  }
}
