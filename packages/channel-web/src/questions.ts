/**
 * Questions: what is open, of every gate that shows its questions here, and the ids of what was. It
 * decides nothing.
 */
import type { AnswerReceipt, Clock, Ending, JsonObject } from "@acp/core";
import { encodeRequest } from "@acp/core";
import type { Person } from "./options.js";
import type { OpenQuestion, RunOutcome } from "./question-source.js";

/** Ids kept of questions that ended, so that a late answer is told so. */
const ENDED_IDS_MAX = 10_000;
/** Questions kept whose gate is lost. */
const LOST_MAX = 2_000;

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
  | {
      readonly type: "ended";
      readonly entry: Entry;
      readonly ending: Ending;
      readonly atMs: number;
    }
  | { readonly type: "lost"; readonly entry: Entry; readonly atMs: number }
  | { readonly type: "run"; readonly entry: Entry; readonly run: RunOutcome };

/** The questions of one inbox. */
export interface Questions {
  /**
   * Puts a question up. `undefined` where another carrier has one of this id: the same question
   * came twice.
   */
  put(parts: QuestionParts): Entry | undefined;
  /** `"ended"` for one that was open here, `"lost"` where its gate cannot be reached. */
  find(id: string): Entry | "ended" | "lost" | undefined;
  /** In the order they were put up. */
  open(): readonly Entry[];
  /** Takes a question down; nothing where it is not the one that is up. */
  end(entry: Entry, ending: Ending, atMs?: number): void;
  /**
   * Takes a question down whose gate cannot be reached: what becomes of it is found out elsewhere,
   * or it is put up again.
   */
  lose(entry: Entry): void;
  /** Those that are lost, oldest first. */
  lost(): readonly Entry[];
  /** Tells what became of a yes. */
  tellRun(entry: Entry, run: RunOutcome): void;
  /** Notes an answer that the gate took, and how many yeses it has. */
  take(
    entry: Entry,
    answer: { readonly by: Person; readonly claim: JsonObject; readonly have?: number },
  ): void;
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

/**
 * Calls back whenever a step of a question's escalation is due, while it is up: somebody else may
 * answer then.
 */
async function watchSteps(clock: Clock, { entry, down }: Held, onDue: () => void): Promise<void> {
  const { createdAtMs, escalation = [] } = entry.question.request;
  for (const { afterMs } of escalation.filter(({ approvers }) => approvers !== undefined)) {
    const leftMs = createdAtMs + afterMs - clock.now();
    if (leftMs <= 0) continue;
    await clock.sleep(leftMs, { signal: down.signal, background: true });
    onDue();
  }
}

interface State {
  readonly clock: Clock;
  readonly held: Map<string, Held>;
  /** Also of what was taken down: the history reads what was taken of it. */
  readonly heldBy: WeakMap<Entry, Held>;
  readonly ended: EndedIds;
  readonly lost: Map<string, Entry>;
  readonly tell: (change: Change) => void;
}

const isUp = ({ held }: State, entry: Entry): boolean =>
  held.get(entry.question.request.id)?.entry === entry;

function takeDown(state: State, entry: Entry): boolean {
  if (!isUp(state, entry)) return false;
  state.held.delete(entry.question.request.id);
  state.heldBy.get(entry)?.down.abort();
  return true;
}

function put(state: State, parts: QuestionParts): Entry | undefined {
  const { clock, held, heldBy, ended, lost, tell } = state;
  const { request } = parts.question;
  const before = held.get(request.id);
  // A gate of this process that shows its question again takes its place; whoever else comes with
  // the same id does not.
  const isAgain = parts.question.redelivery && parts.carrier.subject === undefined;
  if (before !== undefined && before.entry.carrier !== parts.carrier && !isAgain) return undefined;
  before?.down.abort();
  const wire = encodeRequest(request);
  const known = before?.entry ?? lost.get(request.id);
  const entry = { ...parts, wire, taken: new Map(known?.taken), have: known?.have ?? 0 };
  const now: Held = { entry, down: new AbortController() };
  held.set(request.id, now);
  heldBy.set(entry, now);
  ended.delete(request.id);
  lost.delete(request.id);
  tell({ type: "open", entry });
  // The end of the question ends the wait.
  watchSteps(clock, now, () => tell({ type: "open", entry })).catch(() => undefined);
  return entry;
}

function end(
  state: State,
  entry: Entry,
  { ending, atMs }: { readonly ending: Ending; readonly atMs: number },
): void {
  const { id } = entry.question.request;
  if (!takeDown(state, entry) && state.lost.get(id) !== entry) return;
  state.lost.delete(id);
  state.ended.add(id);
  state.tell({ type: "ended", entry, ending, atMs });
}

function lose(state: State, entry: Entry): void {
  const { lost, clock, tell } = state;
  if (!takeDown(state, entry)) return;
  lost.set(entry.question.request.id, entry);
  const [oldest] = lost.keys();
  if (lost.size > LOST_MAX && oldest !== undefined) lost.delete(oldest);
  tell({ type: "lost", entry, atMs: clock.now() });
}

function take(
  state: State,
  entry: Entry,
  { by, claim, have }: Parameters<Questions["take"]>[1],
): void {
  const found = state.heldBy.get(entry);
  found?.entry.taken.set(by.approver, claim);
  if (found === undefined || have === undefined) return;
  found.entry.have = have;
  if (isUp(state, entry)) state.tell({ type: "open", entry });
}

/** No questions yet. */
export function createQuestions(clock: Clock): Questions {
  const listeners = new Set<(change: Change) => void>();
  const tell = (change: Change): void => {
    for (const listener of listeners) listener(change);
  };
  const state: State = {
    clock,
    held: new Map(),
    heldBy: new WeakMap(),
    ended: createEndedIds(),
    lost: new Map(),
    tell,
  };
  const { held, ended, lost } = state;
  return {
    put: (parts) => put(state, parts),
    find: (id) =>
      held.get(id)?.entry ?? (lost.has(id) ? "lost" : ended.has(id) ? "ended" : undefined),
    open: () => Array.from(held.values(), ({ entry }) => entry),
    end: (entry, ending, atMs = clock.now()) => end(state, entry, { ending, atMs }),
    lose: (entry) => lose(state, entry),
    lost: () => [...lost.values()],
    tellRun: (entry, run) => tell({ type: "run", entry, run }),
    take: (entry, answer) => take(state, entry, answer),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    clear() {
      for (const { down } of held.values()) down.abort();
      held.clear();
      lost.clear();
      listeners.clear();
    },
  };
}
