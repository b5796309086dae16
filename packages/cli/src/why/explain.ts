/**
 * Explain: one decision, from its events. Pure: the rule's text and the proof's state are looked up
 * before.
 */
import { DENY_CODES } from "@acp/core";
import { QUESTION_END_TYPES } from "@acp/audit";
import type { AuditEvent } from "@acp/audit";
import type {
  DecidingRule,
  Earlier,
  Explanation,
  ProofStatus,
  RuleText,
  Run,
  Said,
  Verdict,
} from "./explanation.js";
import { objectAt, objectsAt, textAt, textsAt } from "./fields.js";
import { questionOf } from "./question.js";
import { type Story, eventOf, eventsOf } from "./story.js";

/** What is looked up beside the events. */
export interface Lookups {
  readonly texts?: readonly RuleText[];
  readonly missing?: string | undefined;
  readonly proof?: ProofStatus;
  readonly notices?: readonly Said[];
}

/** Why an action may go ahead, for people. */
const ALLOWED: Readonly<Record<string, string>> = {
  policy_allowed: "A rule or the policy's default allows the action; nobody was asked.",
  consent_approved: "A person approved the action.",
  consent_modified: "A person approved the action with other arguments.",
  grant_used: "An earlier approval that covers more than one call covers this one.",
};

/** Explains one decision. */
export function explain(story: Story, lookups: Lookups = {}): Explanation {
  const first = story.found[0];
  if (first === undefined) throw new RangeError("a story has events");
  const called = eventOf(story, "tool_call_intercepted");
  const asked = eventOf(story, "consent_requested");
  const shown = called ?? asked ?? first.event;
  const question = questionOf(story);
  const verdict = verdictOf(story);
  const earlier = earlierOf(story);
  const isolation = textAt(shown.metadata, "isolation");
  return {
    id: story.id,
    atMs: shown.atMs,
    log: first.log,
    seq: shown.seq,
    agent: shown.agent,
    parents: textsAt(called?.metadata, "parents"),
    action: actionOf(story, shown),
    category: shown.category,
    risk: shown.riskLevel,
    ...(isolation !== undefined && { isolation }),
    verdict,
    rule: ruleOf(story, lookups),
    ...(question !== undefined && { question }),
    ...(earlier !== undefined && { earlier }),
    run: runOf(story, verdict),
    proof: lookups.proof ?? { state: "none" },
    notices: lookups.notices ?? [],
    events: story.found.map(({ event }) => event.seq),
  };
}

function actionOf(story: Story, shown: AuditEvent): Explanation["action"] {
  const called = eventOf(story, "tool_call_intercepted")?.metadata;
  // An edited question has no call of its own; where it was signed, the whole question is there.
  const request = objectAt(eventOf(story, "consent_requested")?.metadata, "request");
  const proposed = objectAt(request, "action");
  const kind = textAt(called, "kind");
  const server = textAt(called, "server") ?? textAt(proposed, "server");
  const parameters = objectAt(called, "parameters") ?? objectAt(proposed, "parameters");
  const approved = objectAt(eventOf(story, "consent_approved")?.metadata, "approved_parameters");
  return {
    tool: shown.tool,
    ...(kind !== undefined && { kind }),
    ...(server !== undefined && { server }),
    ...(parameters !== undefined && { parameters }),
    ...(approved !== undefined && { approvedParameters: approved }),
  };
}

/** Why it was decided so, as the last word of the log is. */
function verdictOf(story: Story): Verdict {
  const end = eventOf(story, ...QUESTION_END_TYPES);
  if (end !== undefined) return endVerdict(story, end);
  const adopted = eventOf(story, "decision_adopted");
  if (adopted !== undefined) return adoptedVerdict(adopted);
  const granted = eventOf(story, "grant_used");
  if (granted !== undefined) return allowed("grant_used", undefined);
  const judged = eventOf(story, "policy_evaluated");
  const reason = textAt(judged?.metadata, "denied") ?? textAt(judged?.metadata, "reason");
  if (judged?.decision === "deny")
    return denied(textAt(judged.metadata, "code") ?? "policy_denied", reason);
  if (judged?.decision === "allow") return allowed("policy_allowed", reason);
  if (eventOf(story, "consent_requested") !== undefined) return openVerdict(story);
  return { standing: "unknown", ...(reason !== undefined && { reason }) };
}

function openVerdict(story: Story): Verdict {
  const waits =
    eventOf(story, "consent_deferred") === undefined
      ? "the question has no answer in the log yet"
      : "the question has no answer in the log yet; the agent was told to call again";
  return { standing: "open", reason: waits };
}

/** What ended a question, as the code that its caller got. */
const CODES: Readonly<Record<string, string>> = {
  consent_expired: "consent_expired",
  consent_cancelled: "consent_cancelled",
  consent_failed: "channel_failed",
};

