/**
 * Assembling a question from an evaluated action.
 */
import type { Action } from "../action/action.js";
import { actionToJson, parametersOf } from "../action/action-json.js";
import type { EscalationStep } from "../approval/escalation.js";
import type { PendingRecord } from "../approval/machine.js";
import type { ConsentRequest } from "../approval/request.js";
import { describeAction, renderText } from "../approval/text.js";
import type { Evaluation } from "./consent-gate.js";
import { actionDigest } from "../action/digest.js";
import type { Agent } from "../layers.js";
import type { MergedAsk } from "./merge-ask.js";
import type { GateParts } from "./parts.js";

/** What a question is made of. */
export interface QuestionSource {
  readonly agent: Agent;
  readonly action: Action;
  readonly evaluation: Evaluation;
  readonly ask: MergedAsk;
  readonly approvers: readonly string[] | undefined;
  /** Digest of the action the agent asked for first. */
  readonly originalDigest: string;
  readonly deferred: boolean;
}

/**
 * Names of the secrets that a yes or a standing consent releases: those that the rulings name. A person is also shown, and releases, those that
 * the action itself asks for; where nobody is asked, a name that no ruling has is not released, and the vault refuses it.
 */
export function secretsOf({ rulings, placeholders = [] }: Evaluation): readonly string[] {
  const named = rulings.flatMap(({ ruling }) => (ruling === undefined || ruling.effect === "deny" ? [] : (ruling.secrets ?? [])));
  return [...new Set([...named, ...placeholders])];
}

/** Whether what the judges see is critical, by level or by classification: then every call takes a person who types the word. */
export function isCriticalNow({ level, risk }: Evaluation): boolean {
  return level === "critical" || risk === "critical";
}

/** The steps with those of their people who may answer at all. */
function escalationOf({ ask, approvers, agent }: QuestionSource): Pick<ConsentRequest, "escalation"> {
  const mayAnswer = (id: string): boolean => approvers?.includes(id) ?? (id !== agent.id && !(agent.parents ?? []).includes(id));
  const steps = (ask.escalate ?? []).flatMap(({ approvers: named, ...step }): readonly EscalationStep[] => {
    const able = (named ?? []).filter(mayAnswer);
    if (able.length > 0) return [{ ...step, approvers: able }];
    return step.channel === undefined ? [] : [step];
  });
  return steps.length === 0 ? {} : { escalation: steps };
}

function makeRequest(source: QuestionSource, { clock, ids }: Pick<GateParts, "clock" | "ids">): ConsentRequest {
  const { agent, action, evaluation, ask, approvers } = source;
  const { tool, server, parameters } = parametersOf(action);
  const createdAtMs = clock.now();
  // A grant that several people or a critical level stand behind would outlive what they were asked.
  const mayGrant = ask.quorum === 1 && !isCriticalNow(evaluation);
  const question = {
    id: ids.next("cr"),
    createdAtMs,
    expiresAtMs: createdAtMs + ask.timeoutMs,
    agent,
    action: { tool, server, category: evaluation.category, riskLevel: evaluation.risk, parameters, description: describeAction(action) },
    policy: { ruleId: evaluation.ruling.ruleId, ruleName: evaluation.ruling.ruleName ?? "", requiredLevel: evaluation.level },
    nonce: ids.next("n"),
    actionDigest: actionDigest(action),
    quorum: ask.quorum,
    evidence: ask.evidence,
    offers: mayGrant ? ask.offers : [],
    secrets: secretsOf(evaluation),
    ...(approvers === undefined ? {} : { approvers }),
    ...escalationOf(source),
  };
  return Object.freeze({ ...question, text: renderText(question, evaluation.ruling.reason) });
}

/** A new question with its first record. */
export function makeRecord(source: QuestionSource, parts: Pick<GateParts, "clock" | "ids">): PendingRecord {
  const request = makeRequest(source, parts);
  return {
    id: request.id,
    version: 0,
    status: "created",
    request,
    agentId: source.agent.id,
    originalDigest: source.originalDigest,
    action: actionToJson(source.action),
    approvals: [],
    deferred: source.deferred,
    adopted: false,
  };
}
