/**
 * What happened to one call, read from the audit log: not what the demo believes, but what was
 * recorded.
 */
import type { AuditEvent } from "@acp/audit";
import type { JsonObject, JsonValue } from "@acp/core";
import type { Step } from "./steps.js";

/** The record of one call. */
export interface CallRecord {
  readonly ends: Step["ends"] | "not decided";
  readonly policy: string;
  readonly rule: string;
  readonly person: string | undefined;
  readonly reason: string;
  readonly forwarded: boolean;
  /** The arguments that may be performed: the person's where they were edited. */
  readonly approved: JsonObject;
}

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const objectOf = (value: JsonValue | undefined): JsonObject => (isObject(value) ? value : {});
const textOf = (value: JsonValue | undefined): string => (typeof value === "string" ? value : "");

/** Reads the events of one call. */
export function recordOf(events: readonly AuditEvent[]): CallRecord {
  const last = (type: string): AuditEvent | undefined =>
    events.findLast(({ eventType }) => eventType === type);
  const policy = last("policy_evaluated");
  const approval = last("consent_approved");
  const refusal = events.findLast(({ eventType }) =>
    /^consent_(denied|expired|cancelled|failed)$/.test(eventType),
  );
  const edited = approval?.metadata["approved_parameters"];
  const person = approval ?? refusal;
  return {
    ends: endOf({ policy, approval, refusal, edited }),
    policy: policy?.decision ?? "",
    rule: policy?.policyRule ?? "",
    person: person?.decision,
    reason: textOf((person ?? policy)?.metadata["reason"]),
    forwarded: last("tool_call_forwarded") !== undefined,
    approved: objectOf(edited ?? last("tool_call_intercepted")?.metadata["parameters"]),
  };
}

interface Found {
  readonly policy: AuditEvent | undefined;
  readonly approval: AuditEvent | undefined;
  readonly refusal: AuditEvent | undefined;
  readonly edited: JsonValue | undefined;
}

function endOf({ policy, approval, refusal, edited }: Found): CallRecord["ends"] {
  if (policy?.decision === "deny") return "denied by policy";
  if (policy?.decision === "allow") return "allowed";
  if (refusal !== undefined) return "denied by a person";
  if (approval === undefined) return "not decided";
  return edited === undefined ? "approved" : "edited";
}
