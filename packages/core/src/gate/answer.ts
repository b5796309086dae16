/**
 * Answers: a claim is parsed, checked against its question and put through the reducer. A bad one
 * is refused and leaves the question open.
 */
import type { Action } from "../action/action.js";
import { parseAction, withParameters } from "../action/action-json.js";
import { type Advance, advanceQuestion } from "./advance-question.js";
import { endEvent, endQuestion, recordEnd } from "./end-question.js";
import { confirmationWord } from "../approval/confirmation.js";
import type { Grant } from "../approval/grants.js";
import { reduce } from "../approval/machine.js";
import type { AnswerTerms } from "../approval/machine-event.js";
import type { CountedApproval, PendingRecord } from "../approval/pending-record.js";
import { type ConsentResponse, decodeResponse, readClaim } from "../approval/response.js";
import { bootTimeOf } from "../boot-time.js";
import type { Evaluation } from "./consent-gate.js";
import { covers } from "./covers.js";
import { messageOf } from "./deny.js";
import { actionDigest } from "../action/digest.js";
import { type Answerer, readContext } from "./door.js";
import { checkEvidence } from "./evidence.js";
import { judge } from "./judge.js";
import { questionLeftMs } from "./kept-time.js";
import { reserve } from "./reserve.js";
import { type Answer, claimNonce, signAnswer } from "./sign-answer.js";
import { type EditedAction, makeSuccessor } from "./successor.js";
import type { JsonObject, JsonValue } from "../json/value.js";
import { DECISION_TTL_MS, TEXT_UNITS_MAX } from "../limits.js";
import { approverOf } from "./approvers.js";
import type { AnswerReceipt } from "../ports.js";
import { refuseAnswer, refuseFor } from "./refuse.js";
import { appendEvent, loggedAt, questionEvents, requestedJson } from "./record.js";
import type {
  AnswerParts,
  JudgeParts,
  LogParts,
  PeopleParts,
  QuestionParts,
  TimeParts,
} from "./gate-parts.js";
import type { AuditEventInput, AuditReceipt } from "../types/audit-event.js";
import type { RefusalCode } from "../types/ending.js";

/** A well-formed answer beside the question that it names. */
interface Submission {
  readonly record: PendingRecord;
  /** The answer as it came. */
  readonly wire: JsonValue;
  readonly response: ConsentResponse;
  readonly by: Answerer;
}

/** What an accepted claim amounts to. */
interface Checked {
  readonly record: PendingRecord;
  readonly response: ConsentResponse;
  readonly approval: CountedApproval;
}

function check(
  parts: Pick<AnswerParts, "clock" | "approvers">,
  { record, response, by }: Submission,
): Checked | RefusalCode {
  const { request } = record;
  // A wall clock set back since the question was asked must not put the answer before it: no proof
  // would hold.
  const nowMs = Math.max(parts.clock.now(), request.createdAtMs);
  if (record.status === "ended" || questionLeftMs(parts, record) === 0) return "request_ended";
  if (response.nonce !== request.nonce) return "nonce_mismatch";
  const approverId = approverOf(parts, by);
  if (approverId === undefined) return "approver_unknown";
  // The offers are for the call as it was proposed: who changes it does not want that one.
  const offers = response.decision === "approved" ? request.offers : [];
  if (response.grantId !== undefined && !offers.some(({ id }) => id === response.grantId))
    return "grant_not_offered";
  if (response.validUntilMs !== undefined && !(response.validUntilMs > nowMs))
    return "response_invalid";
  const word = confirmationWord(request);
  // Whatever else a channel does, one tap, one key and a batch never say yes to what is critical.
  if (response.decision !== "denied" && word !== undefined && response.confirmation !== word)
    return "confirmation_required";
  return { record, response, approval: { approverId, channel: by.channel, atMs: nowMs } };
}

const termsOf = ({ response, approval }: Checked): AnswerTerms => ({
  reason: response.reason,
  validUntilMs: response.validUntilMs ?? approval.atMs + DECISION_TTL_MS,
  ...(response.grantId === undefined ? {} : { grantId: response.grantId }),
  ...(response.confirmation === undefined ? {} : { confirmation: response.confirmation }),
});

/** The grant that a yes gives beside the answer, with what its proof is verified with again. */
function grantOf(
  parts: Pick<TimeParts, "clock" | "ids">,
  { record, response, approval }: Checked,
  ended: PendingRecord,
): Grant | undefined {
  const { request } = record;
  const responses = ended.end?.responses;
  const offer = request.offers.find((each) => each.id === response.grantId);
  if (offer === undefined) return undefined;
  return {
    id: parts.ids.next("gr"),
    agentId: record.agentId,
    scope: offer.scope,
    createdAtMs: approval.atMs,
    expiresAtMs: approval.atMs + offer.ttlMs,
    created: bootTimeOf(parts.clock),
    ...(offer.uses === undefined ? {} : { uses: offer.uses, usesLeft: offer.uses }),
    requestId: record.id,
    approverIds: [approval.approverId],
    evidence: request.evidence,
    secrets: request.secrets,
    ...(responses === undefined ? {} : { request, responses }),
  };
}

