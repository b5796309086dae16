/**
 * Waiting for a question's end on behalf of one caller, and what the end means for them: at most
 * one caller gets a permit.
 */
import type { Action } from "../action/action.js";
import { parseAction, withParameters } from "../action/action-json.js";
import { advanceQuestion } from "./advance-question.js";
import { endQuestion } from "./end-question.js";
import { isApproved, type PendingRecord } from "../approval/pending-record.js";
import { makeConsentOutcome } from "../approval/consent-outcome.js";
import { claimDecision } from "./claim-decision.js";
import type { GateContext } from "./consent-gate.js";
import type { DenyCode } from "../deny-codes.js";
import { deny, messageOf } from "./deny.js";
import { holdQuestion } from "./hold.js";
import { followYes, keepOutcome, settleTaken } from "./follow-yes.js";
import { IGNORED } from "./ignored.js";
import { PART_TIMEOUT_MS } from "../limits.js";
import { actionDigest } from "../action/digest.js";
import { allow } from "./allow.js";
import { whoLeft } from "./approvers.js";
import { watchEnd } from "./questions.js";
import { appendEvent, questionEvents } from "./record.js";
import { isAborted, onAbort } from "../signals.js";
import type { Denied, Pending, Verdict } from "../verdict.js";
import type { KeptParts, QuestionParts, VerdictParts, WaitParts } from "./gate-parts.js";

/**
 * The action that a yes is for; its digest is compared with the one that was recorded with the yes.
 */
export function approvedAction({ action, end }: PendingRecord): Action | undefined {
  const asked = parseAction(action);
  const effective =
    end?.modifications === undefined ? asked : withParameters(asked, end.modifications);
  return actionDigest(effective) === end?.effectiveDigest ? effective : undefined;
}

/** What an ended and recorded question means for the one caller who may have its permit. */
export function verdictOf(
  parts: VerdictParts,
  record: PendingRecord,
  context: GateContext,
): Verdict {
  const { end, request } = record;
  const detail = { requestId: record.id, ruleId: request.policy.ruleId };
  if (end === undefined || !end.recorded)
    return deny("internal_error", "the question has no recorded end", detail);
  if (end.status !== "approved" && end.status !== "approved_with_modifications")
    return deny(
      end.denyCode ?? "internal_error",
      end.reason === "" ? end.status : end.reason,
      detail,
    );
  /** Who said yes hears that nothing comes of it, and why. */
  const stopped = (code: DenyCode, why: string): Denied => {
    void settleTaken(parts, record, {
      outcome: makeConsentOutcome("not_performed", why),
      code,
    }).catch(() => undefined);
    return deny(code, why, detail);
  };
  const paused = parts.pausedAgent(context.agent);
  if (paused !== undefined) return stopped("agent_paused", paused);
  const left = whoLeft(parts, end.approverIds);
  if (left !== undefined) return stopped("no_approver", left);
  const action = approvedAction(record);
  if (action === undefined)
    return stopped("internal_error", "the stored action is not the one that was approved");
  const allowed = allow(parts, {
    code: end.status === "approved" ? "consent_approved" : "consent_modified",
    reason: end.reason === "" ? "a person approved it" : end.reason,
    action,
    context,
    secrets: request.secrets,
    // It is this call that goes on, whichever asked.
    event: questionEvents(
      parts,
      context.call === undefined ? record : { ...record, call: context.call },
    ),
    requestId: record.id,
    approvers: end.approverIds,
    ...(end.responses === undefined ? {} : { proofs: end.responses }),
  });
  followYes(parts, record, allowed.permit);
  return allowed;
}

/** Follows a question over its successors to the record that ends it. */
async function lastEnd(
  parts: KeptParts,
  follow: { id: string },
  signal: AbortSignal,
): Promise<PendingRecord> {
  let record = await watchEnd(parts, follow.id, signal);
  while (record.end?.status === "superseded" && record.end.successorId !== undefined) {
    follow.id = record.end.successorId;
    record = await watchEnd(parts, follow.id, signal);
  }
  return record;
}

/**
 * Tries to mark the question, or the one that took its place meanwhile, as "the caller will call
 * again".
 */
async function deferQuestion(parts: QuestionParts, follow: { id: string }): Promise<boolean> {
  for (;;) {
    const { id } = follow;
    const deferred = await advanceQuestion(parts, id, { type: "defer" });
    if (deferred.ok) {
      // Nothing is released because of a deferral.
      await appendEvent(parts, deferred.record, "consent_deferred", "pending").catch(
        () => undefined,
      );
      return true;
    }
    const record = await parts.within(parts.store.pending.get(id), "the store");
    if (record?.end?.successorId === undefined) return false;
    follow.id = record.end.successorId;
  }
}

/**
 * Takes the decision by a claim as well; why it cannot be taken, where somebody else had it before
 * or nobody can say.
 */
async function whyTaken(
  { store, clock, within, onIgnored }: KeptParts,
  record: PendingRecord,
): Promise<string | undefined> {
  try {
    if (await within(claimDecision(store.claims, record, clock.now()), "the store"))
      return undefined;
  } catch (error) {
    return `it could not be claimed: ${messageOf(error)}`;
  }
  onIgnored("question", record.id, IGNORED.taken);
  return IGNORED.taken;
}

