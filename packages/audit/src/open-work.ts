/**
 * Open work: questions, yeses and calls of a log that have no end in it, because the process ended
 * first. Pure.
 */
import { isJsonObject, logEvent } from "@acp/core";
import type { AuditEventInput, AuditEventType, Ids, JsonObject, JsonValue } from "@acp/core";
import type { AuditEvent } from "./event.js";
import { stampAt } from "./stamp.js";

/** A question, a yes or a call without an end: what its end says about it. */
export interface OpenItem
  extends Pick<
    AuditEvent,
    "seq" | "requestId" | "agent" | "tool" | "category" | "riskLevel" | "policyRule"
  > {
  /** When its decision began. */
  readonly startedMs: number;
  readonly isolation: string;
}

/** What an item is made of. */
export type OpenSource = Pick<
  AuditEvent,
  | "seq"
  | "requestId"
  | "agent"
  | "tool"
  | "category"
  | "riskLevel"
  | "policyRule"
  | "atMs"
  | "responseTimeMs"
  | "metadata"
>;

/** What has no end, found by feeding every event in order. */
export interface OpenWork {
  add(event: AuditEvent): void;
  /**
   * Notes an event `tool_call_forwarded` whose end may come before anybody asks for it.
   *
   * @param read - Reads it; called where its end did not come first.
   */
  begin(event: Pick<AuditEvent, "seq" | "requestId">, read: () => OpenSource): void;
  /** Notes the end of a call that names the number of the event that began it. */
  finish(event: Pick<AuditEvent, "requestId">, forwardedSeq: number): void;
  /** Notes an event that can change nothing here. */
  pass(): void;
  /** Whether the last event of the log says that what was open had been ended. */
  isSettled(): boolean;
  /** Of `consent_requested` events. */
  questions(): readonly OpenItem[];
  /** Of `consent_approved` events: nobody said yet what became of them. */
  yeses(): readonly OpenItem[];
  /** Of `tool_call_forwarded` events. */
  calls(): readonly OpenItem[];
}

/**
 * Written when a log was opened and what was open had been ended: nothing before it needs to be
 * read again.
 */
const OPENED = "log_opened";
/** Types of the events that end a question; each question has one of them at most. */
export const QUESTION_END_TYPES: readonly AuditEventType[] = [
  "consent_approved",
  "consent_denied",
  "consent_expired",
  "consent_cancelled",
  "consent_failed",
  "consent_superseded",
];
const QUESTION_ENDS: ReadonlySet<string> = new Set(QUESTION_END_TYPES);
const CALL_ENDS: ReadonlySet<string> = new Set(["tool_call_completed", "outcome_unknown"]);

/** With `tool_call_forwarded` the call that it became has to end instead. */
const YES_ENDS: ReadonlySet<string> = new Set([
  "tool_call_forwarded",
  "tool_call_completed",
  "consent_not_collected",
  "outcome_unknown",
]);

/** Whether an event of this type ends a question. */
export function isQuestionEnd(eventType: string): boolean {
  return QUESTION_ENDS.has(eventType);
}

/** Whether an event of this type says what became of a yes, or that it became a call. */
export function isYesEnd(eventType: string): boolean {
  return YES_ENDS.has(eventType);
}

/** Whether the event type can change what is open: lets a reader skip other lines unread. */
export function isWorkEvent(eventType: string): boolean {
  return (
    eventType === "consent_requested" ||
    eventType === OPENED ||
    QUESTION_ENDS.has(eventType) ||
    YES_ENDS.has(eventType)
  );
}

