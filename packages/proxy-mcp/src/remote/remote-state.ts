/** Remote state: what the parts of a remote session share. */
import type { Agent } from "node:http";
import type { BoundedIds } from "../bounded-ids.js";
import { oneLine } from "../one-line.js";
import { encodeHeaderValue } from "../header-value.js";
import { writeParamHeaders } from "../param-headers.js";
import type { ParamHeader } from "../param-headers.js";
import { errorLine, INTERNAL_ERROR } from "../rpc.js";
import type { RpcId } from "../rpc.js";
import type { RemoteAuthorization } from "./authorization.js";
import type { OneAtATime } from "./one-at-a-time.js";
import type { SentMessage } from "./read-message.js";
import type { RemoteHandlers } from "./remote-handlers.js";

/** How a request under way is withdrawn. */
export interface Withdrawal {
  /** Ends its connection, which is one of few. */
  readonly own: AbortController;
  /** Whether that says it all: there is no session in which a notification would. */
  readonly isEnough: boolean;
}

/** A session, as its parts see it. */
export interface State {
  /** Where messages are posted: another address of the same origin with HTTP+SSE. */
  endpoint: URL;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly authorization: RemoteAuthorization | undefined;
  readonly on: RemoteHandlers;
  readonly over: AbortController;
  /** Connections of requests. */
  readonly agent: Agent;
  readonly underWay: Set<Promise<void>>;
  /** Of several long messages one is read at a time. */
  readonly large: OneAtATime;
  sessionId: string | undefined;
  version: string | undefined;
  /**
   * What is sent next waits for it: `initialize`, which decides how the server is spoken to, and
   * notifications, which a server must not see after what a client sent later.
   */
  before: Promise<void>;
  isLegacy: boolean;
  /** Requests that an HTTP+SSE stream has to answer. */
  readonly waiting: Map<RpcId, () => void>;
  /** Those that it has answered: what goes wrong with their POST afterwards is no answer. */
  readonly answered: WeakSet<SentMessage>;
  retryMs: number;
  /** What of a tool's arguments the server wants as headers, by the tool's name. */
  tools: ReadonlyMap<string, readonly ParamHeader[]>;
  /** Of the requests under way. */
  readonly cancels: Map<RpcId, Withdrawal>;
  /** Requests that were taken back; their answers may still come. */
  readonly withdrawn: BoundedIds;
}

const ACCEPT = "application/json, text/event-stream";

/** The headers of a request. */
export function headersFor(state: State, message?: SentMessage): Readonly<Record<string, string>> {
  const { sessionId, headers } = state;
  const version = message?.version ?? state.version;
  return {
    ...headers,
    ...(message !== undefined && { "content-type": "application/json", accept: ACCEPT }),
    ...(sessionId !== undefined && { "mcp-session-id": sessionId }),
    ...(version !== undefined && { "mcp-protocol-version": version }),
    // Without sessions a server may route by these, and refuses where they differ from the body.
    ...(message?.version !== undefined && {
      "mcp-method": message.method ?? "",
      ...(message.name !== undefined && { "mcp-name": encodeHeaderValue(message.name) }),
      ...paramHeaders(state, message),
    }),
  };
}

/** Made of the arguments that are sent: a person or the vault may have changed them. */
export function paramHeaders(
  { tools }: State,
  { name, args }: SentMessage,
): Readonly<Record<string, string>> {
  return writeParamHeaders(name === undefined ? [] : (tools.get(name) ?? []), args);
}

/** Its answer names the version that is spoken from then on. */
export function learnVersion(state: State, { method }: SentMessage, answer: SentMessage): void {
  if (method === "initialize") state.version = answer.negotiated ?? state.version;
}

/** What waits for an answer gets this one; of anything else the log tells. */
export function fail(state: State, message: SentMessage, text: string): void {
  failWith(state, message, { text, code: "server_unavailable" });
}

/** The same with another code. */
export function failWith(
  state: State,
  message: SentMessage,
  { text, code }: { readonly text: string; readonly code: string },
): void {
  const { id, isRequest } = message;
  if (id !== undefined && isRequest && !state.answered.has(message))
    state.on.say(errorLine(id, { code: INTERNAL_ERROR, message: text, data: { code } }));
  else state.on.log(text);
}

/** Its answer is longer than one may be. */
export function tooLong(state: State, { id }: SentMessage): void {
  if (id !== undefined)
    state.on.say(
      errorLine(id, {
        code: INTERNAL_ERROR,
        message: `The server's answer is too long: it has more than ${state.on.bytesMax} bytes`,
        data: { code: "answer_too_large" },
      }),
    );
}

/** As one line. */
export function say(state: State, text: Buffer): void {
  state.on.say(oneLine(text));
}

/** The pause before a stream is opened again. @param signal - Ends it. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    timer.unref();
    if (signal.aborted) return done();
    signal.addEventListener("abort", done, { once: true });
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
  });
}
