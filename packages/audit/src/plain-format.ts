/**
 * Plain format: decisions as ACP v0.3 §6.2 writes them, one entry a verdict: `{ timestamp, action,
 * verdict }`, without chain. Pure.
 */
import { copyJson, isJsonObject, isoTime, type JsonObject, type JsonValue } from "@acp/core";
import type { AuditEvent } from "./event.js";
import { onOneLine } from "./line-ends.js";

/** One decision. */
export interface PlainEntry {
  readonly timestamp: string;
  readonly action: JsonValue;
  readonly verdict: { readonly decision: "allow" | "deny"; readonly reason: string };
}

/** What an entry is made of. */
export type PlainSource = Pick<
  AuditEvent,
  "eventType" | "requestId" | "agent" | "tool" | "decision" | "atMs" | "responseTimeMs" | "metadata"
>;

/**
 * Calls and questions whose end is waited for; the oldest is forgotten beyond that, and its entry
 * then only has its name.
 */
const OPEN_MAX = 10_000;

/** Turns events, fed in order, into entries. */
export function plainEntries(): (event: PlainSource) => PlainEntry | undefined {
  const intercepted = boundedMap();
  const asked = boundedMap();
  return (event) => {
    const { eventType, requestId, metadata } = event;
    const call = callKey(event);
    if (eventType === "tool_call_intercepted")
      return intercepted.put(call, copyJson(actionOf(event)));
    if (eventType === "consent_requested") {
      const { replaces } = metadata; // an edit made it of another question
      return asked.put(
        requestId,
        asked.take(typeof replaces === "string" ? replaces : "") ??
          intercepted.take(call) ??
          nameOnly(event),
      );
    }
    const verdict = verdictOf(event);
    if (verdict === undefined) return undefined;
    return {
      timestamp: isoTime(event.atMs),
      action: asked.take(requestId) ?? intercepted.take(call) ?? nameOnly(event),
      verdict,
    };
  };
}

/** The line of an entry, without its newline. */
export function plainLine(entry: PlainEntry): string {
  return onOneLine(JSON.stringify(entry));
}

/** Whether a value is an entry, of whichever writer. */
export function isPlainEntry(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { timestamp, action, verdict } = value;
  return (
    typeof timestamp === "string" &&
    isJsonObject(action) &&
    isJsonObject(verdict) &&
    typeof verdict["decision"] === "string"
  );
}

interface BoundedMap {
  put(key: string, action: JsonValue): undefined;
  take(key: string): JsonValue | undefined;
}

function boundedMap(): BoundedMap {
  const actions = new Map<string, JsonValue>();
  return {
    put(key, action) {
      actions.set(key, action);
      const [oldest = ""] = actions.size > OPEN_MAX ? actions.keys() : [];
      actions.delete(oldest);
      return undefined;
    },
    take(key) {
      const action = actions.get(key);
      actions.delete(key);
      return action;
    },
  };
}

/** The events of one decision share agent, tool and the moment it began. */
function callKey({ agent, tool, atMs, responseTimeMs }: PlainSource): string {
  return JSON.stringify([agent, tool, atMs - responseTimeMs]);
}

function nameOnly({ tool }: PlainSource): JsonObject {
  return { name: tool };
}

function actionOf({ tool, metadata }: PlainSource): JsonObject {
  const { kind, server, parameters } = metadata;
  const given = isJsonObject(parameters) ? parameters : {};
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
  return Object.fromEntries(
    Object.entries(fields).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
}

/** What the event decided; `undefined` where the decision is another event's. */
function verdictOf({
  eventType,
  decision,
  metadata,
}: PlainSource): PlainEntry["verdict"] | undefined {
  const said = (fallback: string): string => {
    const reason = metadata["denied"] ?? metadata["reason"];
    return typeof reason === "string" && reason !== "" ? reason : fallback;
  };
  switch (eventType) {
    case "policy_evaluated":
      return decision === "allow" || decision === "deny"
        ? { decision, reason: said("policy") }
        : undefined;
    case "consent_approved":
      return { decision: "allow", reason: said("Approved by human") };
    case "grant_used":
      return { decision: "allow", reason: said("an earlier consent covers it") };
    case "decision_adopted":
      return {
        decision: decision.startsWith("approved") ? "allow" : "deny",
        reason: said(`the kept decision: ${decision}`),
      };
    case "consent_denied":
    case "consent_expired":
    case "consent_cancelled":
    case "consent_failed":
      return { decision: "deny", reason: said(eventType) };
    default:
      return undefined;
  }
}
