/**
 * QuestionView: a question as one person's page is told of it, and what that person's yes takes.
 * Format: spec/web-inbox.md §3.
 */
import { type ConsentRequest, type RiskLevel, confirmationWord, includesPerson } from "@acp/core";
import type { Person, Settings } from "./options.js";
import type { Entry } from "./questions.js";
import type { QuestionMessage } from "./wire.js";

const RANK: Readonly<Record<RiskLevel, number>> = { low: 0, medium: 1, high: 2, critical: 3 };

/** Whether approving this question needs a passkey: its rule says so, or its level does here. */
export function needsPasskey(
  { evidence, action, policy }: ConsentRequest,
  from: Settings["passkeyFrom"],
): boolean {
  if (evidence !== "any") return true;
  return (
    from !== "rules-only" &&
    Math.max(RANK[action.riskLevel], RANK[policy.requiredLevel]) >= RANK[from]
  );
}

/**
 * Whether a person may answer: `later` where a step of the escalation must come first. The gate has
 * the last word.
 */
export function mayAnswer(
  { question, carrier }: Pick<Entry, "question" | "carrier">,
  { approver, subject }: Person,
  nowMs: number,
): "yes" | "later" | "no" {
  const { approvers, escalation = [], createdAtMs } = question.request;
  if (carrier.subject !== undefined && carrier.subject !== subject) return "no";
  if (approvers !== undefined && !includesPerson(approvers, approver)) return "no";
  const at = escalation.findIndex((step) => includesPerson(step.approvers ?? [], approver));
  const own = escalation[at];
  if (own === undefined || nowMs >= createdAtMs + own.afterMs) return "yes";
  // A step that shows the question here was taken early, where nobody could be shown it before: so
  // were all before it.
  return escalation.slice(at).some(({ channel }) => channel === carrier.channel) ? "yes" : "later";
}

/** The question for one person. */
export function viewOf(
  entry: Entry,
  person: Person,
  { passkeyFrom, clock }: Pick<Settings, "passkeyFrom" | "clock">,
): QuestionMessage {
  const { question, carrier, wire, taken, have } = entry;
  return {
    request: wire,
    redelivery: question.redelivery,
    channel: carrier.channel,
    needs_passkey: needsPasskey(question.request, passkeyFrom),
    word: confirmationWord(question.request) ?? null,
    may_answer: mayAnswer(entry, person, clock.now()) === "yes",
    answered: taken.has(person.approver),
    have,
  };
}
