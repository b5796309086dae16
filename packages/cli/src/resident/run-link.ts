/**
 * Run link: the client's side of a run whose gate the resident has. It opens one session after
 * another, passes connections on, and hands in what the run itself has to say. Nothing of it decides
 * anything. Rules: spec/resident.md §4 and §5.
 */
import { ConsentError, asError, isConsentError } from "@acp/core";
import type { ConsentErrorCode } from "@acp/core";
import type { Failure } from "../failure.js";
import { createDoorQueue } from "./door-queue.js";
import type { DoorQueue } from "./door-queue.js";
import { BACK_OFF_MS, LOOPING, createLosses } from "./losses.js";
import type { Losses } from "./losses.js";
import type { Reached, Unreached } from "./reach.js";
import { NOTE_BYTES_MAX } from "./run-frames.js";
import type { NoteCode, RunState } from "./run-frames.js";
import { BODY_BYTES_MAX, RUNS_FROM, frameOf, isRecord, readDoors, recordIn } from "./wire.js";
import type { Frame, Hello } from "./wire.js";

/** Parts of {@link createRunLink}. */
export interface RunLinkParts {
  /** Connects to the resident, which is started where none runs; throws why there is none. */
  connect(): Promise<Reached>;
  /** One more connection to the resident that runs. */
  reach(): Promise<Reached | Unreached>;
  readonly hello: Hello;
  /** The body of the frame `run`, once the agent is held. */
  run(state: RunState): Promise<string>;
  /** Takes what the gate has to say to the person. */
  notice(bytes: Buffer): void;
  /** The same for what this side has to say. */
  say(text: string): void;
  /** Milliseconds of a clock that only runs forward. Default: this process's. */
  readonly nowMs?: () => number;
  /** How long a note or an end may go without an answer, in milliseconds. Default: 60,000. */
  readonly answerMsMax?: number;
}

/** The gate of a run, in the resident. */
export interface RunLink {
  /**
   * Opens the first session; resolves when the command may begin. Once more after it was rejected.
   *
   * @throws ConsentError why not.
   */
  begin(): Promise<void>;
  /** Connections of the command. */
  readonly queue: Pick<DoorQueue, "take" | "enter">;
  /** Writes into the log; rejects where that does not take it. */
  note(code: NoteCode, text: string): Promise<void>;
  /** The command has ended; resolves when nothing runs that was started for it. */
  end(): Promise<void>;
  /** Ends the session, and waits until it is over. */
  close(): Promise<void>;
}

interface Pending {
  resolve(): void;
  reject(error: Error): void;
}

interface Note extends Pending {
  readonly frame: Buffer;
}

interface State {
  readonly parts: RunLinkParts;
  readonly losses: Losses;
  readonly queue: DoorQueue;
  readonly notes: Map<number, Note>;
  /** The connection of the session, from its first byte to its last. */
  reached: Reached | undefined;
  isOpening: boolean;
  /** Whether the session took the command, and takes its notes. */
  isOpen: boolean;
  /** Sessions that ended one after the other before they were one. */
  misses: number;
  lastNote: number;
  phase: RunState;
  problem: ConsentError | undefined;
  begun: Pending | undefined;
  ending: Pending | undefined;
  closing: (() => void) | undefined;
}

const MISSES_MAX = 3;
const ANSWER_MS_MAX = 60_000;
/** How long the resident has to end the session of a run that is over. */
const CLOSE_MS = 10_000;
const OUTDATED =
  "The resident gate is older than this client, and serves no acp run; run: acp resident restart";
const SILENT = "The resident gate does not answer; run: acp resident restart";
const ENDED = "The resident gate ended while this process connected to it";

/** Nothing is open yet. */
export function createRunLink(parts: RunLinkParts): RunLink {
  const state: State = {
    parts,
    losses: createLosses(parts.nowMs ?? (() => performance.now())),
    queue: createDoorQueue({ reach: () => parts.reach(), want: () => refusalOf(want(state)) }),
    notes: new Map(),
    reached: undefined,
    isOpening: false,
    isOpen: false,
    misses: 0,
    lastNote: 0,
    phase: "held",
    problem: undefined,
    begun: undefined,
    ending: undefined,
    closing: undefined,
  };
  return {
    queue: state.queue,
    begin: () =>
      new Promise((resolve, reject) => {
        state.begun = { resolve, reject };
        void open(state);
      }),
    note(code, text) {
      const n = ++state.lastNote;
      const frame = frameOf("note", JSON.stringify({ n, code, text: cut(text) }));
      return answered(state, frame, (pending) => state.notes.set(n, { frame, ...pending }));
    },
    end() {
      state.phase = "ended";
      return answered(state, frameOf("end"), (pending) => (state.ending = pending));
    },
    close: () => close(state),
  };
}

