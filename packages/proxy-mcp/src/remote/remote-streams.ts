/**
 * Remote streams: what a server says over streams of events. One that breaks is opened again where
 * that says nothing twice.
 */
import { LARGE_BYTES } from "../limits.js";
import { logText } from "../log-text.js";
import type { RpcId } from "../rpc.js";
import { AuthorizationError, exchangeAuthorized } from "./authorization.js";
import { contentType } from "./exchange.js";
import type { Exchanged } from "./exchange.js";
import { learnParamHeaders } from "./call-headers.js";
import { readEvents } from "./events.js";
import { createLongTurn } from "./one-at-a-time.js";
import { readMessage } from "./read-message.js";
import type { SentMessage } from "./read-message.js";
import { fail, failWith, headersFor, learnVersion, say, sleep } from "./remote-state.js";
import type { State } from "./remote-state.js";

/** The type of a stream of events. */
export const EVENTS = "text/event-stream";
/** Why a session is lost whose ID the server does not know any more. */
export const SESSION_ENDED = "it has ended the session";
const UNKNOWN = "whether the request took effect is not known";
const RETRY_MS_MAX = 30_000;
/** A server cannot have us come back without a pause. */
const RETRY_MS_MIN = 50;
/** Streams of a request that end without an answer are opened again so many times. */
const RESUMES_MAX = 100;
/** What an ID may consist of that goes into a header. */
export const VISIBLE: RegExp = /^[\u0021-\u007e]{1,1024}$/u;

/** Why a request was not answered. */
export function refusalOf(status: number): string {
  if (status === 401 || status === 403)
    return `The server refused the request (HTTP ${status}): it wants other credentials`;
  if (status >= 300 && status < 400)
    return `The server redirects (HTTP ${status}), and redirects are not followed: put its real address into the configuration`;
  return `The server refused the request: HTTP ${status}`;
}

/** Until the request is answered; where the stream ends before, it is resumed from its last event. */
export async function takeEvents(
  state: State,
  first: Exchanged,
  message: SentMessage,
): Promise<void> {
  let response = first;
  let lastId: string | undefined;
  const signal = state.cancels.get(message.id ?? "")?.own.signal ?? state.over.signal;
  for (let tries = 0; ; tries++) {
    const read = await readStream(state, response, { until: message, lastId });
    if (read.isAnswered || signal.aborted) return;
    if (read.isOther) return failWith(state, message, OTHERS_ANSWER);
    lastId = read.lastId;
    if (lastId === undefined || tries >= RESUMES_MAX)
      return fail(state, message, `The server ended its answer early; ${UNKNOWN}`);
    await sleep(state.retryMs, signal);
    try {
      response = await exchangeAuthorized(state.authorization, state.endpoint, {
        method: "GET",
        headers: { ...headersFor(state), accept: EVENTS, "last-event-id": lastId },
        signal,
      });
    } catch (error) {
      if (signal.aborted) return;
      // Whatever the error says of it: not this request was refused, but the rest of its answer.
      return fail(
        state,
        message,
        `The server ended its answer early, and the rest is not available (${reasonOf(error)}); ${UNKNOWN}`,
      );
    }
    if (response.status !== 200 || contentType(response) !== EVENTS) {
      response.body.destroy();
      return fail(
        state,
        message,
        `${refusalOf(response.status)}, when its answer was asked for again; ${UNKNOWN}`,
      );
    }
  }
}

/** Without a sentence that says what was done. */
function reasonOf(error: unknown): string {
  if (error instanceof AuthorizationError) return error.code;
  return logText(error instanceof Error ? error.message : String(error));
}

interface Reading {
  /** The request whose answer ends it. */
  readonly until?: SentMessage;
  readonly lastId?: string | undefined;
}

/** Whether it is the answer to a request. */
export const isAnswerTo = ({ id }: SentMessage, answer: SentMessage): boolean =>
  answer.isMessage && !answer.isRequest && answer.id === id;

/** Ends a request that was answered with something else, which may be another one's answer. */
export function failOther(
  state: State,
  message: SentMessage,
  { answer, body }: { readonly answer: SentMessage; readonly body: Buffer },
): void {
  // An error without an ID says something, if to nobody.
  if (answer.id === undefined || isOfAnother(state, answer)) say(state, body);
  failWith(state, message, OTHERS_ANSWER);
}

const OTHERS_ANSWER = {
  text: `The server answered with a message that is not the answer to this request; ${UNKNOWN}`,
  code: "answer_unreadable",
} as const;

/** Servers that mix streams up still answer what is asked. */
const isOfAnother = ({ cancels }: State, { id }: SentMessage): boolean =>
  id !== undefined && cancels.has(id);

interface Read {
  readonly isAnswered: boolean;
  /** It has the answer to what nobody asked. */
  readonly isOther: boolean;
  readonly lastId: string | undefined;
}