/**
 * Records an end that a person gave; a grant that came with it exists only after its event is
 * durable.
 */
async function settleEnd(
  parts: QuestionParts,
  checked: Checked,
  ended: PendingRecord,
): Promise<AnswerReceipt> {
  const grant = grantOf(parts, checked, ended);
  const end = endEvent(parts, ended);
  const events: AuditEventInput[] = [end];
  if (grant !== undefined) {
    const metadata: JsonObject = {
      grant: grant.id,
      scope: { ...grant.scope },
      expires_at_ms: grant.expiresAtMs,
      uses: grant.usesLeft ?? null,
    };
    events.push(questionEvents(parts, ended)("grant_created", "approved", metadata));
  }
  // Kept before the caller goes on: its next call may come at once. A yes stands also where its
  // grant cannot be kept.
  let grantError: unknown;
  const beforeSeen = async (receipt: AuditReceipt): Promise<void> => {
    if (grant === undefined) return;
    const logged = loggedAt(events.at(-1) ?? end, receipt);
    await parts
      .within(parts.store.grants.put({ ...grant, logged }), "the store")
      .catch((error: unknown) => (grantError = error));
  };
  const recorded = await recordEnd(parts, ended, { events, beforeSeen });
  const outcome = recorded.ok ? recorded.record.end?.status : undefined;
  if (outcome === undefined) return refuseAnswer("store_failed");
  if (grantError !== undefined)
    return refuseAnswer(
      "store_failed",
      `the answer was taken, and what else it covers could not be kept: ${messageOf(grantError)}`,
    );
  return { status: "final", outcome };
}

/** Ends the question where the answer that would have ended it cannot be signed. */
async function failUnsigned(
  parts: QuestionParts,
  { id }: PendingRecord,
  error: unknown,
): Promise<AnswerReceipt> {
  const reason = `the answer could not be signed: ${messageOf(error)}`;
  const isFirst = await endQuestion(parts, id, {
    type: "fail",
    reason,
    denyCode: "signer_failed",
  });
  return isFirst ? { status: "final", outcome: "failed" } : refuseAnswer("request_ended");
}

async function settle(
  parts: QuestionParts & PeopleParts,
  checked: Checked,
  answer: Answer,
): Promise<AnswerReceipt> {
  // Looked at before anything is claimed or signed: what would be refused leaves no trace but its
  // refusal.
  const foreseen = reduce(checked.record, answer);
  if (!foreseen.ok) return refuseFor(checked.record, foreseen.code);
  if (!(await claimNonce(parts, checked.record, answer)))
    return refuseAnswer("already_answered", "this answer was taken before");
  let event: Answer;
  try {
    event = await signAnswer(parts, checked.record, answer);
  } catch (error) {
    return failUnsigned(parts, checked.record, error);
  }
  const advanced: Advance = await advanceQuestion(parts, checked.record.id, event);
  if (!advanced.ok) return refuseFor(advanced.record, advanced.code);
  const { record } = advanced;
  if (record.status === "ended") return settleEnd(parts, checked, record);
  const have = record.approvals.length;
  const need = record.request.quorum;
  const metadata: JsonObject = {
    approver: checked.approval.approverId,
    channel: checked.approval.channel,
    have,
    need,
  };
  try {
    await appendEvent(parts, record, "consent_counted", "pending", metadata);
  } catch (error) {
    return refuseAnswer("audit_failed", messageOf(error));
  }
  return { status: "counted", have, need };
}

/** Puts the edited action to the people as a new question in the place of the old one. */
async function reshow(
  parts: QuestionParts & PeopleParts,
  checked: Checked,
  edited: EditedAction,
): Promise<AnswerReceipt> {
  const { record, approval } = checked;
  const successor = makeSuccessor(parts, { record, nowMs: approval.atMs }, edited);
  if (successor === undefined)
    return refuseAnswer("modification_denied", "nobody may approve the edited action");
  if (successor.request.text.length > TEXT_UNITS_MAX)
    return refuseAnswer("modification_denied", "the edited action is too large to be shown whole");
  const requested = questionEvents(parts, successor)("consent_requested", "ask", {
    ...requestedJson(parts, successor.request),
    replaces: record.id,
    editor: approval.approverId,
  });
  // It is kept before the log has its event: only what is kept can take the other's place.
  const kept = { ...successor, logged: loggedAt(requested, undefined) };
  if (!(await parts.within(parts.store.pending.put(kept), "the store")))
    return refuseAnswer("store_failed");
  const advanced = await advanceQuestion(parts, record.id, {
    type: "supersede",
    approval,
    successorId: successor.id,
  });
  if (!advanced.ok) {
    await endQuestion(parts, successor.id, {
      type: "cancel",
      reason: "the question it replaces was over",
      denyCode: "consent_cancelled",
    });
    return refuseFor(advanced.record, advanced.code);
  }
  const recorded = await recordEnd(parts, advanced.record, {
    events: [endEvent(parts, advanced.record), requested],
  });
  if (!recorded.ok || recorded.record.end?.status !== "superseded") {
    await endQuestion(parts, successor.id, {
      type: "fail",
      reason: "the audit log failed",
      denyCode: "audit_failed",
    });
    return { status: "final", outcome: "failed" };
  }
  return { status: "reshow", request: successor.request };
}

