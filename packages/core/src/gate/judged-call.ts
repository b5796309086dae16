/** JudgedCall: one action under decision, with what was judged of it and how its events begin. */
import type { Action } from "../action/action.js";
import type { LogParts } from "./gate-parts.js";
import type { AuditEventInput, EventMaker } from "../types/audit-event.js";
import type { Denied } from "../verdict.js";
import type { Evaluation, GateContext } from "./consent-gate.js";
import type { JsonObject } from "../json/value.js";
import { eventMaker, interceptedJson, rulingsJson, subjectOfEvaluation } from "./record.js";

/** One action under decision. */
export interface JudgedCall {
  readonly action: Action;
  readonly context: GateContext;
  readonly evaluation: Evaluation;
  readonly event: EventMaker;
  /**
   * Whether it is performed as soon as it is allowed, by who asks for it and nobody else, and
   * without secrets: what allows it is then written with what begins it.
   */
  readonly isRun: boolean;
  /** Intercepted and evaluated: what every decision records first. */
  readonly opening: (decision: string, denied?: Denied) => readonly AuditEventInput[];
}

function evaluatedJson(evaluation: Evaluation, denied: Denied | undefined): JsonObject {
  const said = rulingsJson(evaluation);
  return denied === undefined ? said : { ...said, code: denied.code, denied: denied.reason };
}

/** An action that was judged, ready to be decided. */
export function makeJudgedCall(
  parts: LogParts,
  { action, context, evaluation, isRun }: Omit<JudgedCall, "event" | "opening">,
): JudgedCall {
  const { agent } = context;
  const event = eventMaker(
    subjectOfEvaluation({ context, action, evaluation, startedAtMs: parts.clock.now() }),
    parts,
  );
  const opening: JudgedCall["opening"] = (decision, denied) => [
    event("tool_call_intercepted", "", interceptedJson(agent, action)),
    event("policy_evaluated", decision, evaluatedJson(evaluation, denied)),
  ];
  return { action, context, evaluation, event, isRun, opening };
}
