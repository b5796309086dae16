/**
 * Event facts: what is kept of an event beside its line, for the index, which otherwise reads it in
 * the line again. Pure.
 */
import type { AuditEventInput } from "@acp/core";
import { STATE_EVENT_TYPES } from "@acp/core/unstable";
import { approversOf } from "./filter.js";
import type { LineFields } from "./log-index/line-fields.js";
import type { OpenSource } from "./open-work.js";

/** Of one event, as its line has it. A copy: the event is its caller's. */
export interface EventFacts extends LineFields, Omit<OpenSource, "metadata"> {
  readonly isolation: string;
  /** The number of the event that the end of a call names; `undefined` where it names none. */
  readonly forwardedSeq: number | undefined;
}

/** The newest event of these says how a file of the home stands. */
export const STATE_EVENTS: ReadonlySet<string> = new Set(STATE_EVENT_TYPES);

/** @param at - Where the event stands in the chain, and its hash. */
export function factsOf(
  event: AuditEventInput,
  { seq, hash }: Pick<EventFacts, "seq" | "hash">,
): EventFacts {
  const { agent, tool, decision, eventType, requestId, id, category, riskLevel, policyRule } =
    event;
  const { call, forwarded_seq: forwarded, isolation, approvers, approver } = event.metadata;
  return {
    agent,
    tool,
    decision,
    eventType,
    requestId,
    id,
    category,
    riskLevel,
    policyRule,
    call: typeof call === "string" ? call : undefined,
    approvers:
      approvers === undefined && approver === undefined ? NOBODY : approversOf(event.metadata),
    // As a timestamp says it.
    atMs: Math.trunc(event.atMs),
    responseTimeMs: event.responseTimeMs,
    seq,
    hash,
    isolation: typeof isolation === "string" ? isolation : "",
    forwardedSeq: Number.isSafeInteger(forwarded) ? Number(forwarded) : undefined,
  };
}

const NOBODY: readonly string[] = [];
