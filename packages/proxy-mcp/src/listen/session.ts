/**
 * HTTP session: a client that began with `initialize`. What it sends becomes lines; what comes back
 * goes over the stream of the request that it belongs to, or over the client's own GET stream. A
 * connection that breaks ends nothing: the client may come back. Source: MCP 2025-11-25, "Streamable
 * HTTP".
 */
import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { isRecord, paramsOf, progressTokenOf, readServerLine, resultOf } from "../message.js";
import type { ClientMessage, ClientRequest } from "../message.js";
import type { RpcId } from "../rpc.js";
import { errorLine, INTERNAL_ERROR, INVALID_REQUEST } from "../rpc.js";
import { createEventStreams } from "./event-streams.js";
import type { EventStream, EventStreams } from "./event-streams.js";
import { openLines } from "./lines.js";
import type { Lines } from "./lines.js";
import { refuse } from "./refusal.js";

/** A client's message that may pass. */
export type PassedMessage = Exclude<ClientMessage, { kind: "refused" }>;

/** What a session is opened with. */
export interface HttpSessionParts {
  /** Serves the session's lines. */
  serve(connection: Duplex): void;
  /** Hears each line as the client gets it. */
  onAnswer(line: Buffer): void;
  /** The session is over. */
  onEnd(): void;
  log(line: string): void;
  /**
   * After so many milliseconds without a message a stream's connection is closed, and the client comes
   * back for the answer. Undefined: never.
   */
  readonly pollAfterMs?: number | undefined;
}

/** A session. */
export interface HttpSession {
  /** From a CSPRNG. */
  readonly id: string;
  /** The version that `initialize` was answered with. */
  version(): string | undefined;
  /** Takes the message of a POST, and answers it. */
  post(message: PassedMessage, response: ServerResponse): void;
  /** Opens the client's own stream. */
  listen(response: ServerResponse): void;
  /** Resumes a stream; says why where it cannot. */
  resume(lastEventId: string, response: ServerResponse): string | undefined;
  readonly connections: () => number;
  /** Bytes that wait for the servers. */
  readonly waiting: () => number;
  /** Shows that silent streams are not dead. */
  comment(): void;
  /** Ends it; see {@link Lines.end}. */
  end(isCut?: boolean): void;
}

/** Begins with an event to come back to; what an older client makes of one without data is open. */
const PRIMED_FROM = "2025-11-25";
/** Not about any request that is under way. */
const UNRELATED =
  /^notifications\/(?:(?:tools|prompts|resources)\/list_changed|resources\/updated)$/u;

interface State {
  readonly parts: HttpSessionParts;
  readonly streams: EventStreams;
  readonly lines: Lines;
  /** The client's own. */
  readonly own: EventStream;
  readonly requests: Map<RpcId, Asked>;
  version: string | undefined;
  isOver: boolean;
}

/** A request that is under way. */
interface Asked {
  readonly token: RpcId | undefined;
  readonly stream: EventStream;
  /** Set while its first answer decides what its response is. */
  opening: ServerResponse | undefined;
}

/** Opens one; the first message is `initialize`. */
export function openHttpSession(parts: HttpSessionParts): HttpSession {
  const id = randomBytes(32).toString("base64url");
  const streams = createEventStreams();
  const lines = openLines({
    onLine: (line) => heard(state, line, id),
    pause: () => streams.pause(),
    onEnd: () => over(state),
  });
  const state: State = {
    parts,
    streams,
    lines,
    own: streams.open(),
    requests: new Map(),
    version: undefined,
    isOver: false,
  };
  parts.serve(lines.connection);
  return {
    id,
    version: () => state.version,
    post: (message, response) => post(state, message, response),
    listen: (response) => state.own.connect(response, { isPrimed: isPrimed(state) }),
    resume: streams.resume,
    connections: () => streams.connections() + openings(state),
    waiting: lines.waiting,
    comment: () => streams.comment(),
    end(isCut) {
      lines.end(isCut);
      over(state);
    },
  };
}

const openings = ({ requests }: State): number =>
  [...requests.values()].filter(({ opening }) => opening !== undefined).length;

const isPrimed = ({ version }: State): boolean => version !== undefined && version >= PRIMED_FROM;