/**
 * What an ended question means for a caller who may have left meanwhile. A yes is taken in its
 * record first, so that nobody else gets it.
 */
async function verdictFor(
  parts: VerdictParts,
  last: PendingRecord,
  { context, hasLeft }: Waiter,
): Promise<Verdict> {
  const detail = { requestId: last.id };
  const gone = deny("consent_cancelled", "the caller went away", detail);
  const later = deny("consent_deferred", "the caller was told to call again", detail);
  // A caller that went away gets no permit, even if the yes came first; nor does one that was told
  // to call again.
  if (hasLeft()) return gone;
  if (last.deferred) return later;
  if (!isApproved(last)) return verdictOf(parts, last, context);
  const taken = await advanceQuestion(parts, last.id, { type: "collect" });
  if (!taken.ok) return hasLeft() ? gone : later;
  const why = await whyTaken(parts, taken.record);
  if (why !== undefined) {
    const outcome = makeConsentOutcome("not_performed", why);
    // Where somebody had it before, the log has what came of it.
    if (why === IGNORED.taken) await keepOutcome(parts, taken.record, outcome);
    else await settleTaken(parts, taken.record, { outcome, code: "store_failed" });
    return deny("store_failed", why, detail);
  }
  if (!hasLeft()) return verdictOf(parts, taken.record, context);
  const outcome = makeConsentOutcome("not_collected", "the caller went away as the answer came");
  await settleTaken(parts, taken.record, { outcome });
  return gone;
}

/** Who waits for a question. */
interface Waiter {
  readonly context: GateContext;
  readonly hasLeft: () => boolean;
}

/** Listens for what ends the waiting early; what it returns stops listening. */
function onEarlyEnd(
  parts: Pick<WaitParts, "closers" | "shutdown">,
  caller: AbortSignal | undefined,
  { gone, closed }: { readonly gone: () => void; readonly closed: () => void },
): () => void {
  const offCaller = onAbort(caller, gone);
  // A set and not a listener each on the gate's signal: there may be thousands.
  parts.closers.add(closed);
  if (parts.shutdown.signal.aborted) closed();
  return () => {
    offCaller();
    parts.closers.delete(closed);
  };
}

/** Why a caller stops waiting before the question ends. */
type LeaveCode = "consent_cancelled" | "gate_closed";

/**
 * Waits for the end of a shown question for one caller. However the parts fail, the caller gets a
 * verdict.
 */
export function waitFor(parts: WaitParts, record: PendingRecord, context: GateContext): Pending {
  const follow = { id: record.id };
  const stop = new AbortController();
  let hasLeft = false;
  let giveUp = (_verdict: Denied): void => undefined;
  const givenUp = new Promise<Denied>((resolve) => (giveUp = resolve));
  const denial = (code: DenyCode, reason: string): Denied =>
    deny(code, reason, { requestId: follow.id });

  /**
   * Ends the question and the waiting: also where the store cannot end the question, the caller
   * gets its no.
   */
  const leave = async (reason: string, denyCode: LeaveCode): Promise<void> => {
    const cancel = { type: "cancel", reason, denyCode } as const;
    const isFirst = await endQuestion(parts, follow.id, cancel).catch(() => true);
    if (isFirst) giveUp(denial(denyCode, reason));
  };
  /** Ends the waiting; the question is held for a retry where the gate holds questions. */
  const depart = async (reason: string): Promise<void> => {
    hasLeft = true;
    if (await holdQuestion(parts, follow, reason)) giveUp(denial("consent_cancelled", reason));
    else await leave(reason, "consent_cancelled");
  };
  const stopListening = onEarlyEnd(parts, context.signal, {
    gone: () => void depart("the caller went away"),
    closed: () => void leave("the gate is shutting down", "gate_closed"),
  });
  // The store ends a question in time; this is for a store that does not.
  const backstopMs = Math.max(0, record.request.expiresAtMs - parts.clock.now()) + PART_TIMEOUT_MS;
  parts.clock.sleep(backstopMs, { signal: stop.signal }).then(
    () => giveUp(denial("consent_expired", "nobody answered in time")),
    () => undefined,
  );

  const ended = lastEnd(parts, follow, stop.signal).then((last) =>
    verdictFor(parts, last, { context, hasLeft: () => hasLeft || isAborted(context.signal) }),
  );
  const settled = Promise.race([ended, givenUp])
    .catch((error: unknown) => denial("store_failed", `the question was lost: ${messageOf(error)}`))
    .finally(() => {
      stopListening();
      stop.abort(new Error("nobody waits anymore"));
    });

  return {
    decision: "pending",
    requestId: record.id,
    expiresAtMs: record.request.expiresAtMs,
    settled,
    withdraw: (reason) => leave(reason, "consent_cancelled"),
    leave: depart,
    defer: async () => {
      const isDeferred = await deferQuestion(parts, follow).catch(() => false);
      if (isDeferred) giveUp(denial("consent_deferred", "the caller was told to call again"));
      return isDeferred;
    },
  };
}
