/**
 * Deciding one action: judge → assess → reserve → allow, deny or ask. Total: every failure of a part is a deny with its code.
 */
import { type Action, isAction } from "../action/action.js";
import { advance } from "./advance.js";
import { allow, factsOf } from "./allow.js";
import type { PendingRecord } from "../approval/machine.js";
import { makeRecord, secretsOf } from "./assemble.js";
import { assess } from "./assess.js";
import { type Case, openCase, recordAllowed, recordDenied } from "./case.js";
import type { Evaluation, GateContext } from "./consent-gate.js";
import { covers } from "./covers.js";
import { deny, messageOf } from "./deny.js";
import { actionDigest } from "../action/digest.js";
import { combine, evaluate, hear, type Hearing } from "./evaluate.js";
import { verifiesPasskeys } from "./evidence.js";
import { PENDING_MAX, TEXT_UNITS_MAX } from "../limits.js";
import type { MergedAsk } from "./merge-ask.js";
import { eligibleApprovers, type GateParts } from "./parts.js";
import { capPrompts } from "./prompt-limit.js";
import { requestedJson } from "./record.js";
import { showQuestion } from "./questions.js";
import { useGrant } from "./use-grant.js";
import type { Denied, Pending, Verdict } from "../verdict.js";
import { approvedAction, verdictOf, waitFor } from "./waiting.js";

/** Takes what the rulings limit, all or nothing. What is forwarded or asked counts, whatever comes of it. */
async function reserve(parts: GateParts, { rulings, ruling }: Evaluation): Promise<Denied | undefined> {
  const claims = rulings.flatMap((each) => each.ruling?.limits ?? []);
  if (claims.length === 0) return undefined;
  const result = await parts.within(parts.store.limits.reserve(claims), "the store");
  if (!result.ok)
    return deny("rate_limited", `the rate limit of rule "${ruling.ruleId}" is used up`, {
      ruleId: ruling.ruleId,
      retryAfterMs: result.retryAfterMs,
    });
  await parts.within(parts.store.limits.settle(result.id, true), "the store");
  return undefined;
}

/** The decision that was kept for this retry, or the question that it may wait for again. */
async function adoptDecision(parts: GateParts, subject: Case): Promise<Verdict | Pending | undefined> {
  const { action, context, evaluation, event, opening } = subject;
  const record = await parts.within(
    parts.store.pending.takeDecision(context.agent.id, actionDigest(action), parts.clock.now()),
    "the store",
  );
  if (record === undefined) return undefined;
  if (record.status !== "ended") return reattach(parts, record, subject);
  const isYes = record.end?.effectiveDigest !== undefined;
  // The rules may have become stricter since the person looked; then they look again.
  if (isYes && !coversNow(parts, record, subject)) return undefined;
  const adopted = event("decision_adopted", record.end?.status ?? "", { from_request: record.id, rule: evaluation.ruling.ruleId });
  const events = [...opening("ask"), adopted];
  return recordAllowed(parts, events, () => verdictOf(parts, record, context));
}

/** Whether the kept yes still covers what it is for, edited or not, as the judges see it now. */
function coversNow(parts: GateParts, record: PendingRecord, { evaluation, context, action }: Case): boolean {
  const effective = approvedAction(record);
  if (effective === undefined) return false;
  const isEdited = actionDigest(effective) !== actionDigest(action);
  return covers(record.request, isEdited ? evaluate(parts.judges(), effective, factsOf(context, parts.clock.now())) : evaluation);
}

/** Waits again for the open question of a caller that was told to call again. One retry gets it; another one at the same time asks anew. */
async function reattach(parts: GateParts, record: PendingRecord, subject: Case): Promise<Verdict | Pending | undefined> {
  const attached = await advance(parts, record.id, { type: "reattach" });
  if (!attached.ok) return undefined;
  try {
    await parts.append(subject.opening("ask"));
  } catch (error) {
    return deny("audit_failed", messageOf(error), { requestId: record.id });
  }
  if (!parts.questions.has(record.id)) showQuestion(parts, attached.record, true);
  return waitFor(parts, attached.record, subject.context);
}

/** Puts the question to a person. */
async function askPerson(
  parts: GateParts,
  subject: Case,
  source: { readonly ask: MergedAsk; readonly approvers: readonly string[] | undefined },
): Promise<Verdict | Pending> {
  const { action, context, evaluation, opening } = subject;
  const { agent } = context;
  const record = makeRecord({ agent, action, evaluation, ...source, originalDigest: actionDigest(action), deferred: false }, parts);
  if (record.request.text.length > TEXT_UNITS_MAX)
    return recordDenied(parts, subject, deny("action_too_large", "its question would have more than 2 MiB of text"));
  const requested = {
    ...subject.event("consent_requested", "ask", requestedJson(parts, record.request)),
    requestId: record.id,
  };
  try {
    await parts.append([...opening("ask"), requested]);
  } catch (error) {
    return deny("audit_failed", messageOf(error));
  }
  if (!(await parts.within(parts.store.pending.put(record), "the store")))
    return deny("store_failed", `a question "${record.id}" exists already`);
  // The waiter listens first, so that no end can come before it.
  const pending = waitFor(parts, record, context);
  showQuestion(parts, record, false);
  return pending;
}