/**
 * The call as it was asked about, with its parameters edited, and what everybody who judges calls
 * says of it.
 */
async function judgeEdit(
  parts: JudgeParts,
  record: PendingRecord,
  action: Action,
): Promise<EditedAction> {
  // Read again: the record comes from a store.
  const context = readContext({ ...record.context, agent: record.request.agent });
  return { action, evaluation: await judge(parts, { action, context }) };
}

function deniedEdit({ ruling, failure }: Evaluation): AnswerReceipt {
  if (failure === "arguments_invalid")
    return refuseAnswer(
      "modification_invalid",
      `the edited arguments do not fit the tool: ${ruling.reason}`,
    );
  return refuseAnswer("modification_denied", `the edited action is denied: ${ruling.reason}`);
}

async function takeModification(
  parts: AnswerParts,
  checked: Checked,
  modifications: JsonObject,
): Promise<AnswerReceipt> {
  const { record, approval } = checked;
  let action: Action;
  try {
    action = withParameters(parseAction(record.action), modifications);
  } catch (error) {
    return refuseAnswer("modification_invalid", messageOf(error));
  }
  const effectiveDigest = actionDigest(action);
  const terms = termsOf(checked);
  if (effectiveDigest === record.request.actionDigest)
    return settle(parts, checked, { type: "approve", approval, terms });
  const answer = { type: "modify", approval, terms, modifications, effectiveDigest } as const;
  // Whoever may not answer has nothing judged or reserved.
  const foreseen = reduce(record, answer);
  if (!foreseen.ok) return refuseFor(record, foreseen.code);
  const edited = await judgeEdit(parts, record, action);
  if (edited.evaluation.ruling.effect === "deny") return deniedEdit(edited.evaluation);
  const limited = await reserve(parts, edited.evaluation, record.reserved);
  if (limited !== undefined) return refuseAnswer("rate_limited");
  // A modification resets a quorum, and stricter terms need a new look: both are a new question.
  if (record.request.quorum > 1 || !covers(record.request, edited.evaluation))
    return reshow(parts, checked, edited);
  return settle(parts, checked, answer);
}

/** Has the proof judged that came with an answer; what it proves is what is recorded. */
async function withEvidence(
  parts: AnswerParts,
  checked: Checked,
  wire: JsonValue,
): Promise<AnswerReceipt> {
  const { record, response, approval } = checked;
  const evidence = await checkEvidence(parts, {
    wire,
    response,
    request: record.request,
    approval,
  });
  if ("refused" in evidence) return refuseAnswer(evidence.refused, evidence.reason);
  if (evidence.proven === undefined) return decide(parts, checked);
  return decide(parts, { ...checked, approval: { ...approval, response: evidence.proven } });
}

async function decide(parts: AnswerParts, checked: Checked): Promise<AnswerReceipt> {
  const { response, approval } = checked;
  switch (response.decision) {
    case "approved":
      return settle(parts, checked, { type: "approve", approval, terms: termsOf(checked) });
    case "denied":
      return settle(parts, checked, { type: "deny", approval, terms: termsOf(checked) });
    case "approved_with_modifications":
      return takeModification(parts, checked, response.modifications ?? {});
    default:
      return response.decision satisfies never;
  }
}

/**
 * A refused answer is worth a line in the log; that it cannot be written changes nothing, since
 * nothing was released.
 */
async function noteRefusal(
  parts: LogParts,
  { record, by }: Submission,
  receipt: AnswerReceipt,
): Promise<void> {
  if (receipt.status !== "refused") return;
  const metadata = { code: receipt.code, channel: by.channel, subject: by.subject };
  await appendEvent(parts, record, "consent_refused", "refused", metadata).catch(() => undefined);
}

/**
 * Takes one answer. Never rejects. With `reshow` the caller shows the new question.
 *
 * @param claim - S0 §4.2's JSON as text, bytes or object.
 * @param by - Who the channel authenticated; the claim's own `approver` is not looked at.
 */
export async function takeAnswer(
  parts: AnswerParts,
  claim: unknown,
  by: Answerer | undefined,
): Promise<AnswerReceipt> {
  if (by === undefined) return refuseAnswer("approver_unknown");
  let wire: JsonValue;
  let response: ConsentResponse;
  try {
    wire = readClaim(claim);
    response = decodeResponse(wire);
  } catch (error) {
    return refuseAnswer("response_invalid", messageOf(error));
  }
  let record: PendingRecord | undefined;
  try {
    record = await parts.within(parts.store.pending.get(response.requestId), "the store");
    if (record === undefined) return refuseAnswer("request_unknown");
    const submission = { record, wire, response, by };
    const checked = check(parts, submission);
    const receipt =
      typeof checked === "string"
        ? refuseFor(record, checked)
        : await withEvidence(parts, checked, wire);
    await noteRefusal(parts, submission, receipt);
    return receipt;
  } catch (error) {
    return refuseAnswer("store_failed", `the answer could not be kept: ${messageOf(error)}`);
  }
}
