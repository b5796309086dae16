/**
 * Relay: a client's standard streams over one resident after another. Its own client never sees a
 * connection break: the handshake is repeated with the bytes it came in, a tool call that the log
 * does not show as forwarded is sent once more, and whatever else was in work gets one answer that
 * says that its outcome is unknown. Rules: spec/resident.md §5.
 */
import { randomUUID } from "node:crypto";
import type { Readable, Writable } from "node:stream";
import type { Link, LinkHandlers } from "./link.js";
import { createAnswers } from "./answers.js";
import type { Answers } from "./answers.js";
import { BACK_OFF_MS, LOOPING, createLosses } from "./losses.js";
import type { Losses } from "./losses.js";
import { createInWork } from "./in-work.js";
import type { InWork, Line } from "./in-work.js";
import { createLines, errorLine, greetingLine, listsIn, readLine } from "./messages.js";
import type { Id, Kept, Problem } from "./messages.js";

/** Parts of {@link createRelay}. */
export interface RelayParts {
  readonly input: Readable;
  readonly output: Writable;
  /** Opens a session, or says why there is none. Never rejects. */
  open(handlers: LinkHandlers): Promise<Link | string>;
  notice(bytes: Buffer | string): void;
  exit(code: number): void;
  /** What is said when a session follows another one. */
  readonly again?: string;
  /** Milliseconds of a clock that only runs forward. Default: this process's. */
  readonly nowMs?: () => number;
}

/** A running relay. */
export interface Relay {
  signal(name: string): void;
}

/** Bytes of a line, and of what waits for a session. */
const WAITING_BYTES_MAX: number = 64 * 1024 * 1024;
/** Bytes of a line of a server: the most that `max_result_megabytes` allows, and what labels add. */
const ANSWER_BYTES_MAX: number = 257 * 1024 * 1024;
/** Above this no more is read until some of it went. */
const WAITING_BYTES_HIGH: number = 1024 * 1024;
const SEND_BYTES_MAX: number = 64 * 1024;
/** Subscriptions that are kept; the oldest are forgotten. */
const KEPT_MAX = 1_000;

const STALE: Problem = {
  code: "request_lost",
  message: "A server that has ended asked by the same id, and the client may still answer that",
  isRetryable: true,
};

/** A line of the client. */
interface Waiting extends Line {
  readonly kept: Kept | undefined;
  /** Ours: only for the session that is open. */
  readonly isOwn: boolean;
}

/** What is known of the handshake. */
interface Handshake {
  readonly id: Id;
  readonly bytes: Buffer;
  /** Whether the client has an answer to it. */
  isAnswered: boolean;
  /** `notifications/initialized`, once the client sent it. */
  done: Buffer | undefined;
}

interface State {
  readonly parts: RelayParts;
  readonly nowMs: () => number;
  readonly answers: Answers;
  link: Link | undefined;
  isOpening: boolean;
  /** The repeated handshake waits for its answer: nothing else is sent. */
  isReplaying: boolean;
  /** Requests wait for the session that follows; what a server or the client waits for goes on. */
  isHeld: boolean;
  handshake: Handshake | undefined;
  /** Lines of which nothing was sent yet. */
  readonly waiting: Waiting[];
  waitingBytes: number;
  /** The rest of a line that was begun. */
  begun: Buffer | undefined;
  /** Requests that were sent and have no answer. */
  readonly inWork: InWork;
  /** Subscriptions and the log level, as they were sent, for the next session. */
  readonly kept: Map<string, NonNullable<Kept["message"]>>;
  /** Ids of our own, whose answers are nobody's. */
  readonly own: Set<Id>;
  /** Requests of the server that the client has not answered, of this session and of lost ones. */
  readonly asked: Set<Id>;
  readonly stale: Set<Id>;
  isInputOver: boolean;
  readonly losses: Losses;
  /** Whether a session was tried twice since the last one, for calls of which nothing is known. */
  isTriedAgain: boolean;
  problem: Problem | undefined;
  wasOpen: boolean;
}

