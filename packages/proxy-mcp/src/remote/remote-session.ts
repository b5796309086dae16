/**
 * Remote session: what an MCP client does over HTTP. Each message is a POST of its own; the answer is
 * in the response or in a stream that it opens, which is resumed where it breaks. What the server says
 * by itself comes over a GET stream. A server that knows only HTTP+SSE is spoken to in that.
 */
import { setMaxListeners } from "node:events";
import { LARGE_BYTES } from "../limits.js";
import { logText } from "../log-text.js";
import type { RemoteAuthorization } from "./authorization.js";
import { AuthorizationError, exchangeAuthorized, maskedHandlers } from "./authorization.js";
import { connectionsTo, contentType, UnreachedError, wholeBody } from "./exchange.js";
import type { Exchanged } from "./exchange.js";
import { learnParamHeaders, withHeaders } from "./call-headers.js";
import { createLongTurn, createOneAtATime } from "./one-at-a-time.js";
import { createOutgoing } from "./outgoing.js";
import { readMessage } from "./read-message.js";
import type { SentMessage } from "./read-message.js";
import type { RemoteHandlers } from "./remote-handlers.js";
import { fail, failWith, headersFor, learnVersion, say, tooLong } from "./remote-state.js";
import type { State } from "./remote-state.js";
import {
  answerOf,
  EVENTS,
  failOther,
  isAnswerTo,
  listen,
  openLegacy,
  refusalOf,
  SESSION_ENDED,
  takeEvents,
  VISIBLE,
} from "./remote-streams.js";

/** A session. */
export interface RemoteSession {
  /** Sends a message, without its line feed. */
  send(line: Buffer): void;
  /** Resolves when the session takes more again; `undefined` while it does. */
  room(): Promise<void> | undefined;
  /** Resolves when no request is under way. */
  settled(): Promise<void>;
  /** Ends the session at the server, and everything here. Never rejects. */
  close(): Promise<void>;
  /** Ends everything here at once. */
  abort(): void;
}

/** A stream that broke is opened again after this, unless the server wants another pause. */
const RETRY_MS = 1_000;
/** Requests at a time; notifications and streams do not wait for them. */
const REQUESTS_AT_ONCE = 64;
/** Bytes that may wait to be sent before no more are taken. */
const UNSENT_BYTES_MAX: number = 4 * 1024 * 1024;
/** What is sent after a notification waits so long for its response. */
const NOTIFIED_MS_MAX = 2_000;
/** So long after it was sent its connection is closed: each is one more, and keeps its message. */
const UNNOTED_MS_MAX = 60_000;
/** A server that is told of a session's end has this long to take note. */
const DELETE_MS_MAX = 1_000;

/** A server as a session needs it. */
export interface RemoteServer {
  readonly name: string;
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly authorization?: RemoteAuthorization | undefined;
}

/** Opens a session; nothing is sent before the first message. */
export function openRemoteSession(
  { name, url, headers = {}, authorization }: RemoteServer,
  on: RemoteHandlers,
): RemoteSession {
  const state: State = {
    endpoint: url,
    url,
    headers,
    authorization,
    on: authorization === undefined ? on : maskedHandlers(name, authorization, on),
    over: new AbortController(),
    agent: connectionsTo(url, REQUESTS_AT_ONCE),
    underWay: new Set(),
    sessionId: undefined,
    version: undefined,
    before: Promise.resolve(),
    isLegacy: false,
    large: createOneAtATime(),
    waiting: new Map(),
    answered: new WeakSet(),
    retryMs: RETRY_MS,
    tools: new Map(),
    cancels: new Map(),
  };
  const outgoing = createOutgoing(UNSENT_BYTES_MAX);
  // One for each request under way.
  setMaxListeners(0, state.over.signal);
  state.over.signal.addEventListener("abort", () => state.agent.destroy(), { once: true });
  return {
    send(line) {
      const message = readMessage(line);
      const cancel = message.cancels === undefined ? undefined : state.cancels.get(message.cancels);
      // Without a session a request is taken back by closing its connection.
      const withdraw = (): void => cancel?.own.abort(new Error("it was withdrawn"));
      if (cancel?.isEnough === true) return withdraw();
      const onSent = outgoing.enter(line.length);
      const sent = state.before.then(() => post(state, { line, message, onSent }));
      if (message.method === "initialize") state.before = sent;
      else if (message.id === undefined) state.before = soonAfter(sent);
      if (cancel !== undefined) void soonAfter(sent).then(withdraw);
      state.underWay.add(sent);
      void sent.finally(() => {
        onSent();
        state.underWay.delete(sent);
      });
    },
    room: () => outgoing.room(),
    async settled() {
      while (state.underWay.size > 0) await Promise.all(state.underWay);
    },
    async close() {
      await endAtServer(state);
      state.over.abort(new Error("the session is over"));
    },
    abort: () => state.over.abort(new Error("the session is over")),
  };
}