function post(state: State, message: PassedMessage, response: ServerResponse): void {
  if (message.kind === "request") return ask(state, message, response);
  if (message.kind === "notification" && message.method === "notifications/cancelled")
    cancelled(state, message.params);
  state.lines.send(message.line);
  response.writeHead(202, { "content-length": 0 }).end();
}

function ask(state: State, request: ClientRequest, response: ServerResponse): void {
  const { id, method, params, line } = request;
  const { requests, streams, parts } = state;
  if (requests.has(id))
    return refuse(response, { status: 400, code: INVALID_REQUEST, reason: "its id is in use" }, id);
  const stream = streams.open();
  const isFirst = method === "initialize";
  const asked: Asked = {
    token: progressTokenOf(params),
    stream,
    opening: isFirst ? response : undefined,
  };
  requests.set(id, asked);
  if (!isFirst) {
    stream.connect(response, { isPrimed: isPrimed(state) });
    if (parts.pollAfterMs !== undefined && isPrimed(state))
      setTimeout(() => requests.has(id) && stream.disconnect(), parts.pollAfterMs).unref();
  }
  state.lines.send(line);
}

/** Nobody answers a request that was taken back. */
function cancelled({ requests }: State, params: unknown): void {
  const id: unknown = isRecord(params) ? params["requestId"] : undefined;
  if (typeof id !== "string" && typeof id !== "number") return;
  const asked = requests.get(id);
  if (asked === undefined || asked.opening !== undefined) return;
  requests.delete(id);
  asked.stream.end();
}

function heard(state: State, line: Buffer, sessionId: string): void {
  const { requests, parts } = state;
  const { kind, id, method } = readServerLine(line);
  if (kind === "unknown") return parts.log("a line that is not a message of MCP is not sent on");
  if (kind !== "response") return related(state, method, line).say(line);
  const asked = id === undefined ? undefined : requests.get(id);
  if (id === undefined || asked === undefined) return undefined; // it was taken back
  requests.delete(id);
  parts.onAnswer(line);
  if (asked.opening === undefined) {
    asked.stream.say(line);
    return asked.stream.end();
  }
  return begun(state, asked.opening, { line, sessionId });
}

/** The answer to `initialize`: without a result there is no session. */
function begun(
  state: State,
  response: ServerResponse,
  { line, sessionId }: { readonly line: Buffer; readonly sessionId: string },
): void {
  const result = resultOf(line);
  const version = isRecord(result) ? result["protocolVersion"] : undefined;
  if (typeof version === "string") state.version = version;
  const hasSession = result !== undefined;
  response.writeHead(200, {
    "content-type": "application/json",
    "cache-control": "no-store",
    ...(hasSession && { "mcp-session-id": sessionId }),
  });
  state.streams.answer(response, line.subarray(0, -1));
  if (!hasSession) state.lines.end();
}

/**
 * The stream of the request that a message belongs to. Progress names it. Of other messages lines do
 * not tell, so what comes while a request is under way goes where that one's client reads.
 */
function related(state: State, method: string, line: Buffer): EventStream {
  const { requests, own } = state;
  const open = [...requests.values()].filter(({ opening }) => opening === undefined);
  if (method === "notifications/progress") {
    const token = progressTokenIn(line);
    const asked = open.find((each) => each.token !== undefined && each.token === token);
    return asked?.stream ?? own;
  }
  if (UNRELATED.test(method)) return own;
  const connected = open.filter(({ stream }) => stream.isConnected());
  return (connected.at(-1) ?? (own.isConnected() ? undefined : open.at(-1)))?.stream ?? own;
}

function progressTokenIn(line: Buffer): unknown {
  const params = paramsOf(line);
  return isRecord(params) ? params["progressToken"] : undefined;
}

const GONE = "the session is over, and whether the request took effect is not known";

function over(state: State): void {
  if (state.isOver) return;
  state.isOver = true;
  for (const [id, { opening, stream }] of state.requests) {
    const error = errorLine(id, { code: INTERNAL_ERROR, message: GONE });
    if (opening === undefined) stream.say(error);
    else refuse(opening, { status: 502, code: INTERNAL_ERROR, reason: GONE }, id);
  }
  state.requests.clear();
  state.streams.close();
  state.parts.onEnd();
}