/** Says each message of a stream. A stream that breaks has ended. */
async function readStream(
  state: State,
  { body }: Exchanged,
  { until, lastId: before }: Reading,
): Promise<Read> {
  let lastId = before;
  let isAnswered = false;
  let isOther = false;
  const turn = createLongTurn(state.large, LARGE_BYTES);
  try {
    await readEvents(
      body,
      {
        onRetry: (ms) => void (state.retryMs = Math.max(RETRY_MS_MIN, Math.min(ms, RETRY_MS_MAX))),
        onEvent({ id, event = "message", data }) {
          turn.isOver();
          if (id !== undefined && VISIBLE.test(id)) lastId = id;
          const text = Buffer.from(data);
          const heard = readMessage(text);
          if (event !== "message" || !heard.isMessage) return;
          if (until !== undefined && isAnswerTo(until, heard)) {
            learnVersion(state, until, heard);
            learnParamHeaders(state, until, text);
            isAnswered = true;
          } else if (until !== undefined && isNobodys(state, heard)) {
            // Nothing else would end it: the stream may stay open for ever.
            isOther = true;
            body.destroy();
            return;
          }
          say(state, text);
        },
      },
      {
        charsMax: state.on.bytesMax,
        async pause(bytes) {
          await state.on.pause();
          await turn.read(bytes);
        },
      },
    );
  } catch (error) {
    if (!state.over.signal.aborted)
      state.on.log(
        `a stream broke: ${logText(error instanceof Error ? error.message : String(error))}`,
      );
    body.destroy();
  } finally {
    turn.leave();
  }
  return { isAnswered, isOther, lastId };
}

/** An answer, with an ID that no request under way has. */
const isNobodys = (state: State, heard: SentMessage): boolean =>
  heard.isAnswer && !isOfAnother(state, heard);

/** What the server says by itself; one that has no such stream says 405. */
export function listen(state: State): void {
  void (async () => {
    let lastId: string | undefined;
    let failures = 0;
    const { signal } = state.over;
    while (!signal.aborted) {
      const opened = await openOwn(state, lastId);
      if (signal.aborted || opened === undefined) return;
      if ("problem" in opened) {
        if (failures === 0)
          state.on.log(`the server's own messages are not heard for now: ${opened.problem}`);
        failures++;
      } else {
        failures = 0;
        ({ lastId } = await readStream(state, opened, { lastId }));
      }
      await sleep(Math.min(RETRY_MS_MAX, state.retryMs * 2 ** failures), signal);
    }
  })();
}

/** The stream of what it says by itself, or why there is none for now; `undefined`: for good. */
async function openOwn(
  state: State,
  lastId: string | undefined,
): Promise<Exchanged | { readonly problem: string } | undefined> {
  try {
    const response = await exchangeAuthorized(state.authorization, state.endpoint, {
      method: "GET",
      headers: {
        ...headersFor(state),
        accept: EVENTS,
        ...(lastId !== undefined && { "last-event-id": lastId }),
      },
      signal: state.over.signal,
    });
    const { status } = response;
    if (status === 200 && contentType(response) === EVENTS) return response;
    response.body.destroy();
    if (status === 404 && state.sessionId !== undefined) state.on.lost(SESSION_ENDED);
    return status >= 500 || PASSING.has(status) ? { problem: refusalOf(status) } : undefined;
  } catch (error) {
    return { problem: logText(error instanceof Error ? error.message : String(error)) };
  }
}

/** Statuses below 500 that do not say that there is no such stream. */
const PASSING: ReadonlySet<number> = new Set([401, 403, 408, 425, 429]);

/**
 * HTTP+SSE: the first event names where to post, which must be at the same origin, and every answer
 * comes over that one stream.
 */
export async function openLegacy(state: State): Promise<boolean> {
  const response = await exchangeAuthorized(state.authorization, state.url, {
    method: "GET",
    headers: { ...headersFor(state), accept: EVENTS },
    signal: state.over.signal,
  });
  if (response.status !== 200 || contentType(response) !== EVENTS) {
    response.body.destroy();
    return false;
  }
  return new Promise((resolve) => {
    const onEvent = ({
      event = "message",
      data,
    }: {
      event?: string | undefined;
      data: string;
    }): void => {
      if (event === "endpoint") {
        const endpoint = URL.canParse(data, state.url.href) ? new URL(data, state.url) : undefined;
        const isOurs = endpoint?.origin === state.url.origin;
        if (endpoint !== undefined && isOurs) {
          state.endpoint = endpoint;
          state.isLegacy = true;
        } else state.on.lost("the server names an address of another origin");
        resolve(isOurs);
        return;
      }
      const text = Buffer.from(data);
      const heard = readMessage(text);
      if (event !== "message" || !heard.isMessage) return;
      if (heard.negotiated !== undefined) state.version ??= heard.negotiated;
      say(state, text);
      if (!heard.isRequest && heard.id !== undefined) state.waiting.get(heard.id)?.();
    };
    const { on } = state;
    const options = { charsMax: state.on.bytesMax, pause: () => on.pause() };
    void readEvents(response.body, { onEvent, onRetry: () => {} }, options)
      .catch(() => {})
      .then(() => {
        resolve(false);
        if (!state.over.signal.aborted) on.lost("the server closed its stream");
      });
  });
}

/** An answer that is waited for. */
interface Awaited {
  /** Resolves when the stream of an HTTP+SSE server has it, or the session is over. */
  readonly answered: Promise<void>;
  /** It is not waited for any more. */
  readonly forget: () => void;
}

/** From now on: a server may answer before it takes note of the request. */
export function answerOf({ waiting, over }: State, id: RpcId): Awaited {
  let forget = (): void => {};
  const answered = new Promise<void>((resolve) => {
    forget = (): void => {
      if (waiting.get(id) === forget) waiting.delete(id);
      over.signal.removeEventListener("abort", forget);
      resolve();
    };
    waiting.set(id, forget);
    over.signal.addEventListener("abort", forget, { once: true });
  });
  return { answered, forget };
}
