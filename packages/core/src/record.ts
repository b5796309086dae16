/**
 * Audit events of a decision. What a release depends on is durable first: `append` is awaited before a permit exists.
 */
import { parametersOf } from "./action.js";
import type { Action } from "./action.js";
import type { Evaluation } from "./consent-gate.js";
import { actionDigest } from "./digest.js";
import type { JsonObject } from "./json/value.js";
import type { Agent } from "./layers.js";
import type { AuditEventInput, AuditEventType, Clock, Ids } from "./ports.js";

/** What all events of one decision share. */
export interface EventSubject {
  readonly agent: Agent;
  readonly action: Action;
  readonly evaluation: Evaluation;
  readonly startedAtMs: number;
  readonly isolation: string;
}

/** What one event adds. */
export interface EventDetail {
  readonly requestId?: string;
  readonly decision?: string;
  readonly metadata?: JsonObject;
}

/** Makes the events of one decision. */
export interface EventMaker {
  (eventType: AuditEventType, detail?: EventDetail): AuditEventInput;
}

/** An event maker for one decision. */
export function eventMaker(subject: EventSubject, { clock, ids }: { readonly clock: Clock; readonly ids: Ids }): EventMaker {
  const { agent, action, evaluation, startedAtMs, isolation } = subject;
  const { tool } = parametersOf(action);
  return (eventType, { requestId = "", decision = "", metadata = {} } = {}) => {
    const atMs = clock.now();
    return {
      id: ids.next("ae"),
      atMs,
      eventType,
      requestId,
      agent: agent.id,
      tool,
      category: evaluation.category,
      riskLevel: evaluation.level,
      decision,
      // The wall clock may have gone back meanwhile; a negative time would say nothing.
      responseTimeMs: Math.max(0, atMs - startedAtMs),
      policyRule: evaluation.ruling.ruleId,
      metadata: { isolation, ...metadata },
    };
  };
}

const ruleName = (name: string | undefined): JsonObject => (name === undefined ? {} : { rule_name: name });

/** What every layer said, as metadata. */
export function rulingsJson({ rulings, ruling, layer, observed, failure }: Evaluation): JsonObject {
  return {
    layer,
    reason: ruling.reason,
    ...ruleName(ruling.ruleName),
    rulings: rulings.map((each) => ({ layer: each.layer, effect: each.ruling?.effect ?? "abstain", rule: each.ruling?.ruleId ?? "" })),
    ...(failure === undefined ? {} : { failure }),
    ...(observed === undefined ? {} : { observed: { effect: observed.effect, rule: observed.ruleId } }),
  };
}

/** What the agent wants, as metadata; secrets are placeholders at this point. */
export function interceptedJson({ action, agent }: EventSubject): JsonObject {
  const { server, parameters } = parametersOf(action);
  return {
    kind: action.meta.kind,
    server,
    parameters,
    action_digest: actionDigest(action),
    ...(agent.parents === undefined || agent.parents.length === 0 ? {} : { parents: agent.parents }),
  };
}
