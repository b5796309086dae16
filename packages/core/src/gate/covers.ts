/**
 * Whether a consent that was given to one question still covers an action as it is judged now.
 */
import type { ConsentRequest } from "../approval/request.js";
import { secretsOf } from "./assemble.js";
import type { Evaluation } from "./consent-gate.js";
import { levelRank } from "./merge-ask.js";

/** Whether what the judges want now is no more than what the question asked for. A deny is never covered. */
export function covers(request: ConsentRequest, evaluation: Evaluation): boolean {
  const { ruling, ask, level } = evaluation;
  if (ruling.effect === "deny") return false;
  if (!secretsOf(evaluation).every((name) => request.secrets.includes(name))) return false;
  if (ruling.effect === "allow") return true;
  if (ask === undefined || ask.quorum > request.quorum || levelRank(level) > levelRank(request.policy.requiredLevel)) return false;
  if (ask.evidence === "passkey" && request.evidence !== "passkey") return false;
  return ask.approvers === undefined || (request.approvers?.every((id) => ask.approvers?.includes(id) === true) ?? false);
}
