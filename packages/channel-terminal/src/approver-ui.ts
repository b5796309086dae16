/**
 * ApproverUi: asks a person one question after the other. The terminal of the gate and the second
 * terminal behind the socket use it alike.
 */
import { type Clock, systemClock } from "@acp/core";
import type { ApproverClient, OpenQuestion, QuestionChange } from "./approver-client.js";
import { type AskOutcome, askQuestion } from "./ask.js";
import { type OutcomeWatch, type ReadOutcomes, watchOutcomes } from "./outcome-watch.js";
import { type Desk, TYPE_AHEAD_GUARD_MS } from "./prompt.js";
import { describeEnding, describeLoss, describeOutcome } from "./question-view.js";
import { type OutputStream, createScreen } from "@acp/host";
import { type InputStream, createTypedInput } from "./typed-input.js";

/** Options of {@link runApproverUi}. */
export interface ApproverUiOptions {
  /** Where questions come from and answers go. */
  readonly client: ApproverClient;
  /** What the person types into: a terminal; any other stream is read line by line. */
  readonly input: InputStream;
  /** Where the screen is drawn. */
  readonly output: OutputStream;
  /** Whether to use colors. */
  readonly color: boolean;
  /** Ends the screen; open questions stay open. */
  readonly signal: AbortSignal;
  /** Whether to redraw the time left in place; true if the output is a terminal, unless given. */
  readonly redraw?: boolean;
  /** True to return `idle` as soon as no question is open; false unless given. */
  readonly untilIdle?: boolean;
  /** How long no key may be typed before a prompt appears, in milliseconds; 400 unless given. */
  readonly guardMs?: number;
  /**
   * Passes on Ctrl-C, Ctrl-Z and Ctrl-\ typed at a prompt; to the terminal's whole foreground, this
   * process included, unless given.
   */
  readonly raise?: (signal: NodeJS.Signals) => void;
  /** Default: the system's clock. */
  readonly clock?: Clock;
  /**
   * Reads from the gates' logs what became of questions that this person approved and of questions
   * that were lost. Unless given, that is not shown.
   */
  readonly outcomes?: ReadOutcomes;
}

/**
 * Why the user interface ended: by its signal, with the input, because the gate is gone, or because
 * no question is open. None of them answers a question.
 */
export type UiEnd = "aborted" | "input_over" | "gate_gone" | "idle";

/** Questions that a person is through with, and whether they ended by that person's answer. */
export type Through = Map<string, Extract<AskOutcome, "answered" | "done" | "unknown">>;

interface Session {
  readonly options: ApproverUiOptions;
  readonly desk: Desk;
  readonly known: Map<string, OpenQuestion>;
  readonly through: Through;
  readonly skipped: Set<string>;
  /** What to tell before the next question. */
  readonly notes: string[];
  /** Finds out what became of what this person approved, and of what was lost. */
  readonly watch: OutcomeWatch;
  /** The question on the screen. */
  shown: string | undefined;
  /** This person's answer to it is on its way. */
  busy: boolean;
  /** Ends the wait at hand: the question's, or for one. */
  wait: AbortController;
  end: UiEnd | undefined;
}

function note(session: Session, change: QuestionChange): void {
  if (change.type === "outcome") return session.watch.hear(change.id, change.outcome);
  if (change.type === "open") {
    const { id } = change.question.request;
    session.known.set(id, change.question);
    // Whether that answer was taken nobody said; it may be given again.
    if (session.through.get(id) === "unknown") session.through.delete(id);
    session.watch.forget(id);
    if (session.shown === undefined) session.wait.abort();
    return;
  }
  const question = session.known.get(change.id);
  session.known.delete(change.id);
  session.skipped.delete(change.id);
  const own =
    session.through.get(change.id) === "answered" || (session.busy && session.shown === change.id);
  session.through.delete(change.id);
  if (question !== undefined && isToFollow(change, own)) session.watch.follow(question);
  if (question !== undefined && !own) session.notes.push(describeChange(question, change));
  if (session.shown === change.id || session.shown === undefined) session.wait.abort();
}

/** A question that is not open here any more. */
type Over = Exclude<QuestionChange, { readonly type: "open" | "outcome" }>;

