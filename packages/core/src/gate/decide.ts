/**
 * Deciding one action: judge → assess → reserve → allow, deny or ask. Total: every failure of a
 * part is a deny with its code.
 */
import type { Action } from "../action/action.js";
import { parseAction } from "../action/action-json.js";
import { advance, endQuestion } from "./advance.js";
import { allow } from "./allow.js";
import { isApproved, type PendingRecord } from "../approval/pending-record.js";
import { makeConsentOutcome } from "../approval/consent-outcome.js";
import { makeRecord, secretsOf } from "./assemble.js";
import { type Case, openCase, recordAllowed, recordDenied } from "./case.js";
import type { GateContext } from "./consent-gate.js";
import { covers } from "./covers.js";
import { deny, messageOf } from "./deny.js";
import { admit } from "./door.js";
import { actionDigest } from "../action/digest.js";
import { holdQuestion } from "./hold.js";
import { judge } from "./judge.js";
import { verifiesPasskeys } from "./evidence.js";
import { IGNORED } from "./ignored.js";
import { decisionLeftMs } from "./kept-time.js";
import { TEXT_UNITS_MAX } from "../limits.js";
import type { MergedAsk } from "./merge-ask.js";
import { eligibleApprovers, whoLeft } from "./parts.js";
import { settleTaken } from "./follow-yes.js";
import { capPrompts } from "./prompt-limit.js";
import { loggedAt, requestedJson } from "./record.js";
import { showQuestion } from "./questions.js";
import { isLimited, reserve } from "./reserve.js";
import { isAborted } from "../signals.js";
import { whyDecisionUnproven } from "./still-proven.js";
import { useGrant } from "./use-grant.js";
import type { Denied, Pending, Verdict } from "../verdict.js";
import { approvedAction, verdictOf, waitFor } from "./waiting.js";
import type { GateParts } from "./gate-parts.js";

const STRICTER = "the rules became stricter after it was asked";