/** Why nobody can be asked, or who can. */
function whoMayAnswer(
  parts: GateParts,
  { evaluation, context }: Case,
  ask: MergedAsk,
): { readonly denied: Denied } | { readonly approvers: readonly string[] | undefined } {
  const detail = { ruleId: evaluation.ruling.ruleId };
  const paused = parts.paused();
  if (paused !== undefined) return { denied: deny("paused", paused, detail) };
  if (ask.evidence === "passkey" && !verifiesPasskeys(parts))
    return { denied: deny("evidence_unavailable", "the rule wants a passkey, and no verifier for one is configured", detail) };
  const missing = ask.escalate?.find(({ channel }) => channel !== undefined && !parts.channels.has(channel));
  if (missing !== undefined)
    return {
      denied: deny("channel_failed", `the question escalates to the channel "${missing.channel}", which is none of the gate's`, detail),
    };
  const approvers = eligibleApprovers(parts, ask, factsOf(context, 0));
  if (approvers !== undefined && approvers.length < ask.quorum)
    return { denied: deny("no_approver", `the question needs ${ask.quorum}, and ${approvers.length} may answer`, detail) };
  return { approvers };
}

async function settleAsk(parts: GateParts, subject: Case, ask: MergedAsk): Promise<Verdict | Pending> {
  const who = whoMayAnswer(parts, subject, ask);
  if ("denied" in who) return recordDenied(parts, subject, who.denied);
  const kept = await adoptDecision(parts, subject);
  if (kept !== undefined) return kept;
  if (parts.questions.size >= PENDING_MAX)
    return recordDenied(parts, subject, deny("too_many_pending", `${PENDING_MAX} questions are open`));
  const limited = await reserve(parts, subject.evaluation);
  if (limited !== undefined) return recordDenied(parts, subject, limited);
  const granted = await useGrant(parts, subject, { ...ask, ...(who.approvers === undefined ? {} : { approvers: who.approvers }) });
  if (granted !== undefined) return granted;
  const capped = await capPrompts(parts, subject.context.agent);
  if (capped !== undefined) return recordDenied(parts, subject, capped);
  return askPerson(parts, subject, { ask, approvers: who.approvers });
}

async function settle(parts: GateParts, subject: Case): Promise<Verdict | Pending> {
  const { evaluation, action, context, opening } = subject;
  const { ruling, failure, ask } = evaluation;
  if (ruling.effect === "deny")
    return recordDenied(parts, subject, deny(failure ?? "policy_denied", ruling.reason, { ruleId: ruling.ruleId }));
  if (ask !== undefined) return settleAsk(parts, subject, ask);
  if (ruling.effect !== "allow") return recordDenied(parts, subject, deny("internal_error", "an ask without terms"));
  const limited = await reserve(parts, evaluation);
  if (limited !== undefined) return recordDenied(parts, subject, limited);
  return recordAllowed(parts, opening("allow"), () =>
    allow(parts, { code: "policy_allowed", reason: ruling.reason, action, context, secrets: secretsOf(evaluation), event: subject.event }),
  );
}

/** What stands in the log where the policy itself could not be read. */
function unreadable(error: unknown): Evaluation {
  const ruling = { effect: "deny", ruleId: "policy:failed", reason: messageOf(error) } as const;
  return {
    ruling,
    layer: "rules",
    rulings: [{ layer: "rules", ruling }],
    category: "system",
    risk: "critical",
    level: "critical",
    failure: "policy_failed",
  };
}

/** Whether the call itself is one: a branded action, an agent with a name. */
function checkCall(parts: GateParts, action: unknown, context: unknown): Denied | undefined {
  if (parts.shutdown.signal.aborted) return deny("gate_closed", "the gate is closed");
  if (!isAction(action)) return deny("action_invalid", "the action was not made by a constructor or parseAction");
  const { agent } = (context ?? {}) as Partial<GateContext>; // checked in the next line
  if (typeof agent?.id !== "string" || agent.id === "") return deny("context_invalid", `the call names no agent`);
  return undefined;
}

/** Decides one action; an open question is handed out as Pending. Never rejects. */
export async function decide(parts: GateParts, action: Action, context: GateContext): Promise<Verdict | Pending> {
  const misuse = checkCall(parts, action, context);
  if (misuse !== undefined) return misuse;
  if (context.signal?.aborted === true) return deny("consent_cancelled", "the caller went away");
  let hearing: Hearing;
  try {
    hearing = hear(parts.judges(), action, factsOf(context, parts.clock.now()));
  } catch (error) {
    return recordDenied(
      parts,
      openCase(parts, { action, context, evaluation: unreadable(error) }),
      deny("policy_failed", messageOf(error)),
    );
  }
  try {
    const evaluation = combine(hearing);
    const assessed = parts.assessors.length === 0 ? evaluation : await assess(parts, hearing, { action, context });
    return await settle(parts, openCase(parts, { action, context, evaluation: assessed }));
  } catch (error) {
    return deny("store_failed", messageOf(error));
  }
}