/** Starts at once. */
export function createRelay(given: RelayParts): Relay {
  const nowMs = given.nowMs ?? (() => performance.now());
  const answers = createAnswers(given.output, () => state.link);
  const exit = (code: number): void => (answers.flush(), given.exit(code));
  const parts = { ...given, exit };
  const state: State = {
    parts,
    nowMs,
    answers,
    link: undefined,
    isOpening: false,
    isReplaying: false,
    isHeld: false,
    handshake: undefined,
    waiting: [],
    waitingBytes: 0,
    begun: undefined,
    inWork: createInWork(nowMs),
    kept: new Map(),
    own: new Set(),
    asked: new Set(),
    stale: new Set(),
    isInputOver: false,
    losses: createLosses(nowMs),
    isTriedAgain: false,
    problem: undefined,
    wasOpen: false,
  };
  const { input } = parts;
  const lines = createLines(
    (line) => takeLine(state, line),
    WAITING_BYTES_MAX,
    () => {
      parts.notice("acp: The client sent a line of more than 64 MB [options_invalid]\n");
      exit(1);
    },
  );
  input.on("data", (chunk: Buffer) => lines.push(chunk));
  input.on("error", () => exit(0));
  input.on("end", () => {
    state.isInputOver = true;
    if (state.link === undefined && !state.isOpening) exit(0);
    else send(state);
  });
  void openSession(state);
  return {
    signal(name) {
      if (state.link === undefined) exit(0);
      else state.link.signal(name);
    },
  };
}

/** A line of the client: kept until there is a session that takes it. */
function takeLine(state: State, bytes: Buffer): void {
  const { requests, answers, method, isCall, kept } = readLine(bytes);
  // What a lost server asked is nobody's answer any more.
  if (requests.length === 0 && answers.length > 0 && answers.every((id) => state.stale.has(id))) {
    for (const id of answers) state.stale.delete(id);
    return;
  }
  for (const id of answers) state.asked.delete(id);
  const [id] = requests;
  if (method === "initialize" && id !== undefined && state.handshake === undefined)
    state.handshake = { id, bytes, isAnswered: false, done: undefined };
  if (method === "notifications/initialized" && state.handshake !== undefined)
    state.handshake.done = bytes;
  state.waiting.push({ bytes, requests, kept, isCall, isOwn: false });
  state.waitingBytes += bytes.length;
  if (state.waitingBytes > WAITING_BYTES_HIGH) state.parts.input.pause();
  if (state.link !== undefined) send(state);
  else if (!state.isOpening && state.losses.mayTry()) void openSession(state);
  else if (!state.isOpening) answerWaiting(state);
}

/** Sends what there is room for; a line is in work from its first byte. */
function send(state: State): void {
  const { link, waiting } = state;
  // First it has to be known how far the calls of a lost session came.
  if (link === undefined || state.isReplaying || state.inWork.lost().length > 0) return;
  while (link.room() > 0) {
    if (state.begun === undefined) {
      const at = state.isHeld ? waiting.findIndex(({ requests }) => requests.length === 0) : 0;
      const [next] = at === -1 ? [] : waiting.splice(at, 1);
      if (next === undefined) break;
      state.waitingBytes -= next.bytes.length;
      const n = state.inWork.begin(next);
      for (const id of next.requests) if (n !== undefined) link.call(id, n);
      keep(state, next.kept);
      state.begun = next.bytes;
    }
    const size = Math.min(link.room(), SEND_BYTES_MAX);
    link.send(state.begun.subarray(0, size));
    state.begun = state.begun.length > size ? state.begun.subarray(size) : undefined;
  }
  if (state.waitingBytes <= WAITING_BYTES_HIGH) state.parts.input.resume();
  if (state.isHeld && state.begun === undefined) link.held();
  if (state.isInputOver && waiting.length === 0 && state.begun === undefined) link.end();
}

