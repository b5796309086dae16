/**
 * Load: the stories that a command line asks about, whole: a story of which only a part was in the
 * stretch that was read gets the rest.
 */
import { QUESTION_END_TYPES } from "@acp/audit";
import type { AuditEvent } from "@acp/audit";
import type { FindEvents, FoundEvent } from "./find-events.js";
import { numberAt, textAt } from "./fields.js";
import { type Story, callOf, eventOf, isDeciding, storiesOf } from "./story.js";
import type { When } from "./when.js";

/**
 * How long before and after the stretch asked about the parts of its stories are looked for; those
 * of which a part lies further away are looked up one by one.
 */
const MARGIN_MS = 5 * 60_000;
/** Among so many of the last events of each log a mistyped ID is looked for. */
const NEAR_EVENTS_MAX = 500;
/** No two IDs of today have the same beginning of this length; a longer one is looked up. */
const NEAR_CHARS = 11;
/** A call's end that names only the number of its event is written just after it. */
const END_EVENTS_MAX = 1_000;

const CALL_ENDS = ["tool_call_completed", "outcome_unknown"];

/** What an ID names. */
export type ById =
  | { readonly kind: "story"; readonly story: Story }
  | { readonly kind: "several"; readonly ids: readonly string[] }
  | { readonly kind: "none"; readonly near: readonly string[] };

const WHOLE = /^(?:cr|ae)_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * Finds a decision by the ID of its question, its call or one of its events, whole or the beginning
 * of it, or by the number of one of its events.
 */
export async function loadById(find: FindEvents, given: string): Promise<ById> {
  if (WHOLE.test(given) && given.startsWith("cr_")) {
    const story = await loadQuestion(find, given);
    if (story !== undefined) return { kind: "story", story };
  }
  const seq = /^\d{1,15}$/.test(given) ? Number(given) : undefined;
  const matches = new Map<string, FoundEvent>();
  const questions = new Map<string, string>();
  const filter = seq === undefined ? { id: given } : { fromSeq: seq, beforeSeq: seq + 1 };
  for await (const found of find({ filter })) {
    const { event } = found;
    const call = callOf(event);
    const own = event.requestId === "" ? call : event.requestId;
    if (own === undefined) continue;
    if (call !== undefined && event.requestId !== "") questions.set(call, event.requestId);
    if (!matches.has(own)) matches.set(own, found);
  }
  // A question and the call that asked it are the same decision.
  const ids = new Set([...matches.keys()].map((id) => questions.get(id) ?? id));
  const exact = matches.get(questions.get(given) ?? given) ?? matches.get(given);
  const [only] = matches.values();
  const found = exact ?? (ids.size === 1 ? only : undefined);
  if (found !== undefined) return { kind: "story", story: await loadAround(find, found) };
  if (ids.size > 0) return { kind: "several", ids: [...ids] };
  return { kind: "none", near: seq === undefined ? await findNear(find, given) : [] };
}

/**
 * IDs that differ from the one looked for by a mistyped letter or two: of those that begin as it
 * does, and of the last ones.
 */
async function findNear(find: FindEvents, given: string): Promise<readonly string[]> {
  const near = new Set<string>();
  const note = (event: AuditEvent): void => {
    const id = event.requestId === "" ? callOf(event) : event.requestId;
    if (id !== undefined && isNear(id, given)) near.add(id);
  };
  if (given.length > NEAR_CHARS)
    for await (const { event } of find({ filter: { id: given.slice(0, NEAR_CHARS) } })) note(event);
  if (near.size > 0) return [...near];
  for await (const { event } of find({ isBackward: true, limit: NEAR_EVENTS_MAX })) note(event);
  return [...near];
}

/** Whether two texts differ in at most two letters, or in one that is missing. */
export function isNear(one: string, other: string): boolean {
  if (one.length === other.length) {
    let different = 0;
    for (let at = 0; at < one.length; at += 1) if (one[at] !== other[at]) different += 1;
    return different <= 2;
  }
  const [long, short] = one.length > other.length ? [one, other] : [other, one];
  if (long.length - short.length > 1) return false;
  let at = 0;
  while (at < short.length && long[at] === short[at]) at += 1;
  return long.slice(at + 1) === short.slice(at);
}

/** The whole story that an event belongs to. */
async function loadAround(find: FindEvents, { event, log }: FoundEvent): Promise<Story> {
  if (event.requestId !== "") {
    const story = await loadQuestion(find, event.requestId);
    if (story !== undefined) return story;
  }
  const call = callOf(event) ?? event.id;
  const found: FoundEvent[] = [];
  let question: string | undefined;
  // A call's events begin with the one that gives it its name, but any of them may be named.
  const where = (other: AuditEvent): boolean => callOf(other) === call;
  for await (const each of find({ filter: { id: call }, log, where })) {
    found.push(each);
    if (each.event.requestId !== "") question = each.event.requestId;
  }
  const asked = question === undefined ? undefined : await loadQuestion(find, question);
  return asked ?? completed(find, { id: call, found });
}

