/**
 * Joining: the events of a call, scattered over a log, brought together: what was wanted, what was
 * asked, how it ended. One event at a time, so that a log of any length takes the memory of its
 * open calls. Pure.
 */
import { isJsonObject } from "@acp/core";
import type { LoggedEvent } from "./logged-call.js";

/**
 * How a call ended. `approved`, `denied`: by a person. `edited`: approved with changes.
 * `unanswered`: no person answered. `granted`: an earlier consent allowed it. `unasked`: the policy
 * decided.
 */
export type CallOutcome = "approved" | "edited" | "denied" | "unanswered" | "granted" | "unasked";

/** A question as it was asked. */
export interface LoggedQuestion {
  readonly riskLevel: string;
  readonly quorum: number;
  readonly wantsPasskey: boolean;
  readonly hasSecrets: boolean;
}

/** The end of a call. */
export interface CallEnd {
  readonly outcome: CallOutcome;
  readonly atMs: number;
  /** Left out where nobody was asked. */
  readonly question?: LoggedQuestion;
}

/** What is done with calls. */
export interface CallHandler<T> {
  /** Makes what is kept of a call until it ends. */
  begin(event: LoggedEvent): T;
  /** Takes it back; without an end where the log does not say how the call went on. */
  end(call: T, end: CallEnd | undefined): void;
}

const OUTCOMES: ReadonlyMap<string, CallOutcome> = new Map([
  ["consent_denied", "denied"],
  ["consent_superseded", "edited"],
  ["consent_expired", "unanswered"],
  ["consent_cancelled", "unanswered"],
  ["consent_failed", "unanswered"],
]);

/** The events of one decision are written together, so that few calls wait for their next one. */
const BEGUN_MAX = 1_000;

/**
 * Makes the function that takes a log's events, in order; those of several logs one log after
 * another.
 */
export function createJoiner<T>(handler: CallHandler<T>): (event: LoggedEvent) => void {
  const begun = new Map<string, { readonly call: T }>();
  /** By request id; `undefined` for the question about an edited call, which is nobody's wish. */
  const asked = new Map<
    string,
    { readonly call: T; readonly question: LoggedQuestion } | undefined
  >();
  /**
   * Ends whose questions stand in a log that is read later: another process took the question over.
   */
  const early = new Map<string, CallEnd>();
  const takeBegun = (event: LoggedEvent): { readonly call: T } | undefined => {
    const key = callOf(event);
    if (key === undefined) return undefined;
    const taken = begun.get(key);
    begun.delete(key);
    return taken;
  };
  const settle = (requestId: string, end: CallEnd): void => {
    if (!asked.has(requestId)) return void early.set(requestId, end);
    const open = asked.get(requestId);
    asked.delete(requestId);
    if (open !== undefined) handler.end(open.call, { ...end, question: open.question });
  };
  const ask = (event: LoggedEvent): void => {
    const taken = takeBegun(event);
    asked.set(
      event.requestId,
      taken === undefined ? undefined : { call: taken.call, question: questionOf(event) },
    );
    const end = early.get(event.requestId);
    if (end !== undefined) settle(event.requestId, end);
    early.delete(event.requestId);
  };
  const begin = (event: LoggedEvent): void => {
    const key = callOf(event);
    if (key === undefined) return;
    begun.set(key, { call: handler.begin(event) });
    if (begun.size > BEGUN_MAX) forgetOldest();
  };
  const forgetOldest = (): void => {
    for (const [key, { call }] of begun) {
      begun.delete(key);
      return handler.end(call, undefined);
    }
  };
  return (event) => {
    if (event.eventType === "tool_call_intercepted") return begin(event);
    if (event.eventType === "consent_requested") return ask(event);
    if (isDecided(event)) {
      const taken = takeBegun(event);
      return taken === undefined ? undefined : handler.end(taken.call, unaskedEnd(event));
    }
    const outcome = outcomeOf(event);
    return outcome === undefined
      ? undefined
      : settle(event.requestId, { outcome, atMs: event.atMs });
  };
}

/** The id that the events of one decision share. */
function callOf({ metadata: { call } }: LoggedEvent): string | undefined {
  return typeof call === "string" ? call : undefined;
}

/** Whether the event says how a call ended that nobody was asked about. */
function isDecided({ eventType, decision }: LoggedEvent): boolean {
  if (eventType === "policy_evaluated") return decision !== "ask";
  return eventType === "grant_used" || eventType === "decision_adopted";
}

/** A kept no that a retry found was counted when it was given. */
function unaskedEnd({ eventType, decision, atMs }: LoggedEvent): CallEnd | undefined {
  if (eventType === "policy_evaluated") return { outcome: "unasked", atMs };
  return eventType === "grant_used" || decision.startsWith("approved")
    ? { outcome: "granted", atMs }
    : undefined;
}

/**
 * What a person or the passing of time made of a question. A yes that is not plainly one is taken
 * for one with edits.
 */
function outcomeOf({ eventType, decision }: LoggedEvent): CallOutcome | undefined {
  if (eventType === "consent_approved") return decision === "approved" ? "approved" : "edited";
  return OUTCOMES.get(eventType);
}

/** The terms of a question. Evidence and secrets stand in the log only where answers are signed. */
function questionOf({ riskLevel, metadata }: LoggedEvent): LoggedQuestion {
  const { quorum, request } = metadata;
  const { evidence, secrets } = isJsonObject(request) ? request : {};
  return {
    riskLevel,
    quorum: typeof quorum === "number" ? quorum : Number.POSITIVE_INFINITY,
    wantsPasskey: evidence !== undefined && evidence !== "any",
    hasSecrets: Array.isArray(secrets) && secrets.length > 0,
  };
}
