/** Adopting: a retry gets the decision that was kept for it, or waits for its open question again. */
import type { Action } from "../action/action.js";
import { parseAction } from "../action/action-json.js";
import { advanceQuestion } from "./advance-question.js";
import { endQuestion } from "./end-question.js";
import { isApproved, type PendingRecord } from "../approval/pending-record.js";
import { makeConsentOutcome } from "../approval/consent-outcome.js";
import type { JudgedCall } from "./judged-call.js";
import { covers } from "./covers.js";
import { deny, messageOf } from "./deny.js";
import { actionDigest } from "../action/digest.js";
import { holdQuestion, leaveDead } from "./hold.js";
import { judge } from "./judge.js";
import { IGNORED } from "./ignored.js";
import { decisionLeftMs } from "./kept-time.js";
import { whoLeft } from "./approvers.js";
import { settleTaken } from "./follow-yes.js";
import { showQuestion } from "./questions.js";
import { whyDecisionUnproven } from "./still-proven.js";
import type { Pending, Verdict } from "../verdict.js";
import { approvedAction, verdictOf, waitFor } from "./waiting.js";
import type { DecideParts, JudgeParts, KeptParts, PeopleParts } from "./gate-parts.js";

const STRICTER = "the rules became stricter after it was asked";

/**
 * The decision that was kept for this retry, or the question that it may wait for again.
 *
 * @param isAgain - Whether it was looked for already.
 */
export async function adoptDecision(
  parts: DecideParts,
  call: JudgedCall,
  isAgain: boolean = false,
): Promise<Verdict | Pending | undefined> {
  const { action, context, evaluation, event, opening } = call;
  const record = await parts.within(
    parts.store.pending.takeDecision(
      context.agent.id,
      actionDigest(action),
      parts.clock.now(),
      context.call,
    ),
    "the store",
  );
  if (record === undefined) return undefined;
  if (record.status !== "ended") {
    const waiting = isSameCall(record, call) ? await reattach(parts, record, call) : undefined;
    // It may have been answered in this very moment.
    const isOver = waiting !== undefined || context.call === undefined || isAgain;
    return isOver ? waiting : adoptDecision(parts, call, true);
  }
  const isYes = isApproved(record);
  const why = await whyKeptNoMore(parts, record, isYes);
  if (why !== undefined) {
    if (isYes)
      await settleTaken(parts, record, { outcome: makeConsentOutcome("not_performed", why) });
    return undefined;
  }
  // The rules may have become stricter since the person looked; then they look again.
  if (isYes && !(await coversNow(parts, record, { call, effective: approvedAction(record) }))) {
    await settleTaken(parts, record, { outcome: makeConsentOutcome("not_performed", STRICTER) });
    return undefined;
  }
  const adopted = event("decision_adopted", record.end?.status ?? "", {
    from_request: record.id,
    rule: evaluation.ruling.ruleId,
  });
  try {
    await parts.append([...opening("ask"), adopted]);
  } catch (error) {
    const denied = deny("audit_failed", messageOf(error));
    const outcome = makeConsentOutcome("not_performed", denied.reason);
    if (isYes) await settleTaken(parts, record, { outcome, code: denied.code });
    return denied;
  }
  return verdictOf(parts, record, context);
}

/**
 * Why a kept decision no longer counts: its time is over, who gave it is no approver any more, or
 * the passkey behind a yes is none any more; then the person is asked again.
 */
async function whyKeptNoMore(
  parts: KeptParts & PeopleParts,
  record: PendingRecord,
  isYes: boolean,
): Promise<string | undefined> {
  if (decisionLeftMs(parts, record) === 0) return "its time was over when it was asked for";
  const left = isYes ? whoLeft(parts, record.end?.approverIds ?? []) : undefined;
  if (left !== undefined) return left;
  if (!isYes || (await whyDecisionUnproven(parts, record)) === undefined) return undefined;
  parts.onIgnored("question", record.id, IGNORED.unproven);
  return IGNORED.unproven;
}

/**
 * Whether the open question was asked for the same session and task: an edit of it is judged in
 * those.
 */
function isSameCall({ context: asked = {} }: PendingRecord, { context }: JudgedCall): boolean {
  return asked.session === context.session && asked.task === context.task;
}

/**
 * Whether what a question asks, or asked, still covers what it is about, edited or not, as the
 * judges see it now.
 */
async function coversNow(
  parts: JudgeParts,
  record: PendingRecord,
  { call, effective }: { readonly call: JudgedCall; readonly effective: Action | undefined },
): Promise<boolean> {
  const { evaluation, context, action } = call;
  if (effective === undefined) return false;
  const isEdited = actionDigest(effective) !== actionDigest(action);
  return covers(
    record.request,
    isEdited ? await judge(parts, { action: effective, context }) : evaluation,
  );
}

/**
 * Waits again for the open question of a caller that was told to call again, or went away. One
 * retry gets it; another one at the same time asks anew.
 */
async function reattach(
  parts: DecideParts,
  record: PendingRecord,
  call: JudgedCall,
): Promise<Verdict | Pending | undefined> {
  // A yes to what is on the screen would not be enough any more: the person is asked what the rules
  // want now, and nothing else.
  const counted = record.approvals.map(({ approverId }) => approverId);
  const isCovered = await coversNow(parts, record, {
    call,
    effective: parseAction(record.action),
  });
  const why = whoLeft(parts, counted) ?? (isCovered ? undefined : STRICTER);
  if (why !== undefined) {
    await endQuestion(parts, record.id, {
      type: "cancel",
      reason: why,
      denyCode: "consent_cancelled",
    });
    return undefined;
  }
  // Of this very call, whose process died: nobody noted yet that its caller was gone.
  if (!record.deferred) await leaveDead(parts, record);
  const attached = await advanceQuestion(parts, record.id, {
    type: "reattach",
    call: call.context.call,
  });
  if (!attached.ok) return undefined;
  parts.held.get(record.id)?.release();
  try {
    await parts.append(call.opening("ask"));
  } catch (error) {
    await holdQuestion(parts, { id: record.id }, "the audit log could not keep the retry");
    return deny("audit_failed", messageOf(error), { requestId: record.id });
  }
  if (!parts.questions.has(record.id)) showQuestion(parts, attached.record, true);
  return waitFor(parts, attached.record, call.context);
}
