/**
 * Lessons: what people answered, call by call, sorted by shape and by the rule that asks about it
 * now. Bounded: what does not fit is not learned from, and the check of a suggestion (check.ts)
 * sees it all the same. Pure.
 */
import { actionDigest } from "@acp/core";
import type { Action, Facts } from "@acp/core";
import { barOf } from "./bars.js";
import type { Bar } from "./bars.js";
import { createJoiner } from "./joiner.js";
import type { CallEnd, CallOutcome, LoggedQuestion } from "./joiner.js";
import { loggedAction, sizeOf } from "./logged-call.js";
import type { LoggedEvent } from "./logged-call.js";
import { sayOf } from "./policy-document.js";
import type { PolicyDocument } from "./policy-document.js";
import { shapeKey, shapeOf } from "./shape.js";
import type { CallShape } from "./shape.js";

/** One call, as often as it was answered. */
export interface Lesson {
  readonly action: Action;
  /** When it was asked, the last time. */
  readonly askedAtMs: number;
  /** When it was approved as it was asked, and nothing barred it. */
  readonly approvedAtMs: readonly number[];
  readonly deniedAtMs: readonly number[];
  /** Whether any approval of it stands against a rule that denies it. */
  readonly wasApproved: boolean;
  /** Whether anybody denied or edited it: what stands against a rule that allows it. */
  readonly wasObjected: boolean;
}

/** The calls of one shape that one rule asks about. */
export interface LessonGroup {
  readonly shape: CallShape;
  readonly isReading: boolean;
  /** Number of the rule that asks now, from 0; `undefined` for the default. */
  readonly askedBy: number | undefined;
  readonly lessons: readonly Lesson[];
  /** Approvals that count for nothing, by their reason. */
  readonly barred: ReadonlyMap<Bar, number>;
}

/** What a log taught. */
export interface Lessons {
  readonly groups: readonly LessonGroup[];
  /** Answered calls that the log does not hold as they were, by tool. */
  readonly unreadable: ReadonlyMap<string, number>;
  /** Questions that people answered. */
  readonly answered: number;
}

/**
 * Characters of a call that is still learned from, of all calls that wait for an answer, and of all
 * calls kept.
 */
const CALL_CHARS_MAX: number = 256 * 1024;
const OPEN_CHARS_MAX: number = 32 * 1024 * 1024;
const KEPT_CHARS_MAX: number = 32 * 1024 * 1024;
/** Shapes, and different calls of one: nobody answers more by hand. */
const GROUPS_MAX = 10_000;
const LESSONS_MAX = 2_000;
/** Moments that are kept of one call. */
const TIMES_MAX = 1_000;

interface MutableLesson {
  readonly action: Action;
  askedAtMs: number;
  readonly approvedAtMs: number[];
  readonly deniedAtMs: number[];
  wasApproved: boolean;
  wasObjected: boolean;
}

interface MutableGroup extends Pick<LessonGroup, "shape" | "isReading" | "askedBy"> {
  readonly lessons: Map<string, MutableLesson>;
  readonly barred: Map<Bar, number>;
}

/** A call that waits for its end. */
interface OpenCall {
  readonly event: LoggedEvent | undefined;
  readonly size: number;
}

/** Learns from a log, event by event. */
export interface Learner {
  readonly learn: (event: LoggedEvent) => void;
  readonly lessons: () => Lessons;
}

/** Makes a learner for a policy. */
export function createLearner(document: PolicyDocument): Learner {
  const book: Book = { groups: new Map(), unreadable: new Map(), keptChars: 0 };
  let [openChars, answered] = [0, 0];
  const learn = createJoiner<OpenCall>({
    begin(event) {
      const size = sizeOf(event.metadata, CALL_CHARS_MAX);
      if (size >= CALL_CHARS_MAX || openChars + size > OPEN_CHARS_MAX)
        return { event: undefined, size: 0 };
      openChars += size;
      return { event, size };
    },
    end({ event, size }, end) {
      openChars -= size;
      if (end?.question === undefined || !ANSWERS.has(end.outcome)) return;
      answered++;
      if (event !== undefined) write(book, document, { event, end, question: end.question });
    },
  });
  return {
    learn,
    lessons: () => ({
      groups: Array.from(book.groups.values(), (group) => ({
        ...group,
        lessons: [...group.lessons.values()],
      })),
      unreadable: book.unreadable,
      answered,
    }),
  };
}

