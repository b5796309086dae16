/** Recording a verdict: it is written down before anybody hears of it. */
import type { AuditEventInput } from "../types/audit-event.js";
import type { Denied, Verdict } from "../verdict.js";
import { deny, messageOf } from "./deny.js";
import type { LogParts } from "./gate-parts.js";
import type { JudgedCall } from "./judged-call.js";

/** What says that something is allowed, and what makes the verdict. */
interface RecordedYes {
  readonly events: readonly AuditEventInput[];
  /** @param unwritten - What its performance has to write. */
  readonly yes: (unwritten: readonly AuditEventInput[] | undefined) => Verdict;
}

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

/**
 * A yes that is durable before its permit exists; where it is performed at once, its permit takes
 * the events along, and one write has them and those of the performance.
 *
 * @param yes - Makes it, with the events that are to be written before it is performed.
 */
export async function recordAllowed(
  parts: LogParts,
  { isRun }: Pick<JudgedCall, "isRun">,
  { events, yes }: RecordedYes,
): Promise<Verdict> {
  if (isRun) return yes(events);
  try {
    await parts.append(events);
  } catch (error) {
    return deny("audit_failed", messageOf(error));
  }
  return yes(undefined);
}
