/** Question: what people were asked about one decision, and what they answered. Pure. */
import { QUESTION_END_TYPES } from "@acp/audit";
import type { AuditEvent } from "@acp/audit";
import type { Answer, AskedQuestion, Refusal } from "./explanation.js";
import { numberAt, objectAt, objectsAt, textAt, textsAt } from "./fields.js";
import { type Story, eventOf, eventsOf } from "./story.js";

/** The question of a decision; `undefined` where nobody was asked. */
export function questionOf(story: Story): AskedQuestion | undefined {
  const asked = eventOf(story, "consent_requested");
  if (asked === undefined) return undefined;
  const end = eventOf(story, ...QUESTION_END_TYPES);
  const replaces = textAt(asked.metadata, "replaces");
  const successor = textAt(end?.metadata, "successor");
  return {
    id: asked.requestId,
    askedMs: asked.atMs,
    needed: numberAt(asked.metadata, "quorum") ?? 1,
    shown: unique(eventsOf(story, "consent_delivered").flatMap(channelOf)),
    notShown: eventsOf(story, "consent_undelivered").map(whyNotShown),
    escalations: eventsOf(story, "consent_escalated").length,
    ...(end !== undefined && { endedMs: end.atMs, end: end.decision }),
    answers: answersOf(story, asked, end),
    refused: eventsOf(story, "consent_refused").map(refusalOf),
    ...(replaces !== undefined && { replaces }),
    ...(successor !== undefined && { successor }),
  };
}

const unique = (texts: readonly string[]): readonly string[] => [...new Set(texts)];

/** `shown_by` names the part of a channel that is made of others. */
function channelOf({ metadata }: AuditEvent): readonly string[] {
  const by = textsAt(metadata, "shown_by");
  if (by.length > 0) return by;
  const one = textAt(metadata, "shown_by") ?? textAt(metadata, "channel");
  return one === undefined ? [] : [one];
}

function whyNotShown({ metadata }: AuditEvent): string {
  return `${textAt(metadata, "channel") ?? "a channel"}: ${textAt(metadata, "reason") ?? "unknown"}`;
}

function refusalOf({ atMs, metadata }: AuditEvent): Refusal {
  const channel = textAt(metadata, "channel");
  const subject = textAt(metadata, "subject");
  return {
    atMs,
    code: textAt(metadata, "code") ?? "",
    ...(channel !== undefined && { channel }),
    ...(subject !== undefined && { subject }),
  };
}

/** Who approved or denied: the people that the end names, and those who approved before it. */
function answersOf(
  story: Story,
  asked: AuditEvent,
  end: AuditEvent | undefined,
): readonly Answer[] {
  const counted = eventsOf(story, "consent_counted");
  const decision = end?.eventType === "consent_denied" ? "denied" : "approved";
  const named = textsAt(end?.metadata, "approvers");
  const earlier = counted.flatMap((event) => {
    const approver = textAt(event.metadata, "approver");
    if (approver === undefined || (decision === "denied" && named.includes(approver))) return [];
    return [answer({ approver, event, asked, decision: "approved" })];
  });
  const known = new Set(earlier.map(({ approver }) => approver));
  if (end === undefined) return earlier;
  const last = named
    .filter((approver) => !known.has(approver))
    .map((approver, index) =>
      answer({ approver, event: end, asked, decision, channel: channelFor(end, approver, index) }),
    );
  return [...earlier, ...last];
}

interface AnswerParts {
  readonly approver: string;
  readonly event: AuditEvent;
  readonly asked: AuditEvent;
  readonly decision: Answer["decision"];
  readonly channel?: string | undefined;
}

function answer({ approver, event, asked, decision, channel }: AnswerParts): Answer {
  const by = channel ?? textAt(event.metadata, "channel");
  const tookMs = event.atMs - asked.atMs;
  return {
    approver,
    ...(by !== undefined && { channel: by }),
    decision,
    atMs: event.atMs,
    // The wall clock may have gone back meanwhile; a negative time would say nothing.
    ...(tookMs >= 0 && { tookMs }),
  };
}

/** The signed answer says its own channel; without one the end's list does. */
function channelFor(end: AuditEvent, approver: string, index: number): string | undefined {
  const signed = objectsAt(end.metadata, "responses").find(
    (response) => textAt(objectAt(response, "approver"), "id") === approver,
  );
  const channels = textsAt(end.metadata, "channels");
  return textAt(objectAt(signed, "approver"), "channel") ?? channels[index] ?? channels.at(-1);
}
