/**
 * Questions: what is open on this channel, by id, and the ids of what was.
 */
import type { AskSession, ConsentRequest } from "@acp/core";

/** Ids kept of questions that ended, so that a late answer is told so. */
const ENDED_IDS_MAX = 10_000;

/** One question that this channel carries. */
export interface Question {
  readonly request: ConsentRequest;
  readonly session: AskSession;
}

/** The questions of one channel. */
export interface Questions {
  put(question: Question): void;
  /** `"ended"` for one that was open here. */
  find(id: string): Question | "ended" | undefined;
  end(question: Question): void;
}

/** No questions yet. */
export function createQuestions(): Questions {
  const open = new Map<string, Question>();
  const ended = new Set<string>();
  return {
    put: (question) => void open.set(question.request.id, question),
    find: (id) => open.get(id) ?? (ended.has(id) ? "ended" : undefined),
    end(question) {
      const { id } = question.request;
      // A redelivery may have taken its place.
      if (open.get(id) !== question) return;
      open.delete(id);
      ended.add(id);
      const [oldest] = ended;
      if (ended.size > ENDED_IDS_MAX && oldest !== undefined) ended.delete(oldest);
    },
  };
}
