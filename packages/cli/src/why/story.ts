/**
 * Story: all events of one decision. Events of a question share its id; those of a call without one
 * share the id of the call's first event. Pure.
 */
import { QUESTION_END_TYPES } from "@acp/audit";
import type { AuditEvent } from "@acp/audit";
import type { FoundEvent } from "./find-events.js";
import { numberAt, textAt } from "./fields.js";

/** The events of one decision, in the order of its log. */
export interface Story {
  /** ID of the question, else of the call. */
  readonly id: string;
  readonly found: readonly FoundEvent[];
}

/** Events that say how a call or a question was decided. */
const DECIDING: ReadonlySet<string> = new Set([
  "policy_evaluated",
  "consent_requested",
  ...QUESTION_END_TYPES,
  "decision_adopted",
  "grant_used",
]);

/** Whether an event says how something was decided. */
export function isDeciding({ eventType }: Pick<AuditEvent, "eventType">): boolean {
  return DECIDING.has(eventType);
}

/** ID that the events of a call without a question share. */
export function callOf({ id, eventType, metadata }: AuditEvent): string | undefined {
  return textAt(metadata, "call") ?? (eventType === "tool_call_intercepted" ? id : undefined);
}

/** Puts events together that belong to one decision; others are left out. */
export function storiesOf(found: readonly FoundEvent[]): readonly Story[] {
  const questionOf = new Map<string, string>();
  const callEnds = new Map<string, string>();
  for (const { event, log } of found) {
    const call = callOf(event);
    if (event.requestId !== "" && call !== undefined) questionOf.set(call, event.requestId);
    if (event.eventType === "tool_call_forwarded")
      callEnds.set(`${log} ${event.seq}`, event.requestId === "" ? (call ?? "") : event.requestId);
  }
  const stories = new Map<string, FoundEvent[]>();
  for (const each of found) {
    const key = keyOf(each, { questionOf, callEnds });
    if (key === undefined || key === "") continue;
    const story = stories.get(key) ?? [];
    stories.set(key, story);
    story.push(each);
  }
  return [...stories].map(([id, events]) => ({ id, found: events }));
}

interface Links {
  readonly questionOf: ReadonlyMap<string, string>;
  /** Which story a forwarded call belongs to, by log and number. */
  readonly callEnds: ReadonlyMap<string, string>;
}

function keyOf({ event, log }: FoundEvent, { questionOf, callEnds }: Links): string | undefined {
  if (event.requestId !== "") return event.requestId;
  const call = callOf(event);
  if (call !== undefined) return questionOf.get(call) ?? call;
  // The next process ends a call that its own one left, and names only the number.
  const forwarded = numberAt(event.metadata, "forwarded_seq");
  return forwarded === undefined ? undefined : callEnds.get(`${log} ${forwarded}`);
}

/** The first event of a type. */
export function eventOf(story: Story, ...types: readonly string[]): AuditEvent | undefined {
  return story.found.find(({ event }) => types.includes(event.eventType))?.event;
}

/** All events of a type. */
export function eventsOf(story: Story, type: string): readonly AuditEvent[] {
  return story.found.filter(({ event }) => event.eventType === type).map(({ event }) => event);
}
