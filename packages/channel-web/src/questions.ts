/**
 * Questions: what is open, of every gate that shows its questions here, and the ids of what was. It decides nothing.
 */
import type { AnswerReceipt, Clock, Ending, JsonObject } from "@acp/core";
import { encodeRequest } from "@acp/core";
import type { Person } from "./options.js";
import type { OpenQuestion } from "./parts.js";

/** Ids kept of questions that ended, so that a late answer is told so. */
const ENDED_IDS_MAX = 10_000;

/** Where questions come from: a gate's channel, or a source of several gates. */
export interface Carrier {
  /** The channel as the gate knows it. */
  readonly channel: string;
  /** Who answers there; left out where the gate is told who answered. */
  readonly subject?: string;
}

/** A question and the way back to its gate. */
export interface QuestionParts {
  readonly carrier: Carrier;
  readonly question: OpenQuestion;
  readonly submit: (claim: JsonObject, person: Person) => Promise<AnswerReceipt>;
}

/** A question that waits here. */
export interface Entry extends QuestionParts {
  /** The request as it is sent and hashed. */
  readonly wire: JsonObject;
  /** Answers that the gate took, by who gave them. */
  readonly taken: ReadonlyMap<string, JsonObject>;
  /** How many yeses are counted. */
  readonly have: number;
}

/** What changed. A question opens again when something about it changed. */
export type Change =
  | { readonly type: "open"; readonly entry: Entry }
  | { readonly type: "ended"; readonly entry: Entry; readonly ending: Ending; readonly atMs: number };

/** The questions of one inbox. */
export interface Questions {
  /** Puts a question up. `undefined` where another carrier has one of this id: the same question came twice. */
  put(parts: QuestionParts): Entry | undefined;
  /** `"ended"` for one that was open here. */
  find(id: string): Entry | "ended" | undefined;
  /** In the order they were put up. */
  open(): readonly Entry[];
  /** Takes a question down; nothing where it is not the one that is up. */
  end(entry: Entry, ending: Ending): void;
  /** Notes an answer that the gate took, and how many yeses it has. */
  take(entry: Entry, answer: { readonly by: Person; readonly claim: JsonObject; readonly have?: number }): void;
  /** Calls `listener` at every change; the result ends that. */
  subscribe(listener: (change: Change) => void): () => void;
  /** Forgets all of them. */
  clear(): void;
}

interface Held {
  readonly entry: Entry & { have: number; readonly taken: Map<string, JsonObject> };
  /** Aborts when it is down. */
  readonly down: AbortController;
}

/** Ids of what was open, the newest of them. */
interface EndedIds {
  add(id: string): void;
  delete(id: string): void;
  has(id: string): boolean;
}

function createEndedIds(): EndedIds {
  const ids = new Set<string>();
  return {
    add(id) {
      ids.add(id);
      const [oldest] = ids;
      if (ids.size > ENDED_IDS_MAX && oldest !== undefined) ids.delete(oldest);
    },
    delete: (id) => void ids.delete(id),
    has: (id) => ids.has(id),
  };
}

/** Calls back whenever a step of a question's escalation is due, while it is up: somebody else may answer then. */
async function watchSteps(clock: Clock, { entry, down }: Held, onDue: () => void): Promise<void> {
  const { createdAtMs, escalation = [] } = entry.question.request;
  for (const { afterMs } of escalation.filter(({ approvers }) => approvers !== undefined)) {
    const leftMs = createdAtMs + afterMs - clock.now();
    if (leftMs <= 0) continue;
    await clock.sleep(leftMs, { signal: down.signal, background: true });
    onDue();
  }
}

/** No questions yet. */
export function createQuestions(clock: Clock): Questions {
  const held = new Map<string, Held>();
  /** Also of what was taken down: the history reads what was taken of it. */
  const heldBy = new WeakMap<Entry, Held>();
  const ended = createEndedIds();
  const listeners = new Set<(change: Change) => void>();
  const tell = (change: Change): void => {
    for (const listener of listeners) listener(change);
  };
  const isUp = (entry: Entry): boolean => held.get(entry.question.request.id)?.entry === entry;

  return {
    put(parts) {
      const { request } = parts.question;
      const before = held.get(request.id);
      // A gate of this process that shows its question again takes its place; whoever else comes with the same id does not.
      const isAgain = parts.question.redelivery && parts.carrier.subject === undefined;
      if (before !== undefined && before.entry.carrier !== parts.carrier && !isAgain) return undefined;
      before?.down.abort();
      const wire = encodeRequest(request);
      const entry = { ...parts, wire, taken: new Map(before?.entry.taken), have: before?.entry.have ?? 0 };
      const now: Held = { entry, down: new AbortController() };
      held.set(request.id, now);
      heldBy.set(entry, now);
      ended.delete(request.id);
      tell({ type: "open", entry });
      // The end of the question ends the wait.
      watchSteps(clock, now, () => tell({ type: "open", entry })).catch(() => undefined);
      return entry;
    },
    find: (id) => held.get(id)?.entry ?? (ended.has(id) ? "ended" : undefined),
    open: () => Array.from(held.values(), ({ entry }) => entry),
    end(entry, ending) {
      if (!isUp(entry)) return;
      const { id } = entry.question.request;
      held.delete(id);
      heldBy.get(entry)?.down.abort();
      ended.add(id);
      tell({ type: "ended", entry, ending, atMs: clock.now() });
    },
    take(entry, { by, claim, have }) {
      const found = heldBy.get(entry);
      found?.entry.taken.set(by.approver, claim);
      if (found === undefined || have === undefined) return;
      found.entry.have = have;
      if (isUp(entry)) tell({ type: "open", entry });
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    clear() {
      for (const { down } of held.values()) down.abort();
      held.clear();
      listeners.clear();
    },
  };
}