/**
 * Says something that a session answers: this one, or one that follows. Whoever waits for it does
 * not go on without, and not for ever.
 */
async function answered(
  state: State,
  frame: Buffer,
  keep: (pending: Pending) => void,
): Promise<void> {
  let limit: NodeJS.Timeout | undefined;
  const answer = new Promise<void>((resolve, reject) => {
    keep({ resolve, reject });
    const silent = (): void => reject(new ConsentError("home_busy", SILENT));
    limit = setTimeout(silent, state.parts.answerMsMax ?? ANSWER_MS_MAX);
  });
  if (state.isOpen) send(state, frame);
  else {
    const problem = want(state);
    if (problem !== undefined) failAll(state, problem);
  }
  try {
    await answer;
  } finally {
    clearTimeout(limit);
  }
}

/** Opens a session where there is none, or says why not. */
function want(state: State): ConsentError | undefined {
  if (state.reached !== undefined || state.isOpening) return undefined;
  if (state.closing !== undefined) return new ConsentError("home_busy", "The run is over");
  if (!state.losses.mayTry()) return state.problem;
  void open(state);
  return undefined;
}

async function open(state: State): Promise<void> {
  state.isOpening = true;
  try {
    const reached = await state.parts.connect();
    state.isOpening = false;
    if (state.closing !== undefined) return void reached.socket.destroy();
    attend(state, reached);
  } catch (error) {
    state.isOpening = false;
    fail(state, asError(error));
  }
}

function attend(state: State, reached: Reached): void {
  const { parts } = state;
  const { socket, greeting, onFrames } = reached;
  state.reached = reached;
  let isOver = false;
  const over = (act: () => void): void => {
    if (isOver) return;
    isOver = true;
    const wasOpen = state.isOpen;
    state.isOpen = false;
    state.reached = undefined;
    state.queue.end();
    socket.destroy();
    if (state.closing !== undefined) return state.closing();
    state.misses = wasOpen ? 0 : state.misses + 1;
    act();
  };
  socket.on("close", () => over(() => lost(state)));
  if (greeting.protocol[1] < RUNS_FROM)
    return over(() => fail(state, new ConsentError("home_busy", OUTDATED)));
  const hello = JSON.stringify(parts.hello);
  if (Buffer.byteLength(hello) > BODY_BYTES_MAX) {
    const why = "Cannot run: the variables and arguments of this process are too large";
    return over(() => fail(state, new ConsentError("options_invalid", why)));
  }
  // A person who saw the first one's notices learns nothing by the same of the next.
  const session: Session = { reached, isFirst: state.phase === "held", key: undefined, over };
  onFrames((frame) => hear(state, session, frame));
  socket.write(frameOf("hello", hello));
}

/** One session. */
interface Session {
  readonly reached: Reached;
  readonly isFirst: boolean;
  /** Of its doors. */
  key: string | undefined;
  /** Ends it, and does what follows. */
  readonly over: (act: () => void) => void;
}

function hear(state: State, session: Session, { kind, body }: Frame): void {
  const { over, reached } = session;
  const { socket } = reached;
  if (kind === "ready")
    return void state.parts.run(state.phase).then(
      (text) => void (socket.destroyed ? undefined : socket.write(frameOf("run", text))),
      (error: unknown) => over(() => fail(state, asError(error))),
    );
  if (kind === "notice")
    return session.isFirst || state.isOpen ? state.parts.notice(body) : undefined;
  if (kind === "doors") {
    const wanted = readDoors(body);
    session.key = wanted?.key;
    // Nobody listens for them: what comes in is the command's.
    const ports = wanted?.doors.map(() => 0) ?? [];
    return void socket.write(frameOf("opened", JSON.stringify({ ports })));
  }
  if (kind === "go") return begin(state, session);
  if (kind === "noted") return noted(state, body);
  if (kind === "ended") return settleEnding(state);
  if (kind === "hold") {
    state.queue.hold();
    return void socket.write(frameOf("held"));
  }
  if (kind === "again") return over(() => again(state));
  if (kind === "leaving") return over(() => left(state));
  if (kind === "exit" || kind === "refused") over(() => fail(state, errorIn(kind, body)));
}

function begin(state: State, { key }: Session): void {
  state.isOpen = true;
  state.problem = undefined;
  if (state.phase === "held") state.phase = "begun";
  if (key !== undefined) state.queue.open(key);
  for (const { frame } of state.notes.values()) send(state, frame);
  if (state.phase === "ended" && state.ending !== undefined) send(state, frameOf("end"));
  state.begun?.resolve();
  state.begun = undefined;
}

