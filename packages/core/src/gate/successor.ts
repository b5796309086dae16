/**
 * Successor: the question that an edit makes where it is judged stricter, or resets a quorum. It is
 * never easier than the one it replaces.
 */
import type { Action } from "../action/action.js";
import { mergeTimes, rebaseSteps, timesBehind } from "../approval/escalation.js";
import type { PendingRecord } from "../approval/pending-record.js";
import { makeQuestion } from "./make-question.js";
import type { Evaluation } from "./consent-gate.js";
import type { MergedAsk } from "./merge-ask.js";
import { eligibleApprovers } from "./approvers.js";
import type { PeopleParts, TimeParts } from "./gate-parts.js";

/** An edited action and what the judges say about it. */
export interface EditedAction {
  readonly action: Action;
  readonly evaluation: Evaluation;
}

/**
 * The record of the new question; `undefined` where nobody may answer it. Its steps go on from
 * where those of the old one are.
 */
export function makeSuccessor(
  parts: TimeParts & Pick<PeopleParts, "approvers">,
  { record, nowMs }: { readonly record: PendingRecord; readonly nowMs: number },
  edited: EditedAction,
): PendingRecord | undefined {
  const { request, originalDigest, deferred, context, call, reserved } = record;
  const { escalated: taken = 0 } = record;
  const {
    agent,
    quorum,
    evidence,
    expiresAtMs,
    createdAtMs,
    approvers,
    escalation: steps = [],
  } = request;
  const own = edited.evaluation.ask;
  const elapsedMs = nowMs - createdAtMs;
  const times = mergeTimes([
    timesBehind({
      ...(approvers === undefined ? {} : { approvers }),
      escalate: rebaseSteps(steps, { elapsedMs, taken }),
    }),
    timesBehind({
      ...(own?.approvers === undefined ? {} : { approvers: own.approvers }),
      escalate: rebaseSteps(own?.escalate ?? [], { elapsedMs, taken: 0 }),
    }),
  ]);
  const ask: MergedAsk = {
    timeoutMs: own?.timeoutMs ?? expiresAtMs - createdAtMs,
    quorum: Math.max(quorum, own?.quorum ?? 1),
    evidence: evidence === "passkey" || own?.evidence === "passkey" ? "passkey" : "any",
    offers: [],
    ...times,
  };
  const eligible = eligibleApprovers(parts, ask, agent);
  if (ask.quorum > 1 && parts.approvers === undefined) return undefined;
  if (eligible !== undefined && eligible.length < ask.quorum) return undefined;
  return makeQuestion(
    {
      context: { agent, ...context, call },
      ...edited,
      ask,
      approvers: eligible,
      originalDigest,
      deferred,
      reserved,
    },
    parts,
  );
}
