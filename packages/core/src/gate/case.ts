/**
 * Case: one action under decision, and how its outcome is written down before anybody hears of it.
 */
import type { Action } from "../action/action.js";
import type { GateParts } from "./gate-parts.js";
import type { AuditEventInput, EventMaker } from "../types/audit-event.js";
import type { Denied, Verdict } from "../verdict.js";
import type { Evaluation, GateContext } from "./consent-gate.js";
import { deny, messageOf } from "./deny.js";
import type { JsonObject } from "../json/value.js";
import { eventMaker, interceptedJson, rulingsJson, subjectOfEvaluation } from "./record.js";

/** One action under decision. */
export interface Case {
  readonly action: Action;
  readonly context: GateContext;
  readonly evaluation: Evaluation;
  readonly event: EventMaker;
  /** Intercepted and evaluated: what every decision records first. */
  readonly opening: (decision: string, denied?: Denied) => readonly AuditEventInput[];
}

function evaluatedJson(evaluation: Evaluation, denied: Denied | undefined): JsonObject {
  const said = rulingsJson(evaluation);
  return denied === undefined ? said : { ...said, code: denied.code, denied: denied.reason };
}

/** Opens a case. */
export function openCase(
  parts: GateParts,
  { action, context, evaluation }: Pick<Case, "action" | "context" | "evaluation">,
): Case {
  const { agent } = context;
  const event = eventMaker(
    subjectOfEvaluation({ context, action, evaluation, startedAtMs: parts.clock.now() }),
    parts,
  );
  const opening: Case["opening"] = (decision, denied) => [
    event("tool_call_intercepted", "", interceptedJson(agent, action)),
    event("policy_evaluated", decision, evaluatedJson(evaluation, denied)),
  ];
  return { action, context, evaluation, event, opening };
}

/**
 * A no that is written down, or counted where there are many of its kind; where the log fails it is
 * a no all the same.
 */
export async function recordDenied(
  parts: GateParts,
  { opening, action, context, evaluation }: Case,
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
  parts: GateParts,
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
