/**
 * Whether a consent that was given to one question still covers an action as it is judged now.
 */
import { isCritical } from "../approval/confirmation.js";
import { type EscalationStep, stepOf } from "../approval/escalation.js";
import { includesPerson } from "../approval/person.js";
import type { ConsentRequest } from "../approval/request.js";
import { isCriticalNow, secretsOf } from "./make-question.js";
import type { Evaluation } from "./consent-gate.js";
import { levelRank } from "./merge-ask.js";

/** Whether nobody who may answer has to wait longer now than the question had them wait. */
function waitsAsLong(
  { approvers, escalation }: ConsentRequest,
  now: readonly EscalationStep[] = [],
): boolean {
  const waitMs = (steps: readonly EscalationStep[] | undefined, id: string): number =>
    steps?.[stepOf(steps, id)]?.afterMs ?? 0;
  const people = now
    .flatMap((step) => step.approvers ?? [])
    .filter((id) => approvers === undefined || includesPerson(approvers, id));
  return people.every((id) => waitMs(escalation, id) >= waitMs(now, id));
}

/**
 * Whether what the judges want now is no more than what the question asked for. A deny is never
 * covered.
 */
export function covers(request: ConsentRequest, evaluation: Evaluation): boolean {
  const { ruling, ask, level } = evaluation;
  if (ruling.effect === "deny") return false;
  if (!secretsOf(evaluation).every((name) => request.secrets.includes(name))) return false;
  if (ruling.effect === "allow") return true;
  // A yes to what is critical is typed; where the question was none of that, nobody typed one.
  if (isCriticalNow(evaluation) && !isCritical(request)) return false;
  if (
    ask === undefined ||
    ask.quorum > request.quorum ||
    levelRank(level) > levelRank(request.policy.requiredLevel)
  )
    return false;
  if (ask.evidence === "passkey" && request.evidence !== "passkey") return false;
  if (!waitsAsLong(request, ask.escalate)) return false;
  const wanted = ask.approvers;
  return (
    wanted === undefined || (request.approvers?.every((id) => includesPerson(wanted, id)) ?? false)
  );
}
