/**
 * Board: the questions that are open, in the order they came. Both fronts read it; it decides
 * nothing.
 */
import {
  type AnswerReceipt,
  type AskSession,
  type ConsentRequest,
  type JsonObject,
  refuseAnswer,
} from "@acp/core";
import type { OpenQuestion, GateChange } from "./approver-client.js";

/** Ids kept of questions that ended, so that a late answer is told so. */
const ENDED_IDS_MAX = 1_000;

/** The open questions of one gate. */
export interface Board {
  pending(): readonly OpenQuestion[];
  /** Calls `listener` at every change; the result ends that. */
  subscribe(listener: (change: GateChange) => void): () => void;
  /** Puts a question up until its session ends. */
  put(request: ConsentRequest, session: AskSession): void;
  /** Hands a claim to the session of the question that it names. */
  answer(claim: JsonObject, subject: string): Promise<AnswerReceipt>;
}

interface Entry {
  readonly question: OpenQuestion;
  readonly session: AskSession;
}

/** An empty board. */
export function createBoard(): Board {
  const entries = new Map<string, Entry>();
  const ended = new Set<string>();
  const listeners = new Set<(change: GateChange) => void>();
  const tell = (change: GateChange): void => {
    for (const listener of listeners) listener(change);
  };

  const rememberEnd = (id: string): void => {
    ended.add(id);
    const [oldest] = ended;
    if (ended.size > ENDED_IDS_MAX && oldest !== undefined) ended.delete(oldest);
  };

  const takeDownAtEnd = async (id: string, entry: Entry): Promise<void> => {
    const ending = await entry.session.ended;
    // A redelivery may have taken the entry's place: only its own session takes it down.
    if (entries.get(id) !== entry) return;
    entries.delete(id);
    rememberEnd(id);
    tell({ type: "ended", id, ending });
    const outcome = await entry.session.outcome;
    if (outcome !== undefined) tell({ type: "outcome", id, outcome });
  };

  return {
    pending: () => Array.from(entries.values(), (entry) => entry.question),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    put(request, session) {
      const entry: Entry = { question: { request, redelivery: session.redelivery }, session };
      entries.set(request.id, entry);
      tell({ type: "open", question: entry.question });
      void takeDownAtEnd(request.id, entry);
    },
    async answer(claim, subject) {
      const id = claim["request_id"];
      if (typeof id !== "string")
        return refuseAnswer("response_invalid", "the answer does not name its question");
      const entry = entries.get(id);
      if (entry !== undefined) return entry.session.submit(claim, { subject });
      return ended.has(id)
        ? refuseAnswer("request_ended", "the question is over")
        : refuseAnswer("request_unknown", "no such question is open here");
    },
  };
}