/** A question with the call that asked it; `undefined` where no log has it. */
export async function loadQuestion(find: FindEvents, id: string): Promise<Story | undefined> {
  const found: FoundEvent[] = [];
  for await (const each of find({ filter: { requestId: id } })) found.push(each);
  if (found.length === 0) return undefined;
  const asked = found.find(({ event }) => event.eventType === "consent_requested");
  const call = asked === undefined ? undefined : textAt(asked.event.metadata, "call");
  if (asked === undefined || call === undefined) return { id, found };
  const where = (event: AuditEvent): boolean => event.requestId === "" && callOf(event) === call;
  const filter = { id: call, beforeSeq: asked.event.seq };
  const before: FoundEvent[] = [];
  for await (const each of find({ filter, log: asked.log, where })) before.push(each);
  return { id, found: [...before, ...found] };
}

/** A call that was forwarded, with its end however late it came. */
async function completed(find: FindEvents, story: Story): Promise<Story> {
  const forwarded = story.found.find(({ event }) => event.eventType === "tool_call_forwarded");
  const isOpen =
    forwarded !== undefined &&
    eventOf(story, "tool_call_completed", "outcome_unknown") === undefined;
  if (!isOpen) return story;
  const { event, log } = forwarded;
  const { seq, agent } = event;
  const call = callOf(event);
  const ofCall = { id: call ?? event.id, fromSeq: seq + 1, eventType: CALL_ENDS };
  // The next process names the number alone, and so does one that writes an end at once.
  const soon = { agent, fromSeq: seq + 1, beforeSeq: seq + END_EVENTS_MAX, eventType: CALL_ENDS };
  const later = { agent, fromSeq: seq + 1, eventType: "outcome_unknown" };
  const where = ({ metadata }: AuditEvent): boolean => numberAt(metadata, "forwarded_seq") === seq;
  for (const query of [
    { filter: ofCall, log, where: (other: AuditEvent) => callOf(other) === call },
    { filter: soon, log, where },
    { filter: later, log, where },
  ])
    for await (const each of find(query)) return { ...story, found: [...story.found, each] };
  return story;
}

/** What to look for in a stretch of time. */
export interface TimeQuery {
  readonly when: Pick<When, "fromMs" | "toMs">;
  readonly agent?: string | undefined;
}

/** What was found in it. */
export interface InTime {
  /** In the order of their first events. */
  readonly stories: readonly Story[];
  /** Notices of denials that were counted and not written one by one. */
  readonly counted: readonly FoundEvent[];
}

/** The decisions of which a deciding event lies in a stretch of time. */
export async function loadInTime(
  find: FindEvents,
  { when: { fromMs, toMs }, agent }: TimeQuery,
): Promise<InTime> {
  const filter = {
    sinceMs: fromMs - MARGIN_MS,
    untilMs: toMs + MARGIN_MS,
    ...(agent !== undefined && { agent }),
  };
  // By the log's order too: a clock that was wrong puts nothing elsewhere.
  const isInside = (each: FoundEvent): boolean => inside.has(placeOf(each));
  const found: FoundEvent[] = [];
  for await (const each of find({ filter })) found.push(each);
  const inside = new Set<string>();
  for await (const each of find({ filter: { ...filter, sinceMs: fromMs, untilMs: toMs } }))
    inside.add(placeOf(each));
  const counted = found.filter(
    (each) =>
      each.event.metadata["notice"] === "denials_counted" && overlaps(each.event, fromMs, toMs),
  );
  const stories: Story[] = [];
  for (const story of storiesOf(found))
    if (story.found.some((each) => isInside(each) && isDeciding(each.event)))
      stories.push(isWhole(story) ? story : await wholeOf(find, story));
  return { stories: stories.sort((one, other) => startOf(one) - startOf(other)), counted };
}

const placeOf = ({ log, event }: FoundEvent): string => `${log} ${event.seq}`;

function overlaps({ atMs, metadata }: AuditEvent, fromMs: number, toMs: number): boolean {
  const first = numberAt(metadata, "first_ms") ?? atMs;
  const last = numberAt(metadata, "last_ms") ?? atMs;
  return first < toMs && last >= fromMs;
}

const startOf = ({ found: [first] }: Story): number => first?.event.atMs ?? 0;

/** Whether a story has its beginning and its end. */
function isWhole(story: Story): boolean {
  const isBegun = eventOf(story, "tool_call_intercepted") !== undefined;
  const isAsked = eventOf(story, "consent_requested") !== undefined;
  const end = eventOf(story, ...QUESTION_END_TYPES);
  const needsRun =
    end?.eventType === "consent_approved" || eventOf(story, "tool_call_forwarded") !== undefined;
  const isRun =
    eventOf(story, "tool_call_completed", "outcome_unknown", "consent_not_collected") !== undefined;
  return isBegun && (!isAsked || end !== undefined) && (!needsRun || isRun);
}

async function wholeOf(find: FindEvents, story: Story): Promise<Story> {
  const isQuestion = story.found.some(({ event }) => event.requestId !== "");
  if (isQuestion) return (await loadQuestion(find, story.id)) ?? story;
  return completed(find, story);
}