/** A request that was begun is sent whole; there is room for it as long as the resident reads. */
function hold(state: State): void {
  state.isHeld = true;
  send(state);
}

/** What is sent now is what the next session hears again. */
function keep({ kept }: State, line: Kept | undefined): void {
  if (line === undefined) return;
  kept.delete(line.name);
  if (line.message === undefined) return;
  kept.set(line.name, line.message);
  const [oldest] = kept.size > KEPT_MAX ? kept.keys() : [];
  if (oldest !== undefined) kept.delete(oldest);
}

/** A new server has no subscriptions and no level of log messages yet. */
function replay(state: State): void {
  const { kept, own, waiting } = state;
  own.clear();
  const lines = Array.from(kept.values(), (message): Waiting => {
    const id = `acp-again-${randomUUID()}`;
    own.add(JSON.stringify(id));
    const bytes = Buffer.from(`${JSON.stringify({ ...message, id })}\n`);
    state.waitingBytes += bytes.length;
    return { bytes, requests: [], kept: undefined, isCall: false, isOwn: true };
  });
  waiting.unshift(...lines);
}

async function openSession(state: State): Promise<void> {
  const { parts } = state;
  state.isOpening = true;
  const lines = createLines(
    (line) => takeAnswer(state, line),
    ANSWER_BYTES_MAX,
    () => lose(state),
  );
  const opened = await parts.open({
    onOutput: (bytes) => lines.push(bytes),
    onNotice: (bytes) => parts.notice(bytes),
    onRoom: () => send(state),
    onKnown: (again) => sendAgain(state, again),
    onHold: () => hold(state),
    onEnd: (how) => endSession(state, how),
  });
  // One that died as it started may be all that keeps lost calls from being known.
  if (typeof opened === "string" && state.inWork.lost().length > 0 && !state.isTriedAgain) {
    state.isTriedAgain = true;
    return openSession(state);
  }
  state.isOpening = false;
  if (typeof opened === "string") return giveUp(state, opened);
  state.link = opened;
  state.answers.follow();
  state.isTriedAgain = false;
  state.problem = undefined;
  const { handshake, wasOpen } = state;
  state.wasOpen = true;
  // A handshake that nothing was sent of yet goes the way of every line.
  if (handshake === undefined || state.waiting.some(({ bytes }) => bytes === handshake.bytes))
    return askOrSend(state);
  state.isReplaying = true;
  opened.send(handshake.bytes);
  if (wasOpen) parts.notice(`acp: ${parts.again ?? "Connected to the resident gate again"}\n`);
}

function askOrSend(state: State): void {
  const lost = state.inWork.lost();
  if (lost.length === 0) return send(state);
  const now = state.nowMs();
  state.link?.ask(lost.map(({ n, atMs }) => ({ n, ms: Math.max(0, now - atMs) })));
}

/** What the log does not show as forwarded goes before everything that waits. */
function sendAgain(state: State, again: ReadonlySet<number>): void {
  const lines = state.inWork
    .resolve(again, (id, problem) => state.answers.write(errorLine(id, problem)))
    .map((sent): Waiting => {
      const { id, bytes } = sent;
      state.waitingBytes += bytes.length;
      return { bytes, requests: [id], kept: undefined, isCall: true, sent, isOwn: false };
    });
  state.waiting.unshift(...lines);
  send(state);
}

