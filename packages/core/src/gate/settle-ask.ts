/** Settling an ask: by a decision that was kept, by an earlier consent, or by asking a person. */
import type { PendingRecord } from "../approval/pending-record.js";
import { makeQuestion } from "./make-question.js";
import type { JudgedCall } from "./judged-call.js";
import { recordDenied } from "./record-verdict.js";
import type { DenyCode } from "../deny-codes.js";
import { deny, messageOf } from "./deny.js";
import { adoptDecision } from "./adopt-decision.js";
import { actionDigest } from "../action/digest.js";
import { verifiesPasskeys } from "./evidence.js";
import { TEXT_UNITS_MAX } from "../limits.js";
import type { MergedAsk } from "./merge-ask.js";
import { eligibleApprovers } from "./approvers.js";
import { capPrompts } from "./prompt-limit.js";
import { loggedAt, requestedJson } from "./record.js";
import { showQuestion } from "./questions.js";
import { isLimited, reserve } from "./reserve.js";
import { useGrant } from "./use-grant.js";
import type { Denied, Pending, Verdict } from "../verdict.js";
import { waitFor } from "./waiting.js";
import type { AskParts, DecideParts, PeopleParts } from "./gate-parts.js";

/** What is asked of whom. */
interface Asking {
  readonly ask: MergedAsk;
  readonly approvers: readonly string[] | undefined;
  /** Gives up the place that was kept for the question: from then on it has its own. */
  readonly leave: () => void;
}

/** Puts the question to a person. */
async function askPerson(
  parts: DecideParts,
  call: JudgedCall,
  { ask, approvers, leave }: Asking,
): Promise<Verdict | Pending> {
  const { action, context, evaluation, opening } = call;
  const record = makeQuestion(
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
      call,
      deny("action_too_large", "its question would have more than 2 MiB of text"),
    );
  const requested = {
    ...call.event("consent_requested", "ask", requestedJson(parts, record.request)),
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
  parts: AskParts & PeopleParts,
  { evaluation, context }: JudgedCall,
  ask: MergedAsk,
): { readonly denied: Denied } | { readonly approvers: readonly string[] | undefined } {
  const no = (code: DenyCode, why: string): { readonly denied: Denied } => ({
    denied: deny(code, why, { ruleId: evaluation.ruling.ruleId }),
  });
  if (context.obstacle !== undefined) return no("not_performable", context.obstacle);
  const paused = parts.paused();
  if (paused !== undefined) return no("paused", paused);
  if (ask.evidence === "passkey" && !verifiesPasskeys(parts))
    return no(
      "evidence_unavailable",
      "the rule wants a passkey, and no verifier for one is configured",
    );
  const missing = ask.escalate?.find(
    ({ channel }) => channel !== undefined && !parts.channels.has(channel),
  );
  if (missing !== undefined)
    return no(
      "channel_failed",
      `the question escalates to the channel "${missing.channel}", which is not one of the gate's`,
    );
  if (ask.quorum > 1 && parts.approvers === undefined)
    return no(
      "no_approver",
      `the question needs ${ask.quorum} people, and the gate has no named approvers`,
    );
  const approvers = eligibleApprovers(parts, ask, context.agent);
  if (approvers !== undefined && approvers.length < ask.quorum)
    return no(
      "no_approver",
      `the question needs ${ask.quorum}, and ${approvers.length} may answer`,
    );
  return { approvers };
}

/** Settles a call that the rules ask about. Throws what the store throws. */
export async function settleAsk(
  parts: DecideParts,
  call: JudgedCall,
  ask: MergedAsk,
): Promise<Verdict | Pending> {
  const who = whoMayAnswer(parts, call, ask);
  if ("denied" in who) return recordDenied(parts, call, who.denied);
  const kept = await adoptDecision(parts, call);
  if (kept !== undefined) return kept;
  const place = parts.questions.enter(call.context.agent);
  if ("full" in place) return recordDenied(parts, call, deny(place.code, place.full));
  try {
    return await settleInPlace(parts, call, {
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
  parts: DecideParts,
  call: JudgedCall,
  asking: Asking,
): Promise<Verdict | Pending> {
  const { ask, approvers } = asking;
  const limited = isLimited(call.evaluation) ? await reserve(parts, call.evaluation) : undefined;
  if (limited !== undefined) return recordDenied(parts, call, limited);
  const granted = await useGrant(parts, call, {
    ...ask,
    ...(approvers === undefined ? {} : { approvers }),
  });
  if (granted !== undefined) return granted;
  const capped = await capPrompts(parts, call.context.agent);
  if (capped !== undefined) return recordDenied(parts, call, capped);
  return askPerson(parts, call, asking);
}