/** Follows what is open, from where {@link writeOpenWork} was asked. */
export function trackOpenWork(from: JsonObject = {}): OpenWork {
  const questions = new Map<string, OpenItem>();
  const yeses = new Map<string, OpenItem>();
  replaceBy(questions, from["questions"]);
  replaceBy(yeses, from["yeses"]);
  let calls: OpenItem[] = [...readItems(from["calls"])];
  /** Those that began last, in their order, and are not among the calls yet. */
  const begun = new Map<number, () => OpenSource>();
  let isSettled = from["settled"] === true;
  const settle = (): OpenItem[] => {
    for (const read of begun.values()) calls.push(itemOf(read()));
    begun.clear();
    return calls;
  };
  return {
    begin({ seq, requestId }, read) {
      isSettled = false;
      yeses.delete(requestId);
      begun.set(seq, read);
    },
    finish({ requestId }, forwardedSeq) {
      isSettled = false;
      yeses.delete(requestId);
      if (begun.delete(forwardedSeq)) return;
      const at = calls.findIndex(({ seq }) => seq === forwardedSeq);
      if (at !== -1) calls.splice(at, 1);
    },
    pass() {
      isSettled = false;
    },
    isSettled: () => isSettled,
    add(event) {
      const { eventType } = event;
      isSettled = eventType === OPENED;
      if (YES_ENDS.has(eventType)) yeses.delete(event.requestId);
      if (eventType === "consent_approved") yeses.set(event.requestId, itemOf(event));
      if (eventType === "consent_requested") questions.set(event.requestId, itemOf(event));
      else if (QUESTION_ENDS.has(eventType)) questions.delete(event.requestId);
      else if (eventType === "tool_call_forwarded") settle().push(itemOf(event));
      else if (CALL_ENDS.has(eventType) && !isUnforwarded(event)) {
        const at = callOf(settle(), event);
        if (at !== -1) calls.splice(at, 1);
      } else if (eventType === OPENED) {
        begun.clear();
        calls = [];
        replaceBy(questions, event.metadata["open_questions"]);
        replaceBy(yeses, event.metadata["open_yeses"]);
      }
    },
    questions: () => [...questions.values()],
    yeses: () => [...yeses.values()],
    calls: () => [...settle()],
  };
}

/** What is open, for {@link trackOpenWork} to go on from. */
export function writeOpenWork(work: OpenWork): JsonObject {
  return {
    questions: work.questions().map(writeItem),
    yeses: work.yeses().map(writeItem),
    calls: work.calls().map(writeItem),
    settled: work.isSettled(),
  };
}

function replaceBy(items: Map<string, OpenItem>, kept: JsonValue | undefined): void {
  items.clear();
  for (const item of readItems(kept)) items.set(item.requestId, item);
}

/**
 * A call that the vault stopped ends without ever having been forwarded: it must not end another
 * one like it. A question has one call at most.
 */
function isUnforwarded({ metadata, requestId }: AuditEvent): boolean {
  const { outcome, error, forwarded_seq: named } = metadata;
  return (
    requestId === "" && outcome === "not_performed" && error !== undefined && named === undefined
  );
}

function itemOf(event: OpenSource): OpenItem {
  const { seq, requestId, agent, tool, category, riskLevel, policyRule, metadata } = event;
  const isolation = typeof metadata["isolation"] === "string" ? metadata["isolation"] : "";
  return {
    seq,
    requestId,
    agent,
    tool,
    category,
    riskLevel,
    policyRule,
    startedMs: startOf(event),
    isolation,
  };
}

/**
 * The call that an event ends: the one it names; where it names none, as logs of before, one that
 * shares everything but type and outcome. Two equal ones began at different times, or are told
 * apart by nobody.
 */
function callOf(calls: readonly OpenItem[], end: AuditEvent): number {
  const named = end.metadata["forwarded_seq"];
  if (typeof named === "number") return calls.findIndex(({ seq }) => seq === named);
  const isSame = (call: OpenItem): boolean =>
    call.requestId === end.requestId &&
    call.agent === end.agent &&
    call.tool === end.tool &&
    call.policyRule === end.policyRule;
  const exact = calls.findIndex((call) => isSame(call) && call.startedMs === startOf(end));
  return exact === -1 ? calls.findIndex(isSame) : exact;
}

function startOf({ atMs, responseTimeMs }: Pick<AuditEvent, "atMs" | "responseTimeMs">): number {
  return atMs - responseTimeMs;
}

/** What recovery goes by. */
export interface RecoveryTerms {
  /** Questions and yeses that a PendingStore still holds: its gate ends them. */
  readonly pendingIds: ReadonlySet<string>;
  /** Yeses that nobody took, and nobody can take any more. */
  readonly untakenIds: ReadonlySet<string>;
  /**
   * Questions and yeses whose end stands in another log, because another process took them over.
   */
  readonly endedElsewhere: ReadonlySet<string>;
  readonly nowMs: number;
  readonly ids: Ids;
}

/**
 * The ends to append: questions that no store holds have expired; a yes that nobody took was not
 * collected; of another yes, and of a call, nobody knows whether it was performed.
 */