/** A line of the session. */
function takeAnswer(state: State, bytes: Buffer): void {
  const { handshake } = state;
  const { requests, answers } = readLine(bytes);
  const isHandshake = handshake !== undefined && answers.includes(handshake.id);
  if (isHandshake && state.isReplaying) {
    state.isReplaying = false;
    const { isAnswered, done } = handshake;
    const isDoneSent = done !== undefined && !state.waiting.some((each) => each.bytes === done);
    if (isDoneSent) state.link?.send(done);
    handshake.isAnswered = true;
    state.inWork.settle(handshake.id);
    if (!isAnswered) state.answers.write(bytes);
    else
      for (const list of new Set(["tools", ...listsIn(bytes)]))
        state.answers.write(`{"jsonrpc":"2.0","method":"notifications/${list}/list_changed"}\n`);
    if (isDoneSent) replay(state);
    return askOrSend(state);
  }
  if (requests.length === 0 && answers.length > 0 && answers.every((id) => state.own.delete(id)))
    return;
  if (isHandshake) handshake.isAnswered = true;
  for (const id of answers) state.inWork.settle(id);
  const twice = requests.filter((id) => state.stale.has(id));
  if (twice.length > 0) {
    // The client may still answer what the lost server asked by this name.
    for (const id of twice) state.link?.send(Buffer.from(errorLine(id, STALE)));
    return;
  }
  for (const id of requests) state.asked.add(id);
  state.answers.write(bytes);
}

function endSession(state: State, how: Parameters<LinkHandlers["onEnd"]>[0]): void {
  if (typeof how !== "string") {
    // Whatever was written before goes out first.
    state.parts.output.write("", () => state.parts.exit(how.code));
    return;
  }
  if (how === "lost") return lose(state);
  forget(state, false);
  if (how === "left") answerLost(state);
  // Who told it to end does not want it back before somebody needs it.
  if (state.isInputOver && state.waiting.length === 0) state.parts.exit(0);
  else if (how === "again" || state.waiting.length > 0) void openSession(state);
}

/** The resident is gone: what was in work is answered, and another session is opened. */
function lose(state: State): void {
  forget(state, true);
  if (state.isInputOver) {
    answerLost(state);
    return state.parts.exit(1);
  }
  if (state.losses.note()) void openSession(state);
  else giveUp(state, LOOPING, BACK_OFF_MS);
}

/** Answers what was in work, but for a handshake and calls, which may be sent once more. */
function forget(state: State, isCrash: boolean): void {
  state.link = undefined;
  state.isHeld = false;
  state.begun = undefined;
  state.isReplaying = false;
  const { handshake, inWork, waiting } = state;
  // Calls that were to be sent once more are sent once more by the next session.
  for (let next = waiting[0]; next?.isOwn === true || next?.sent !== undefined; next = waiting[0]) {
    state.waitingBytes -= next.bytes.length;
    if (next.sent !== undefined) inWork.takeBack(next.sent);
    waiting.shift();
  }
  inWork.lose({
    isCrash,
    answer: (id, problem) => state.answers.write(errorLine(id, problem)),
    isKept: (id) => id === handshake?.id && !handshake.isAnswered,
  });
  for (const id of state.asked) state.stale.add(id);
  state.asked.clear();
}

/** Nobody will say how far the calls of lost sessions came. */
function answerLost(state: State): void {
  state.inWork.resolve(new Set(), (id, problem) => state.answers.write(errorLine(id, problem)));
}

/** There is no session, and will be none for a while. */
function giveUp(state: State, message: string, waitMs?: number): void {
  state.problem = { code: "resident_unavailable", message, isRetryable: true };
  state.losses.wait(waitMs);
  state.parts.notice(`acp: ${message} [resident_unavailable]\n`);
  answerWaiting(state);
  if (state.isInputOver) state.parts.exit(1);
}

/** Answers all that waits with why there is no session; the client stays. */
function answerWaiting(state: State): void {
  const { problem, handshake } = state;
  if (problem === undefined) return;
  answerLost(state);
  if (handshake !== undefined && !handshake.isAnswered) {
    handshake.isAnswered = true;
    state.answers.write(greetingLine(handshake.id, handshake.bytes, problem));
  }
  for (const { requests } of state.waiting.splice(0))
    for (const id of requests)
      if (id !== handshake?.id) state.answers.write(errorLine(id, problem));
  state.waitingBytes = 0;
  state.parts.input.resume();
}