function endVerdict(story: Story, end: AuditEvent): Verdict {
  const { eventType, metadata } = end;
  const reason = textAt(metadata, "reason");
  if (eventType === "consent_superseded")
    return { standing: "replaced", ...(reason !== undefined && { reason }) };
  if (eventType === "consent_approved") {
    const isEdited = objectAt(metadata, "approved_parameters") !== undefined;
    return allowed(isEdited ? "consent_modified" : "consent_approved", reason);
  }
  const code = textAt(metadata, "code");
  if (code !== undefined) return denied(code, reason);
  // Logs of before do not say the code.
  if (eventType !== "consent_denied") return failedVerdict(story, end);
  // Nobody denies a question whose agent is paused: the pause does.
  const isByPerson = textsAt(metadata, "approvers").length > 0;
  return denied(isByPerson ? "consent_denied" : "agent_paused", reason);
}

function failedVerdict(story: Story, { eventType, metadata }: AuditEvent): Verdict {
  const reason = textAt(metadata, "reason");
  const code = CODES[eventType];
  const isChannel = eventsOf(story, "consent_undelivered").length > 0;
  if (code !== undefined && (eventType !== "consent_failed" || isChannel))
    return denied(code, reason);
  const meaning = "A part of the gate failed before anybody had answered.";
  return { standing: "denied", meaning, ...(reason !== undefined && { reason }) };
}

function adoptedVerdict({ decision, metadata }: AuditEvent): Verdict {
  const from = textAt(metadata, "from_request") ?? "";
  const reason = `the same call was asked about before (${from}), and the answer was kept for it`;
  if (decision === "approved") return allowed("consent_approved", reason);
  if (decision === "approved_with_modifications") return allowed("consent_modified", reason);
  return denied(decision === "denied" ? "consent_denied" : `consent_${decision}`, reason);
}

function allowed(code: string, reason: string | undefined): Verdict {
  const meaning = ALLOWED[code];
  return {
    standing: "allowed",
    code,
    ...(meaning !== undefined && { meaning }),
    ...(reason !== undefined && { reason }),
  };
}

function denied(code: string, reason: string | undefined): Verdict {
  const row = Object.entries(DENY_CODES).find(([name]) => name === code)?.[1];
  return {
    standing: "denied",
    code,
    // A newer version may write codes that this one does not know.
    ...(row !== undefined && { meaning: row.meaning, remedy: row.remedy }),
    ...(reason !== undefined && { reason }),
  };
}

function ruleOf(story: Story, { texts = [], missing }: Lookups): DecidingRule {
  const judged = eventOf(story, "policy_evaluated");
  const name = textAt(judged?.metadata, "rule_name");
  return {
    id: judged?.policyRule ?? story.found[0]?.event.policyRule ?? "",
    ...(name !== undefined && { name }),
    layer: textAt(judged?.metadata, "layer") ?? "",
    effect: effectOf(judged),
    reason: textAt(judged?.metadata, "reason") ?? "",
    texts,
    ...(missing !== undefined && { missing }),
  };
}

/** What the rule said; the decision may be another one, as where questions are paused. */
function effectOf(judged: AuditEvent | undefined): string {
  if (judged === undefined) return "ask";
  const said = objectsAt(judged.metadata, "rulings").find(
    (ruling) => textAt(ruling, "rule") === judged.policyRule,
  );
  const code = textAt(judged.metadata, "code");
  const isOther = code !== undefined && code !== "policy_denied";
  return textAt(said, "effect") ?? (isOther ? "" : judged.decision);
}

function earlierOf(story: Story): Earlier | undefined {
  const event = eventOf(story, "grant_used", "decision_adopted");
  const question = textAt(event?.metadata, "from_request");
  if (event === undefined || question === undefined) return undefined;
  const grant = textAt(event.metadata, "grant");
  return {
    kind: event.eventType === "grant_used" ? "grant" : "decision",
    question,
    ...(grant !== undefined && { grant }),
    approvers: textsAt(event.metadata, "approvers"),
  };
}

const STATES: Readonly<Record<string, Run["state"]>> = {
  performed: "ran",
  cancelled: "ran",
  failed: "failed",
  not_performed: "not_run",
};

function runOf(story: Story, { standing }: Verdict): Run {
  const secrets = eventsOf(story, "credential_injected").flatMap(
    ({ metadata }) => textAt(metadata, "secret") ?? [],
  );
  const started = eventOf(story, "tool_call_forwarded");
  const end = eventOf(story, "tool_call_completed", "consent_not_collected", "outcome_unknown");
  const times = {
    secrets,
    ...(started !== undefined && { startedMs: started.atMs }),
    ...(end !== undefined && { endedMs: end.atMs }),
  };
  if (end !== undefined) return { ...times, ...endOf(end) };
  if (started !== undefined) return { ...times, state: "started" };
  if (standing === "allowed") return { ...times, state: "waiting" };
  return { ...times, state: "never" };
}

function endOf({ eventType, metadata }: AuditEvent): Pick<Run, "state" | "why" | "reported"> {
  const why = textAt(metadata, "reason") ?? textAt(metadata, "error");
  const outcome = textAt(metadata, "outcome") ?? "";
  const said = outcome === "cancelled" ? "whoever read its stream left before the end" : why;
  const more = said === undefined ? {} : { why: said };
  if (eventType === "consent_not_collected") return { state: "not_collected", ...more };
  if (eventType === "outcome_unknown") return { state: "unknown", ...more };
  return {
    state: STATES[outcome] ?? "unknown",
    ...more,
    ...(metadata["reported"] === true && { reported: true }),
  };
}
