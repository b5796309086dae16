/**
 * Deciding one action: judge → assess → reserve → allow, deny or ask. Total: every failure of a
 * part is a deny with its code.
 */
import type { Action } from "../action/action.js";
import { allow } from "./allow.js";
import { secretsOf } from "./make-question.js";
import { type JudgedCall, makeJudgedCall } from "./judged-call.js";
import { recordAllowed, recordDenied } from "./record-verdict.js";
import type { GateContext } from "./consent-gate.js";
import { deny, messageOf } from "./deny.js";
import { admit } from "./door.js";
import { settleAsk } from "./settle-ask.js";
import { judge } from "./judge.js";
import { isLimited, reserve } from "./reserve.js";
import { isAborted } from "../signals.js";
import type { Pending, Verdict } from "../verdict.js";
import type { DecideParts, JudgeParts, LogParts, PermitParts, VerdictParts } from "./gate-parts.js";

/**
 * Not async itself: every such layer makes an allowed call wait once more. What it throws is
 * decide's.
 */
function settle(parts: DecideParts, call: JudgedCall): Promise<Verdict | Pending> {
  const { evaluation, context } = call;
  const { ruling, failure, ask } = evaluation;
  const paused = parts.pausedAgent(context.agent);
  if (paused !== undefined)
    return recordDenied(parts, call, deny("agent_paused", paused, { ruleId: ruling.ruleId }));
  if (ruling.effect === "deny")
    return recordDenied(
      parts,
      call,
      deny(failure ?? "policy_denied", ruling.reason, { ruleId: ruling.ruleId }),
    );
  if (ask !== undefined) return settleAsk(parts, call, ask);
  if (ruling.effect !== "allow")
    return recordDenied(parts, call, deny("internal_error", "an ask without terms"));
  return isLimited(evaluation) ? settleLimited(parts, call) : settleAllowed(parts, call);
}

async function settleLimited(parts: VerdictParts, call: JudgedCall): Promise<Verdict> {
  const limited = await reserve(parts, call.evaluation);
  return limited === undefined ? settleAllowed(parts, call) : recordDenied(parts, call, limited);
}

function settleAllowed(
  parts: LogParts & PermitParts & JudgeParts,
  call: JudgedCall,
): Promise<Verdict> {
  const { evaluation, action, context, event, opening } = call;
  const { reason } = evaluation.ruling;
  return recordAllowed(parts, call, {
    events: opening("allow"),
    yes: (unwritten) =>
      allow(parts, {
        code: "policy_allowed",
        reason,
        action,
        context,
        secrets: secretsOf(evaluation),
        event,
        unwritten,
      }),
  });
}

/** What is to be decided. */
export interface Asked {
  readonly action: Action;
  /** As the caller holds it: it is copied before anything else is done with it. */
  readonly context: GateContext;
  /** Whether the caller performs what is allowed at once. Default: false. */
  readonly isRun?: boolean;
}

/** Decides one action; an open question is handed out as Pending. Never rejects. */
export async function decide(
  parts: DecideParts,
  { action, context, isRun = false }: Asked,
): Promise<Verdict | Pending> {
  if (parts.shutdown.signal.aborted) return deny("gate_closed", "the gate is closed");
  const admitted = admit(action, context);
  if ("decision" in admitted) return admitted;
  if (isAborted(admitted.context.signal)) return deny("consent_cancelled", "the caller went away");
  try {
    const judged = judge(parts, admitted);
    const evaluation = judged instanceof Promise ? await judged : judged;
    return await settle(
      parts,
      makeJudgedCall(parts, {
        action: admitted.action,
        context: admitted.context,
        evaluation,
        // Secrets are put in only after what allows that is durable.
        isRun: isRun && secretsOf(evaluation).length === 0,
      }),
    );
  } catch (error) {
    return deny("store_failed", messageOf(error));
  }
}
