/**
 * Logged calls: what an audit log says of one call, event by event, and the Action that it was.
 * Pure. Format: spec/audit.md §3.
 */
import { actionDigest, isJsonObject, parseAction } from "@acp/core";
import type { Action, AuditEventInput, JsonObject, JsonValue } from "@acp/core";
import { PLACEHOLDER_START } from "@acp/core/unstable";

/**
 * The parts of an audit event that suggestions are made from. Events of unknown types are ignored.
 */
export interface LoggedEvent
  extends Pick<
    AuditEventInput,
    "atMs" | "requestId" | "agent" | "tool" | "riskLevel" | "decision" | "metadata"
  > {
  /** Type of the event as the log has it, of this version or a later one. */
  readonly eventType: string;
}

/** What a mask leaves in the place of a secret's value. */
const MASKED = /\[secret [A-Za-z0-9_.-]+\]/;

/**
 * The Action of a `tool_call_intercepted`; `undefined` where the log does not hold it as it was:
 * masked, cut, or of another version.
 */
export function loggedAction({ tool, metadata }: LoggedEvent): Action | undefined {
  const { kind, server, parameters, action_digest: digest } = metadata;
  if (!isJsonObject(parameters)) return undefined;
  try {
    const action = parseAction(actionData({ kind, server, tool, parameters }));
    return actionDigest(action) === digest ? action : undefined;
  } catch {
    return undefined; // whatever it is, it is no Action of this version
  }
}

interface FlatCall {
  readonly kind: JsonValue | undefined;
  readonly server: JsonValue | undefined;
  readonly tool: string;
  readonly parameters: JsonObject;
}

/** The flat view of ACP v0.2, turned back. */
function actionData({ kind, server, tool, parameters }: FlatCall): object {
  if (kind === "http") {
    const { headers, ...meta } = parameters;
    return {
      name: tool,
      ...(headers === undefined ? {} : { args: { headers } }),
      meta: { kind, ...meta },
    };
  }
  if (kind === "shell") {
    const { command, ...meta } = parameters;
    return { name: tool, args: command, meta: { kind, ...meta } };
  }
  return { name: tool, args: parameters, meta: { kind, server } };
}

/**
 * Whether a text anywhere in the action stands for a secret's value, so that nobody can say from it
 * what was done.
 */
export function holdsSecret(value: unknown): boolean {
  if (typeof value === "string") return value.includes(PLACEHOLDER_START) || MASKED.test(value);
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([key, member]) => holdsSecret(key) || holdsSecret(member));
}

/** About how many characters an action's data has; what is larger than `max` is `max`. */
export function sizeOf(value: unknown, max: number): number {
  if (typeof value === "string") return Math.min(max, value.length + 8);
  if (typeof value !== "object" || value === null) return 8;
  let size = 16;
  for (const [key, member] of Object.entries(value)) {
    size += key.length + sizeOf(member, max);
    if (size >= max) return max;
  }
  return size;
}