function noted({ notes }: State, body: Buffer): void {
  const { n, code, message } = recordIn(body) ?? {};
  if (typeof n !== "number") return;
  const note = notes.get(n);
  notes.delete(n);
  if (code === undefined) note?.resolve();
  else note?.reject(errorOf({ code, message }));
}

function settleEnding(state: State): void {
  state.ending?.resolve();
  state.ending = undefined;
}

const send = ({ reached }: State, frame: Buffer): void => void reached?.socket.write(frame);

/** Another session follows; one resident after the other may give way. */
function again(state: State): void {
  if (state.misses < MISSES_MAX) void open(state);
  else fail(state, new ConsentError("home_busy", ENDED));
}

/** Who told it to end does not want it back before somebody needs it. */
function left(state: State): void {
  const isNeeded = state.begun ?? state.ending ?? (state.notes.size > 0 || undefined);
  if (isNeeded !== undefined || state.queue.isWaiting()) again(state);
}

function lost(state: State): void {
  if (state.losses.note()) void open(state);
  else fail(state, new ConsentError("home_busy", LOOPING), BACK_OFF_MS);
}

/** There is no session, and will be none for a while. */
function fail(state: State, error: Error, waitMs?: number): void {
  const { begun, parts, losses, queue } = state;
  if (begun !== undefined) {
    state.begun = undefined;
    return begun.reject(error);
  }
  const problem = isConsentError(error) ? error : new ConsentError("home_busy", error.message);
  // A busy command tries every second.
  if (state.problem?.message !== problem.message) parts.say(`${problem.message} [${problem.code}]`);
  state.problem = problem;
  losses.wait(waitMs);
  queue.refuse(refusalOf(problem));
  failAll(state, problem);
}

/** What waited for the log or for an end does not get it: whoever waits must not go on. */
function failAll(state: State, error: ConsentError): void {
  const all = [...state.notes.values(), ...(state.ending === undefined ? [] : [state.ending])];
  state.notes.clear();
  state.ending = undefined;
  for (const each of all) each.reject(error);
}

async function close(state: State): Promise<void> {
  const { reached } = state;
  const over = new Promise<void>((resolve) => (state.closing = resolve));
  state.queue.close({ code: "closing", reason: "the command has ended" });
  if (reached === undefined) return;
  reached.socket.write(frameOf("signal", "SIGTERM"));
  const limit = setTimeout(() => state.closing?.(), CLOSE_MS);
  await over;
  clearTimeout(limit);
  reached.socket.destroy();
}

function refusalOf(problem: ConsentError): { code: "resident_unavailable"; reason: string };
function refusalOf(
  problem: ConsentError | undefined,
): { code: "resident_unavailable"; reason: string } | undefined;
function refusalOf(
  problem: ConsentError | undefined,
): { code: "resident_unavailable"; reason: string } | undefined {
  return problem === undefined
    ? undefined
    : { code: "resident_unavailable", reason: problem.message };
}

function errorIn(kind: "exit" | "refused", body: Buffer): ConsentError {
  const said = recordIn(body) ?? {};
  if (kind === "refused") {
    const why = `The resident gate refuses this client: ${String(said["message"])}`;
    return new ConsentError("home_busy", why);
  }
  const { error, code } = said;
  if (isRecord(error)) return errorOf(error);
  return new ConsentError(
    "home_busy",
    `The resident gate ended the session (exit code ${String(code)})`,
  );
}

/** An error as the resident told it; its code is one of a resident of this or a later version. */
function errorOf(told: Readonly<Partial<Record<keyof Failure, unknown>>>): ConsentError {
  const { code, message, line, column, suggestion, mistakes } = told;
  const known = isCode(code) ? code : "home_busy";
  const all = Array.isArray(mistakes) ? mistakes.filter(isRecord).map(errorOf) : [];
  const place = { line, column };
  return new ConsentError(known, String(message), {
    ...(isPosition(place) && { position: place }),
    ...(typeof suggestion === "string" && { suggestion }),
    ...(all.length > 0 && { cause: new AggregateError(all) }),
  });
}

const isCode = (code: unknown): code is ConsentErrorCode =>
  typeof code === "string" && code !== "internal_error" && /^[a-z_]{1,64}$/u.test(code);

const isPosition = (place: {
  readonly line: unknown;
  readonly column: unknown;
}): place is { readonly line: number; readonly column: number } =>
  typeof place.line === "number" && typeof place.column === "number";

/** A notice of thousands of names says enough by its beginning. */
function cut(text: string): string {
  if (Buffer.byteLength(text) <= NOTE_BYTES_MAX) return text;
  return `${Buffer.from(text)
    .subarray(0, NOTE_BYTES_MAX - 16)
    .toString("utf8")}…`;
}
