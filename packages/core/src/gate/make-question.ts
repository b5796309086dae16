/**
 * Assembling a question from an evaluated action.
 */
import type { Action } from "../action/action.js";
import { actionToJson, parametersOf } from "../action/action-json.js";
import type { EscalationStep } from "../approval/escalation.js";
import type { PendingRecord } from "../approval/pending-record.js";
import { includesPerson, isSamePerson } from "../approval/person.js";
import type { ConsentRequest } from "../approval/request.js";
import { describeAction, renderText } from "../approval/text.js";
import { bootTimeOf } from "../boot-time.js";
import type { Evaluation, GateContext } from "./consent-gate.js";
import { actionDigest } from "../action/digest.js";
import { questionContext } from "./door.js";
import { frozenCopy } from "../json/own.js";
import type { MergedAsk } from "./merge-ask.js";
import type { TimeParts } from "./gate-parts.js";
import { type Reserved, reservedBy } from "./reserve.js";

/** What a question is made of. */
export interface QuestionSource {
  /** Of the call, as the door read it. */
  readonly context: Omit<GateContext, "signal">;
  readonly action: Action;
  readonly evaluation: Evaluation;
  readonly ask: MergedAsk;
  readonly approvers: readonly string[] | undefined;
  /** Digest of the action the agent asked for first. */
  readonly originalDigest: string;
  readonly deferred: boolean;
  /** What the question in whose place it comes took of limited allowances. */
  readonly reserved?: readonly Reserved[] | undefined;
}

const NO_SECRETS: readonly string[] = Object.freeze([]);

/**
 * Names of the secrets that a yes or a standing consent releases: those that the rulings name. A
 * person is also shown, and releases, those that the action itself asks for; where nobody is asked,
 * a name that no ruling has is not released, and the vault refuses it.
 */
export function secretsOf({ rulings, placeholders = [] }: Evaluation): readonly string[] {
  if (placeholders.length === 0 && !rulings.some(({ ruling }) => ruling?.secrets !== undefined))
    return NO_SECRETS;
  const named = rulings.flatMap(({ ruling }) =>
    ruling === undefined || ruling.effect === "deny" ? [] : (ruling.secrets ?? []),
  );
  return [...new Set([...named, ...placeholders])];
}

/**
 * Whether what the judges see is critical, by level or by classification: then every call takes a
 * person who types the word.
 */
export function isCriticalNow({ level, risk }: Evaluation): boolean {
  return level === "critical" || risk === "critical";
}

/** The steps with those of their people who may answer at all. */
function escalationOf({
  ask,
  approvers,
  context: { agent },
}: QuestionSource): Pick<ConsentRequest, "escalation"> {
  const excluded = [agent.id, ...(agent.parents ?? [])];
  // Spelled as among the approvers, so that everybody who shows the question finds them.
  const ableOf = (id: string): readonly string[] => {
    if (approvers === undefined) return includesPerson(excluded, id) ? [] : [id];
    return approvers.filter((each) => isSamePerson(each, id));
  };
  const steps = (ask.escalate ?? []).flatMap(
    ({ approvers: named, ...step }): readonly EscalationStep[] => {
      const able = (named ?? []).flatMap(ableOf);
      if (able.length > 0) return [{ ...step, approvers: able }];
      return step.channel === undefined ? [] : [step];
    },
  );
  return steps.length === 0 ? {} : { escalation: steps };
}

function makeRequest(
  source: QuestionSource,
  { clock, ids }: Pick<TimeParts, "clock" | "ids">,
): ConsentRequest {
  const { context, action, evaluation, ask, approvers } = source;
  const { tool, server, parameters } = parametersOf(action);
  const createdAtMs = clock.now();
  // A grant that several people or a critical level stand behind would outlive what they were
  // asked.
  const mayGrant = ask.quorum === 1 && !isCriticalNow(evaluation);
  const question = {
    id: ids.next("cr"),
    createdAtMs,
    expiresAtMs: createdAtMs + ask.timeoutMs,
    agent: context.agent,
    action: {
      tool,
      server,
      category: evaluation.category,
      riskLevel: evaluation.risk,
      parameters,
      description: describeAction(action),
    },
    policy: {
      ruleId: evaluation.ruling.ruleId,
      ruleName: evaluation.ruling.ruleName ?? "",
      requiredLevel: evaluation.level,
    },
    nonce: ids.next("n"),
    actionDigest: actionDigest(action),
    quorum: ask.quorum,
    evidence: ask.evidence,
    offers: mayGrant ? ask.offers : [],
    secrets: secretsOf(evaluation),
    ...(approvers === undefined ? {} : { approvers }),
    ...escalationOf(source),
  };
  // Its channel holds it while it is open: nothing of it may change.
  const text = renderText(question, evaluation.ruling.reason, context.tool);
  return frozenCopy({ ...question, text });
}

/** A new question with its first record. */
export function makeQuestion(
  source: QuestionSource,
  parts: Pick<TimeParts, "clock" | "ids">,
): PendingRecord {
  const request = makeRequest(source, parts);
  return {
    id: request.id,
    version: 0,
    status: "created",
    request,
    agentId: source.context.agent.id,
    ...questionContext(source.context),
    ...(source.context.call === undefined ? {} : { call: source.context.call }),
    originalDigest: source.originalDigest,
    action: actionToJson(source.action),
    approvals: [],
    deferred: source.deferred,
    adopted: false,
    ...reservedBy(source.evaluation, source.reserved),
    asked: bootTimeOf(parts.clock),
  };
}