/** The decision that was kept for this retry, or the question that it may wait for again. */
async function adoptDecision(
  parts: GateParts,
  subject: Case,
): Promise<Verdict | Pending | undefined> {
  const { action, context, evaluation, event, opening } = subject;
  const record = await parts.within(
    parts.store.pending.takeDecision(context.agent.id, actionDigest(action), parts.clock.now()),
    "the store",
  );
  if (record === undefined) return undefined;
  if (record.status !== "ended")
    return isSameCall(record, subject) ? reattach(parts, record, subject) : undefined;
  const isYes = isApproved(record);
  const why = await whyKeptNoMore(parts, record, isYes);
  if (why !== undefined) {
    if (isYes)
      await settleTaken(parts, record, { outcome: makeConsentOutcome("not_performed", why) });
    return undefined;
  }
  // The rules may have become stricter since the person looked; then they look again.
  if (isYes && !(await coversNow(parts, record, { subject, effective: approvedAction(record) }))) {
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
  parts: GateParts,
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
function isSameCall({ context: asked = {} }: PendingRecord, { context }: Case): boolean {
  return asked.session === context.session && asked.task === context.task;
}

/**
 * Whether what a question asks, or asked, still covers what it is about, edited or not, as the
 * judges see it now.
 */
async function coversNow(
  parts: GateParts,
  record: PendingRecord,
  { subject, effective }: { readonly subject: Case; readonly effective: Action | undefined },
): Promise<boolean> {
  const { evaluation, context, action } = subject;
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
  parts: GateParts,
  record: PendingRecord,
  subject: Case,
): Promise<Verdict | Pending | undefined> {
  // A yes to what is on the screen would not be enough any more: the person is asked what the rules
  // want now, and nothing else.
  const counted = record.approvals.map(({ approverId }) => approverId);
  const isCovered = await coversNow(parts, record, {
    subject,
    effective: parseAction(record.action),
  });
  const why = whoLeft(parts, counted) ?? (isCovered ? undefined : STRICTER);
  if (why !== undefined) {
    const cancel = {
      type: "cancel",
      atMs: parts.clock.now(),
      reason: why,
      denyCode: "consent_cancelled",
    } as const;
    await endQuestion(parts, record.id, cancel);
    return undefined;
  }
  const attached = await advance(parts, record.id, { type: "reattach" });
  if (!attached.ok) return undefined;
  parts.held.get(record.id)?.release();
  try {
    await parts.append(subject.opening("ask"));
  } catch (error) {
    await holdQuestion(parts, { id: record.id }, "the audit log could not keep the retry");
    return deny("audit_failed", messageOf(error), { requestId: record.id });
  }
  if (!parts.questions.has(record.id)) showQuestion(parts, attached.record, true);
  return waitFor(parts, attached.record, subject.context);
}

/** What is asked of whom. */
interface Asking {
  readonly ask: MergedAsk;
  readonly approvers: readonly string[] | undefined;
  /** Gives up the place that was kept for the question: from then on it has its own. */
  readonly leave: () => void;
}

/** Puts the question to a person. */
async function askPerson(
  parts: GateParts,
  subject: Case,
  { ask, approvers, leave }: Asking,
): Promise<Verdict | Pending> {
  const { action, context, evaluation, opening } = subject;
  const record = makeRecord(
    {
      context,
      action,
      evaluation,
      ask,
      approvers,
      originalDigest: actionDigest(action),
      deferred: false,
    },
    parts,
  );
  if (record.request.text.length > TEXT_UNITS_MAX)
    return recordDenied(
      parts,
      subject,
      deny("action_too_large", "its question would have more than 2 MiB of text"),
    );
  const requested = {
    ...subject.event("consent_requested", "ask", requestedJson(parts, record.request)),
    requestId: record.id,
  };
  let kept: PendingRecord;
  try {
    const receipt = await parts.append([...opening("ask"), requested]);
    kept = { ...record, logged: loggedAt(requested, receipt) };
  } catch (error) {
    return deny("audit_failed", messageOf(error));
  }
  if (!(await parts.within(parts.store.pending.put(kept), "the store")))
    return deny("store_failed", `a question "${record.id}" exists already`);
  // The waiter listens first, so that no end can come before it.
  const pending = waitFor(parts, kept, context);
  leave();
  showQuestion(parts, kept, false);
  return pending;
}

/** Why nobody can be asked, or who can. */
function whoMayAnswer(
  parts: GateParts,
  { evaluation, context }: Case,
  ask: MergedAsk,
): { readonly denied: Denied } | { readonly approvers: readonly string[] | undefined } {
  const detail = { ruleId: evaluation.ruling.ruleId };
  if (context.obstacle !== undefined)
    return { denied: deny("not_performable", context.obstacle, detail) };
  const paused = parts.paused();
  if (paused !== undefined) return { denied: deny("paused", paused, detail) };
  if (ask.evidence === "passkey" && !verifiesPasskeys(parts))
    return {
      denied: deny(
        "evidence_unavailable",
        "the rule wants a passkey, and no verifier for one is configured",
        detail,
      ),
    };
  const missing = ask.escalate?.find(
    ({ channel }) => channel !== undefined && !parts.channels.has(channel),
  );
  if (missing !== undefined)
    return {
      denied: deny(
        "channel_failed",
        `the question escalates to the channel "${missing.channel}", which is none of the gate's`,
        detail,
      ),
    };
  if (ask.quorum > 1 && parts.approvers === undefined)
    return {
      denied: deny(
        "no_approver",
        `the question needs ${ask.quorum} people, and the gate has no named approvers`,
        detail,
      ),
    };
  const approvers = eligibleApprovers(parts, ask, context.agent);
  if (approvers !== undefined && approvers.length < ask.quorum)
    return {
      denied: deny(
        "no_approver",
        `the question needs ${ask.quorum}, and ${approvers.length} may answer`,
        detail,
      ),
    };
  return { approvers };
}

async function settleAsk(
  parts: GateParts,
  subject: Case,
  ask: MergedAsk,
): Promise<Verdict | Pending> {
  const who = whoMayAnswer(parts, subject, ask);
  if ("denied" in who) return recordDenied(parts, subject, who.denied);
  const kept = await adoptDecision(parts, subject);
  if (kept !== undefined) return kept;
  const place = parts.questions.enter(subject.context.agent);
  if ("full" in place) return recordDenied(parts, subject, deny("too_many_pending", place.full));
  try {
    return await settleInPlace(parts, subject, {
      ask,
      approvers: who.approvers,
      leave: place.leave,
    });
  } finally {
    place.leave();
  }
}

/** Answers an ask with an earlier consent, or puts it to a person. */
async function settleInPlace(
  parts: GateParts,
  subject: Case,
  asking: Asking,
): Promise<Verdict | Pending> {
  const { ask, approvers } = asking;
  const limited = isLimited(subject.evaluation)
    ? await reserve(parts, subject.evaluation)
    : undefined;
  if (limited !== undefined) return recordDenied(parts, subject, limited);
  const granted = await useGrant(parts, subject, {
    ...ask,
    ...(approvers === undefined ? {} : { approvers }),
  });
  if (granted !== undefined) return granted;
  const capped = await capPrompts(parts, subject.context.agent);
  if (capped !== undefined) return recordDenied(parts, subject, capped);
  return askPerson(parts, subject, asking);
}

/**
 * Not async itself: every such layer makes an allowed call wait once more. What it throws is
 * decide's.
 */
function settle(parts: GateParts, subject: Case): Promise<Verdict | Pending> {
  const { evaluation, context } = subject;
  const { ruling, failure, ask } = evaluation;
  const paused = parts.pausedAgent(context.agent);
  if (paused !== undefined)
    return recordDenied(parts, subject, deny("agent_paused", paused, { ruleId: ruling.ruleId }));
  if (ruling.effect === "deny")
    return recordDenied(
      parts,
      subject,
      deny(failure ?? "policy_denied", ruling.reason, { ruleId: ruling.ruleId }),
    );
  if (ask !== undefined) return settleAsk(parts, subject, ask);
  if (ruling.effect !== "allow")
    return recordDenied(parts, subject, deny("internal_error", "an ask without terms"));
  return isLimited(evaluation) ? settleLimited(parts, subject) : settleAllowed(parts, subject);
}

async function settleLimited(parts: GateParts, subject: Case): Promise<Verdict> {
  const limited = await reserve(parts, subject.evaluation);
  return limited === undefined
    ? settleAllowed(parts, subject)
    : recordDenied(parts, subject, limited);
}

function settleAllowed(parts: GateParts, subject: Case): Promise<Verdict> {
  const { evaluation, action, context, event, opening } = subject;
  const { reason } = evaluation.ruling;
  return recordAllowed(parts, opening("allow"), () =>
    allow(parts, {
      code: "policy_allowed",
      reason,
      action,
      context,
      secrets: secretsOf(evaluation),
      event,
    }),
  );
}

/**
 * Decides one action; an open question is handed out as Pending. Never rejects.
 *
 * @param context - As the caller holds it: it is copied before anything else is done with it.
 */
export async function decide(
  parts: GateParts,
  action: Action,
  context: GateContext,
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
      openCase(parts, { action: admitted.action, context: admitted.context, evaluation }),
    );
  } catch (error) {
    return deny("store_failed", messageOf(error));
  }
}