/** A server that does not answer a notification holds nothing up for long. */
function soonAfter(sent: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, NOTIFIED_MS_MAX);
    void sent.finally(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Never rejects: whoever waits for an answer gets one. */
async function post(state: State, sent: Sent): Promise<void> {
  if (state.over.signal.aborted) return;
  const { message } = sent;
  const { id, isRequest } = message;
  if (!state.isLegacy || !isRequest || id === undefined) return deliver(state, sent);
  // Waited for from here on: the stream may be faster than the response, which may never end.
  const { answered, forget } = answerOf(state, id);
  await Promise.race([deliver(state, { ...sent, answered }), answered]);
  state.answered.add(message);
  forget();
}

async function deliver(state: State, sent: Sent): Promise<void> {
  const { line, message, onSent } = sent;
  const { signal, forget, onGone } = signalOf(state, message);
  try {
    const send = (): Promise<Exchanged> =>
      exchangeAuthorized(state.authorization, state.endpoint, {
        method: "POST",
        headers: headersFor(state, message),
        body: line,
        onSent() {
          onSent();
          onGone();
        },
        signal,
        ...(message.isRequest && { agent: state.agent }),
      });
    const response = await send();
    await take(state, await withHeaders(state, { response, message, send }), sent);
  } catch (error) {
    if (signal.aborted) return;
    if (error instanceof AuthorizationError)
      return failWith(state, message, { text: error.message, code: error.code });
    const why = logText(error instanceof Error ? error.message : String(error));
    const isUnreached = error instanceof UnreachedError;
    if (message.method === "initialize" && isUnreached)
      return state.on.lost(`the server at ${state.url.origin} cannot be reached: ${why}`);
    fail(
      state,
      message,
      isUnreached
        ? `The server cannot be reached: ${why}; nothing was done`
        : `The connection to the server broke: ${why}; whether the request took effect is not known`,
    );
  } finally {
    forget();
  }
}

/** A request ends with the session here, or when it is withdrawn: one in vain takes up a connection. */
function signalOf(
  { over, cancels, isLegacy }: State,
  { id, version, isRequest, method }: SentMessage,
): { readonly signal: AbortSignal; readonly forget: () => void; readonly onGone: () => void } {
  if ((isRequest && isLegacy) || method === "initialize")
    return { signal: over.signal, forget: () => {}, onGone: () => {} };
  const own = new AbortController();
  const end = (): void => own.abort(over.signal.reason);
  over.signal.addEventListener("abort", end, { once: true });
  if (id === undefined || !isRequest) {
    let timer: NodeJS.Timeout | undefined;
    return {
      signal: own.signal,
      forget() {
        clearTimeout(timer);
        over.signal.removeEventListener("abort", end);
      },
      onGone() {
        clearTimeout(timer);
        timer = setTimeout(end, UNNOTED_MS_MAX);
        timer.unref();
      },
    };
  }
  const withdrawal = { own, isEnough: version !== undefined };
  cancels.set(id, withdrawal);
  return {
    signal: own.signal,
    forget() {
      over.signal.removeEventListener("abort", end);
      if (cancels.get(id) === withdrawal) cancels.delete(id);
    },
    onGone: () => {},
  };
}

interface Sent {
  readonly line: Buffer;
  readonly message: SentMessage;
  /** Told, once or more often, that it does not wait here any more. */
  readonly onSent: () => void;
  /** With HTTP+SSE: resolves when the stream has the answer. */
  readonly answered?: Promise<void>;
}

async function take(state: State, response: Exchanged, sent: Sent): Promise<void> {
  const { status, headers } = response;
  const { message } = sent;
  if (status >= 200 && status < 300) {
    if (message.method === "initialize") learnSession(state, headers["mcp-session-id"]);
    if (!message.isRequest || state.isLegacy) {
      await wholeBody(response.body, state.on.bytesMax);
      if (message.method === "notifications/initialized" && !state.isLegacy) listen(state);
      return sent.answered;
    }
    return contentType(response) === EVENTS
      ? takeEvents(state, response, message)
      : takeBody(state, response, message);
  }
  if (status === 404 && state.sessionId !== undefined) {
    response.body.destroy();
    state.on.lost(SESSION_ENDED);
    return;
  }
  const body = await wholeBody(response.body, state.on.bytesMax);
  const said = body === undefined ? undefined : readMessage(body);
  // What is no answer to the request would leave it unanswered.
  const isOurs = said?.isMessage === true && (!message.isRequest || said.id === message.id);
  if (body !== undefined && isOurs) return say(state, body);
  const isOld = message.method === "initialize" && [400, 404, 405].includes(status);
  if (isOld && !state.isLegacy && (await openLegacy(state))) return post(state, sent);
  fail(state, message, refusalOf(status));
}

function learnSession(state: State, id: string | string[] | undefined): void {
  if (id === undefined) return;
  if (typeof id === "string" && VISIBLE.test(id)) state.sessionId = id;
  else state.on.lost("the server's session ID is not one");
}

async function takeBody(state: State, response: Exchanged, message: SentMessage): Promise<void> {
  const turn = createLongTurn(state.large, LARGE_BYTES);
  try {
    const body = await wholeBody(response.body, state.on.bytesMax, (bytes) => turn.read(bytes));
    if (body === undefined) return tooLong(state, message);
    const answer = readMessage(body);
    if (!answer.isMessage)
      return fail(state, message, "The server's answer is not a message of MCP");
    if (!isAnswerTo(message, answer)) return failOther(state, message, { answer, body });
    learnVersion(state, message, answer);
    learnParamHeaders(state, message, body);
    say(state, body);
    // The next long one comes when this one went on.
    if (body.length > LARGE_BYTES) await state.on.pause();
  } finally {
    turn.leave();
  }
}

async function endAtServer(state: State): Promise<void> {
  const { sessionId, endpoint } = state;
  if (sessionId === undefined || state.over.signal.aborted) return;
  const signal = AbortSignal.any([state.over.signal, AbortSignal.timeout(DELETE_MS_MAX)]);
  const sent = exchangeAuthorized(state.authorization, endpoint, {
    method: "DELETE",
    headers: headersFor(state),
    signal,
  });
  await sent.then(({ body }) => body.destroy()).catch(() => {}); // a server may not allow it
}