const ANSWERS: ReadonlySet<CallOutcome> = new Set(["approved", "edited", "denied"]);

interface Book {
  readonly groups: Map<string, MutableGroup>;
  readonly unreadable: Map<string, number>;
  keptChars: number;
}

/** A call, the question about it, and the answer. */
interface AnsweredCall {
  readonly event: LoggedEvent;
  readonly question: LoggedQuestion;
  readonly end: CallEnd;
}

function write(
  book: Book,
  { policy }: PolicyDocument,
  { event, question, end }: AnsweredCall,
): void {
  const action = loggedAction(event);
  if (action === undefined) return count(book.unreadable, event.tool);
  const { effect, ruling } = sayOf(policy, action, factsOf(event));
  if (effect !== "ask") return; // the policy answers it by now
  const classification = policy.classify(action);
  const askedBy =
    ruling === undefined
      ? undefined
      : policy.rules.findIndex(({ ruleId }) => ruleId === ruling.ruleId);
  const group = groupOf(book, {
    shape: shapeOf(action),
    isReading: classification.category === "read",
    askedBy,
  });
  const lesson = group === undefined ? undefined : lessonOf(book, group, action);
  if (group === undefined || lesson === undefined) return;
  lesson.askedAtMs = event.atMs;
  if (end.outcome !== "approved") lesson.wasObjected = true;
  if (end.outcome === "denied") return keep(lesson.deniedAtMs, end.atMs);
  lesson.wasApproved = true;
  const bar =
    barOf({ action, question, ruling, classification }) ??
    (end.outcome === "edited" ? "edited" : undefined);
  if (bar === undefined) keep(lesson.approvedAtMs, end.atMs);
  else count(group.barred, bar);
}

function groupOf(
  { groups }: Book,
  sort: Pick<MutableGroup, "shape" | "isReading" | "askedBy">,
): MutableGroup | undefined {
  const key = JSON.stringify([shapeKey(sort.shape), sort.askedBy]);
  const known = groups.get(key);
  if (known !== undefined || groups.size >= GROUPS_MAX) return known;
  const group = { ...sort, lessons: new Map(), barred: new Map() };
  groups.set(key, group);
  return group;
}

function lessonOf(
  book: Book,
  { lessons }: MutableGroup,
  action: Action,
): MutableLesson | undefined {
  const digest = actionDigest(action);
  const known = lessons.get(digest);
  if (known !== undefined) return known;
  const size = sizeOf(action, CALL_CHARS_MAX);
  if (lessons.size >= LESSONS_MAX || book.keptChars + size > KEPT_CHARS_MAX) return undefined;
  book.keptChars += size;
  const lesson = {
    action,
    askedAtMs: 0,
    approvedAtMs: [],
    deniedAtMs: [],
    wasApproved: false,
    wasObjected: false,
  };
  lessons.set(digest, lesson);
  return lesson;
}

function count<K>(counts: Map<K, number>, key: K): void {
  const had = counts.get(key);
  if (had !== undefined || counts.size < GROUPS_MAX) counts.set(key, (had ?? 0) + 1);
}

/**
 * One more moment; of very many only the last is replaced, so that the first, the last and that
 * there are many stay true.
 */
function keep(times: number[], atMs: number): void {
  if (times.length < TIMES_MAX) times.push(atMs);
  else times[TIMES_MAX - 1] = atMs;
}

/** What a rule may know of a logged call. */
export function factsOf({ agent, atMs }: LoggedEvent): Facts {
  return { agent: { id: agent }, nowMs: atMs };
}
