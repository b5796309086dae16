/** Recording a verdict: it is written down before anybody hears of it. */
import type { AuditEventInput } from "../types/audit-event.js";
import type { Denied, Verdict } from "../verdict.js";
import { deny, messageOf } from "./deny.js";
import type { LogParts } from "./gate-parts.js";
import type { JudgedCall } from "./judged-call.js";

/**
 * A no that is written down, or counted where there are many of its kind; where the log fails it is
 * a no all the same.
 */
export async function recordDenied(
  parts: LogParts,
  { opening, action, context, evaluation }: JudgedCall,
  verdict: Denied,
): Promise<Denied> {
  const denial = {
    agent: context.agent,
    action,
    rule: evaluation.ruling.ruleId,
    code: verdict.code,
  };
  const { isWritten, due } = parts.denials.take(denial);
  const events = isWritten ? [...due, ...opening("deny", verdict)] : due;
  if (events.length > 0) await parts.append(events).catch(() => undefined);
  return verdict;
}

/** A yes that is durable before its permit exists. */
export async function recordAllowed(
  parts: LogParts,
  events: readonly AuditEventInput[],
  yes: () => Verdict,
): Promise<Verdict> {
  try {
    await parts.append(events);
  } catch (error) {
    return deny("audit_failed", messageOf(error));
  }
  return yes();
}
