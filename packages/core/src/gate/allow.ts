/**
 * Allowing: a Verdict with a fresh permit. Called only after the decision's events are durable, or
 * for a permit that takes them along to its performance, which writes them before it begins.
 */
import type { Action } from "../action/action.js";
import type { GateContext } from "./consent-gate.js";
import { judgeNow } from "./judge.js";
import type { JudgeParts, PermitParts } from "./gate-parts.js";
import type { AuditEventInput, EventMaker } from "../types/audit-event.js";
import { issuePermit, type LeaseTerms } from "../permit.js";
import { isAborted } from "../signals.js";
import type { Allowed } from "../verdict.js";

/** What a yes consists of. */
export interface Yes
  extends Pick<Allowed, "code" | "reason" | "requestId" | "approvers" | "proofs"> {
  readonly action: Action;
  readonly context: GateContext;
  readonly secrets: readonly string[];
  readonly event: EventMaker;
  /** Events of the decision that its performance is to write. */
  readonly unwritten?: readonly AuditEventInput[] | undefined;
  /** Where an earlier consent allows it. */
  readonly lease?: LeaseTerms;
}

/**
 * Why the action is denied at this moment, by the layers in force or because its agent is paused; a
 * part that fails denies.
 */
function denialNow(parts: JudgeParts, action: Action, context: GateContext): string | undefined {
  if (parts.shutdown.signal.aborted) return "the gate is closed";
  if (isAborted(context.signal)) return "the caller went away";
  const paused = parts.pausedAgent(context.agent);
  if (paused !== undefined) return paused;
  const { ruling, failure } = judgeNow(parts, { action, context });
  if (failure === "policy_failed") return `the policy could not be read: ${ruling.reason}`;
  return ruling.effect === "deny"
    ? `the layers in force deny it by now: ${ruling.reason}`
    : undefined;
}

/** A yes with its permit. */
export function allow(parts: PermitParts & JudgeParts, yes: Yes): Allowed {
  const { code, reason, action, context, secrets, event, unwritten } = yes;
  const { requestId, approvers, proofs, lease } = yes;
  const key = parts.recordKey();
  const terms = {
    gate: parts.identity,
    action,
    secrets,
    event,
    unwritten,
    clock: parts.clock,
    callerSignal: context.signal,
    shutdownSignal: parts.shutdown.signal,
    denialNow: () => denialNow(parts, action, context),
    isKeyGone: () => parts.recordKey() !== key,
    lease,
  };
  return issuePermit(terms, (permit) => {
    // The yes of a rule, written out: an object that spreads others costs more than the rule.
    if (requestId === undefined && approvers === undefined && proofs === undefined)
      return Object.freeze({ decision: "allow", code, reason, action, permit });
    return Object.freeze({
      decision: "allow",
      code,
      reason,
      action,
      permit,
      ...(requestId === undefined ? {} : { requestId }),
      ...(approvers === undefined ? {} : { approvers: Object.freeze([...approvers]) }),
      ...(proofs === undefined ? {} : { proofs }),
    });
  });
}
