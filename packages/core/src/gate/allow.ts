/** Allowing: a Verdict with a fresh permit. Called only after the decision's events are durable. */
import type { Action } from "../action/action.js";
import type { GateContext } from "./consent-gate.js";
import { messageOf } from "./deny.js";
import { evaluate } from "./evaluate.js";
import type { Facts } from "../layers.js";
import type { GateParts } from "./parts.js";
import { issuePermit, type LeaseTerms } from "../permit.js";
import type { EventMaker } from "./record.js";
import type { Allowed } from "../verdict.js";

/** What a yes consists of. */
export interface Yes extends Pick<Allowed, "code" | "reason" | "requestId" | "approvers" | "proofs"> {
  readonly action: Action;
  readonly context: GateContext;
  readonly secrets: readonly string[];
  readonly event: EventMaker;
  /** Where an earlier consent allows it. */
  readonly lease?: LeaseTerms;
}

/** What layers may know of a call. */
export function factsOf({ agent, session, task }: Pick<GateContext, "agent" | "session" | "task">, nowMs: number): Facts {
  return { agent, nowMs, ...(session === undefined ? {} : { session }), ...(task === undefined ? {} : { task }) };
}

/** Why the layers in force at this moment deny the action; a part that fails denies. */
function denialNow(parts: GateParts, action: Action, context: GateContext): string | undefined {
  if (parts.shutdown.signal.aborted) return "the gate is closed";
  if (context.signal?.aborted === true) return "the caller went away";
  try {
    const { ruling } = evaluate(parts.judges(), action, factsOf(context, parts.clock.now()));
    return ruling.effect === "deny" ? `the layers in force deny it by now: ${ruling.reason}` : undefined;
  } catch (error) {
    return `the policy could not be read: ${messageOf(error)}`;
  }
}

/** A yes with its permit. */
export function allow(parts: GateParts, yes: Yes): Allowed {
  const { code, reason, action, context, secrets, event, requestId, approvers, proofs, lease } = yes;
  const permit = issuePermit({
    action,
    secrets,
    event,
    clock: parts.clock,
    callerSignal: context.signal,
    shutdownSignal: parts.shutdown.signal,
    denialNow: () => denialNow(parts, action, context),
    ...(lease === undefined ? {} : { lease }),
  });
  return Object.freeze({
    decision: "allow",
    code,
    reason,
    action,
    permit,
    ...(requestId === undefined ? {} : { requestId }),
    ...(approvers === undefined ? {} : { approvers }),
    ...(proofs === undefined ? {} : { proofs }),
  });
}