/** What a log has more to say of: what was lost, and what this person approved. */
const isToFollow = (change: Over, own: boolean): boolean =>
  change.type === "lost" || (own && change.ending.status.startsWith("approved"));

const describeChange = (question: OpenQuestion, change: Over): string =>
  change.type === "lost" ? describeLoss(question) : describeEnding(question, change.ending);

function finish(session: Session, end: UiEnd): void {
  session.end ??= end;
  session.wait.abort();
}

/** The open questions that this person is not through with. */
function waiting({ options, through }: Session): readonly OpenQuestion[] {
  return options.client.pending().filter(({ request }) => !through.has(request.id));
}

function pick(session: Session): OpenQuestion | undefined {
  const open = waiting(session);
  const fresh = open.find(({ request }) => !session.skipped.has(request.id));
  if (fresh !== undefined) return fresh;
  session.skipped.clear();
  return open[0];
}

function tellNotes({ desk, notes }: Session): void {
  for (const text of notes.splice(0)) desk.screen.say(`· ${text}`, "dim");
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

async function showNext(session: Session, question: OpenQuestion): Promise<AskOutcome> {
  const { id } = question.request;
  session.shown = id;
  const outcome = await askQuestion(session.desk, {
    client: session.options.client,
    question,
    others: () => Math.max(0, waiting(session).length - 1),
    answering: (busy) => {
      session.busy = busy;
    },
    signal: session.wait.signal,
  });
  session.shown = undefined;
  if (outcome === "next") session.skipped.add(id);
  if (
    (outcome === "answered" || outcome === "done" || outcome === "unknown") &&
    session.known.has(id)
  )
    session.through.set(id, outcome);
  return outcome;
}

async function work(session: Session): Promise<UiEnd> {
  let idle = false;
  for (;;) {
    session.wait = new AbortController();
    tellNotes(session);
    if (session.end !== undefined) return session.end;
    const question = pick(session);
    if (question !== undefined) {
      idle = false;
      if ((await showNext(session, question)) === "over") return "input_over";
      continue;
    }
    if (session.options.untilIdle === true) return "idle";
    if (!idle) session.desk.screen.say("There are no open questions. New ones appear here.", "dim");
    idle = true;
    await aborted(session.wait.signal);
  }
}

/**
 * Asks a person every open question, and each that comes, until something ends it. The end of the
 * input is not an answer.
 *
 * @returns Why it ended.
 */
export function runApproverUi(options: ApproverUiOptions): Promise<UiEnd> {
  return runUi(options, new Map());
}

/** The same, with a memory of what the person is through with that outlives one run. */
export async function runUi(options: ApproverUiOptions, through: Through): Promise<UiEnd> {
  const { client, signal, clock = systemClock, guardMs = TYPE_AHEAD_GUARD_MS } = options;
  const input = createTypedInput({
    stream: options.input,
    clock,
    ...(options.raise === undefined ? {} : { raise: options.raise }),
  });
  const over = new AbortController();
  const notes: string[] = [];
  const tell: Parameters<typeof watchOutcomes>[0]["tell"] = (question, outcome) => {
    notes.push(describeOutcome(question, outcome));
    if (session.shown === undefined) session.wait.abort();
  };
  const session: Session = {
    options,
    desk: { screen: createScreen(options), input, clock, guardMs },
    known: new Map(),
    through,
    skipped: new Set(),
    notes,
    watch: watchOutcomes({ read: options.outcomes, clock, signal: over.signal, tell }),
    shown: undefined,
    busy: false,
    wait: new AbortController(),
    end: undefined,
  };
  const changes = client.changes[Symbol.asyncIterator]();
  for (const question of client.pending()) session.known.set(question.request.id, question);
  const listen = async (): Promise<void> => {
    for (let next = await changes.next(); next.done !== true; next = await changes.next())
      note(session, next.value);
    finish(session, "gate_gone");
  };
  const listening = listen();
  const onAbort = (): void => finish(session, "aborted");
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  void input.over.then(() => finish(session, "input_over"));
  try {
    return await work(session);
  } finally {
    over.abort();
    signal.removeEventListener("abort", onAbort);
    input.release();
    await changes.return?.();
    await listening;
  }
}
