/**
 * Source: follows the questions of gates elsewhere until they, or the inbox, are gone.
 */
import type { ConsentOutcome, Ending } from "@acp/core";
import type { OpenQuestion, QuestionSource } from "./question-source.js";
import { runOf } from "./outcomes.js";
import type { Carrier, Entry, Questions } from "./questions.js";

/** What following takes. */
export interface FollowParts {
  readonly questions: Questions;
  readonly carrier: Carrier;
  readonly warn: (text: string) => void;
  /** Aborts when the inbox is closed. */
  readonly closed: AbortSignal;
}

/** Questions that were approved, and whose gate has still to say what came of it. */
const APPROVED_MAX = 2_000;

/** Shows a source's questions until it ends. Never rejects. */
export async function follow(
  source: QuestionSource,
  { questions, carrier, warn, closed }: FollowParts,
): Promise<void> {
  const entries = new Map<string, Entry>();
  const approved = new Map<string, Entry>();
  const show = (question: OpenQuestion): void => {
    const entry = questions.put({ carrier, question, submit: (claim) => source.answer(claim) });
    // The same question stands here already, from a gate in this process.
    if (entry !== undefined) entries.set(question.request.id, entry);
  };
  const end = (id: string, ending: Ending): void => {
    const entry = entries.get(id);
    entries.delete(id);
    if (entry === undefined) return;
    questions.end(entry, ending);
    if (!ending.status.startsWith("approved")) return;
    approved.set(id, entry);
    const [oldest] = approved.keys();
    if (approved.size > APPROVED_MAX && oldest !== undefined) approved.delete(oldest);
  };
  const hear = (id: string, outcome: ConsentOutcome): void => {
    const entry = approved.get(id);
    approved.delete(id);
    if (entry !== undefined) questions.tellRun(entry, runOf(outcome));
  };
  const lose = (id: string): void => {
    const entry = entries.get(id);
    entries.delete(id);
    if (entry !== undefined) questions.lose(entry);
  };
  const over = new AbortController();
  try {
    // Before what is pending is read: nothing falls between the two.
    const changes = source.changes[Symbol.asyncIterator]();
    const stop = (): void => void Promise.resolve(changes.return?.()).catch(() => undefined);
    closed.addEventListener("abort", stop, { once: true, signal: over.signal });
    for (const question of source.pending()) show(question);
    for (
      let next = await changes.next();
      next.done !== true && !closed.aborted;
      next = await changes.next()
    ) {
      const { value: change } = next;
      if (change.type === "open") show(change.question);
      else if (change.type === "ended") end(change.id, change.ending);
      else if (change.type === "outcome") hear(change.id, change.outcome);
      else lose(change.id);
    }
  } catch (error) {
    warn(
      `Cannot follow the questions of channel "${carrier.channel}": ${error instanceof Error ? error.message : "it failed"}`,
    );
  } finally {
    over.abort();
    // Whoever carried them is gone: how they end is no longer told here.
    for (const id of entries.keys()) lose(id);
  }
}