export function endsOf(work: OpenWork, terms: RecoveryTerms): readonly AuditEventInput[] {
  const { nowMs, ids } = terms;
  const expired = work
    .questions()
    .filter((question) => isLeft(question, terms))
    .map((question) =>
      endOf(question, {
        ...stampAt(ids, nowMs),
        eventType: "consent_expired",
        decision: "expired",
        metadata: {
          reason: "the process ended, and no store holds the question",
          requested_seq: question.seq,
        },
      }),
    );
  const yeses = work.yeses().filter((yes) => isLeft(yes, terms));
  const settled = yeses.map((yes) => endOf(yes, { ...stampAt(ids, nowMs), ...yesEnd(yes, terms) }));
  const unknown = work.calls().map((call) =>
    endOf(call, {
      ...stampAt(ids, nowMs),
      eventType: "outcome_unknown",
      decision: "allow",
      metadata: {
        reason: "the process ended before the call did; it is not repeated",
        forwarded_seq: call.seq,
      },
    }),
  );
  return [...expired, ...settled, ...unknown];
}

const isLeft = ({ requestId }: OpenItem, { pendingIds, endedElsewhere }: RecoveryTerms): boolean =>
  !pendingIds.has(requestId) && !endedElsewhere.has(requestId);

/** Only a store knows that nothing was done: who took a yes may have performed it by itself. */
function yesEnd(
  { requestId, seq }: OpenItem,
  { untakenIds }: RecoveryTerms,
): Pick<AuditEventInput, "eventType" | "decision" | "metadata"> {
  if (untakenIds.has(requestId))
    return {
      eventType: "consent_not_collected",
      decision: "not_collected",
      metadata: { reason: "the process ended before anybody took the answer", approved_seq: seq },
    };
  const reason = "the process ended before it said what came of the answer; nothing is repeated";
  return {
    eventType: "outcome_unknown",
    decision: "allow",
    metadata: { reason, approved_seq: seq },
  };
}

/** The event after the ends: the next recovery starts at it. */
export function openedEvent(
  work: OpenWork,
  { pendingIds, endedElsewhere, nowMs, ids }: RecoveryTerms,
): AuditEventInput {
  const heldOf = (open: readonly OpenItem[]): readonly OpenItem[] =>
    open.filter(({ requestId }) => pendingIds.has(requestId));
  const yeses = heldOf(work.yeses()).map(writeItem);
  const elsewhere = [...work.questions(), ...work.yeses()]
    .map(({ requestId }) => requestId)
    .filter((id) => !pendingIds.has(id) && endedElsewhere.has(id));
  return logEvent(OPENED, stampAt(ids, nowMs), {
    open_questions: heldOf(work.questions()).map(writeItem),
    ...(yeses.length === 0 ? {} : { open_yeses: yeses }),
    ...(elsewhere.length === 0 ? {} : { ended_elsewhere: elsewhere }),
  });
}

function endOf(
  item: OpenItem,
  end: Pick<AuditEventInput, "id" | "atMs" | "eventType" | "decision" | "metadata">,
): AuditEventInput {
  const { requestId, agent, tool, category, riskLevel, policyRule, startedMs, isolation } = item;
  return {
    ...end,
    requestId,
    agent,
    tool,
    category,
    riskLevel,
    policyRule,
    responseTimeMs: Math.max(0, Math.round(end.atMs - startedMs)),
    metadata: { ...(isolation === "" ? {} : { isolation }), ...end.metadata },
  };
}

function writeItem(item: OpenItem): JsonObject {
  return {
    seq: item.seq,
    request_id: item.requestId,
    agent: item.agent,
    tool: item.tool,
    category: item.category,
    risk_level: item.riskLevel,
    policy_rule: item.policyRule,
    started_ms: item.startedMs,
    isolation: item.isolation,
  };
}

/** The items that {@link writeItem} wrote; whatever else stands there is left out. */
function readItems(value: JsonValue | undefined): readonly OpenItem[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item: JsonValue) => {
    if (!isJsonObject(item)) return [];
    const { seq, started_ms: startedMs } = item;
    const text = (key: string): string => (typeof item[key] === "string" ? item[key] : "");
    if (typeof seq !== "number" || typeof startedMs !== "number") return [];
    return [
      {
        seq,
        requestId: text("request_id"),
        agent: text("agent"),
        tool: text("tool"),
        category: text("category"),
        riskLevel: text("risk_level"),
        policyRule: text("policy_rule"),
        startedMs,
        isolation: text("isolation"),
      },
    ];
  });
}
