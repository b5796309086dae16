/**
 * Audit events of a decision. What a release depends on is durable first: `append` is awaited
 * before a permit exists.
 */
import { parametersOf } from "../action/action-json.js";
import type { Action } from "../action/action.js";
import type { Agent } from "../types/agent.js";
import type { AuditEventInput, AuditReceipt, EventMaker, LoggedAt } from "../types/audit-event.js";
import { encodeRequest } from "../approval/request-codec.js";
import type { PendingRecord } from "../approval/pending-record.js";
import type { ConsentRequest } from "../approval/request.js";
import { mentionedPlaces } from "../guard/mentions.js";
import type { Evaluation, GateContext } from "./consent-gate.js";
import { actionDigest } from "../action/digest.js";
import type { JsonObject } from "../json/value.js";
import type { LogParts } from "./gate-parts.js";

/** What all events of one decision share. */
export interface EventSubject {
  readonly agent: string;
  readonly tool: string;
  readonly category: string;
  readonly riskLevel: string;
  readonly policyRule: string;
  readonly requestId: string;
  readonly startedAtMs: number;
  /** What the caller said the call belongs to. */
  readonly session?: string | undefined;
  readonly task?: string | undefined;
  /** The id that the caller gave the call. */
  readonly call?: string | undefined;
}

type EventParts = Pick<LogParts, "clock" | "ids" | "isolation">;

/** An event maker for one decision. */
export function eventMaker(
  subject: EventSubject,
  { clock, ids, isolation }: EventParts,
): EventMaker {
  const { agent, tool, category, riskLevel, policyRule, requestId, startedAtMs, session, task } =
    subject;
  const belongs =
    session === undefined && task === undefined
      ? undefined
      : { ...(session === undefined ? {} : { session }), ...(task === undefined ? {} : { task }) };
  const { call: given } = subject;
  let call = given;
  return (eventType, decision, metadata) => {
    const atMs = clock.now();
    const id = ids.next("ae");
    call ??= id;
    // The wall clock may have gone back meanwhile; a negative time would say nothing.
    const responseTimeMs = Math.max(0, Math.round(atMs - startedAtMs));
    const more = belongs === undefined ? metadata : { ...belongs, ...metadata };
    // Events of a question share its request id; those of a call share the id that its caller gave
    // it, or where there is no question that of its first event.
    const shared: JsonObject =
      requestId === "" || given !== undefined
        ? { call, isolation, ...more }
        : { isolation, ...more };
    return {
      id,
      atMs,
      eventType,
      requestId,
      agent,
      tool,
      category,
      riskLevel,
      decision,
      responseTimeMs,
      policyRule,
      metadata: shared,
    };
  };
}

/** An action as it was evaluated. */
export interface EvaluatedCall {
  readonly context: Pick<GateContext, "agent" | "session" | "task" | "call">;
  readonly action: Action;
  readonly evaluation: Evaluation;
  readonly startedAtMs: number;
}

/** Subject of the events of an evaluated action. */
export function subjectOfEvaluation({
  context,
  action,
  evaluation,
  startedAtMs,
}: EvaluatedCall): EventSubject {
  return {
    agent: context.agent.id,
    tool: action.name,
    category: evaluation.category,
    riskLevel: evaluation.level,
    policyRule: evaluation.ruling.ruleId,
    requestId: "",
    startedAtMs,
    session: context.session,
    task: context.task,
    call: context.call,
  };
}

/** What the events of a question say of it. */
type Asked = Pick<PendingRecord, "request" | "context" | "call">;

/** Subject of the events of a question. */
function subjectOfRecord({ request, context = {}, call }: Asked): EventSubject {
  const { action, policy } = request;
  return {
    agent: request.agent.id,
    tool: action.tool,
    category: action.category,
    riskLevel: policy.requiredLevel,
    policyRule: policy.ruleId,
    requestId: request.id,
    startedAtMs: request.createdAtMs,
    session: context.session,
    task: context.task,
    call,
  };
}

/** An event maker for what happens to a question. */
export function questionEvents(parts: EventParts, record: Asked): EventMaker {
  return eventMaker(subjectOfRecord(record), parts);
}

/**
 * Writes down one thing that happened to a question.
 *
 * @throws What the log throws.
 */
export function appendEvent(
  parts: LogParts,
  record: Asked,
  ...event: Parameters<EventMaker>
): Promise<AuditReceipt> {
  return parts.append([questionEvents(parts, record)(...event)]);
}

/** What every layer said, as metadata. */
export function rulingsJson({ rulings, ruling, layer, observed, failure }: Evaluation): JsonObject {
  const said = rulings.map((each) => ({
    layer: each.layer,
    effect: each.ruling?.effect ?? "abstain",
    rule: each.ruling?.ruleId ?? "",
  }));
  // Written out, as what nearly every call says: an object that spreads others costs more than a
  // rule.
  if (ruling.ruleName === undefined && failure === undefined && observed === undefined)
    return { layer, reason: ruling.reason, rulings: said };
  return {
    layer,
    reason: ruling.reason,
    ...(ruling.ruleName === undefined ? {} : { rule_name: ruling.ruleName }),
    rulings: said,
    ...(failure === undefined ? {} : { failure }),
    ...(observed === undefined
      ? {}
      : { observed: { effect: observed.effect, rule: observed.ruleId } }),
  };
}

/**
 * What is asked, as metadata. Where answers are signed the whole request stands in the log, text
 * included: a proof is over its hash, and nothing less can be hashed again. That is about twice the
 * parameters, once a question.
 */
export function requestedJson(
  { signer }: { readonly signer: unknown },
  request: ConsentRequest,
): JsonObject {
  const { actionDigest: digest, quorum } = request;
  return { digest, quorum, ...(signer === undefined ? {} : { request: encodeRequest(request) }) };
}

/** Where the log has an event, the last one of those that a receipt is for. */
export function loggedAt(
  { id: eventId }: AuditEventInput,
  receipt: AuditReceipt | undefined,
): LoggedAt {
  // A sink may be JavaScript and give no receipt.
  return receipt === undefined ? { eventId } : { eventId, seq: receipt.seq, hash: receipt.hash };
}

/** Places of credentials that an event names. */
const MENTIONS_MAX = 10;

/** What the agent wants, as metadata; secrets are placeholders at this point. */
export function interceptedJson(agent: Agent, action: Action): JsonObject {
  const { server, parameters } = parametersOf(action);
  const mentions = mentionedPlaces(parameters).slice(0, MENTIONS_MAX);
  const named = { kind: action.meta.kind, server, parameters, action_digest: actionDigest(action) };
  if (mentions.length === 0 && agent.parents === undefined) return named;
  return {
    ...named,
    ...(mentions.length === 0 ? {} : { mentions }),
    ...(agent.parents === undefined || agent.parents.length === 0
      ? {}
      : { parents: agent.parents }),
  };
}
