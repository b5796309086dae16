/**
 * Stateless requests: those of one client that belong to no session. They share one connection to the
 * proxy, on which each has an id, a progress token and a subscription id of its own; back comes what the
 * client gave. A client that closes the response takes the request back. Source: MCP 2026-07-28,
 * "Streamable HTTP".
 */
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Clock } from "@acp/core";
import { findValue, replaceValues, textOf } from "../json-walk.js";
import type { Replacement } from "../json-walk.js";
import { isRecord, paramsOf, progressTokenOf, readServerLine, resultOf } from "../message.js";
import type { ClientRequest } from "../message.js";
import { differingParamHeader, paramHeadersOfTools } from "../param-headers.js";
import type { ParamHeader } from "../param-headers.js";
import { errorLine, INTERNAL_ERROR, METHOD_NOT_FOUND, notificationLine } from "../rpc.js";
import type { RpcId } from "../rpc.js";
import { eventText, writeEventsHead } from "./event-streams.js";
import { SILENT_MS } from "./limits.js";
import { openLines } from "./lines.js";
import type { Lines } from "./lines.js";
import { createPressure } from "./pressure.js";
import type { Pressure } from "./pressure.js";
import { refuse } from "./refusal.js";
import type { PassedMessage } from "./session.js";
import { HEADER_MISMATCH } from "./stateless-headers.js";

/** What one client's requests are served with. */
export interface StatelessParts {
  readonly clock: Clock;
  serve(connection: Duplex): void;
  /** Hears each answer as the client gets it. */
  onAnswer(line: Buffer): void;
  onEnd(): void;
  log(line: string): void;
}

/** The requests of one client. */
export interface Stateless {
  post(message: PassedMessage, response: ServerResponse, headers: IncomingHttpHeaders): void;
  /** How many are being answered. */
  readonly open: () => number;
  readonly waiting: () => number;
  comment(): void;
  end(isCut?: boolean): void;
}

/** A request that is being answered. */
interface Asked {
  readonly id: RpcId;
  readonly token: RpcId | undefined;
  readonly method: string;
  readonly response: ServerResponse;
  readonly startedMs: number;
}

interface State {
  readonly parts: StatelessParts;
  readonly asked: Map<string, Asked>;
  readonly lines: Lines;
  readonly pressure: Pressure;
  /** Of tools that some list named. */
  tools: ReadonlyMap<string, readonly ParamHeader[]>;
  next: number;
  isOver: boolean;
}

const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId";
const CANCELLED = "notifications/cancelled";
const LISTEN = "subscriptions/listen";
/** What the protocol wants the status of an error to be. */
const STATUS: Readonly<Record<string, number>> = {
  [METHOD_NOT_FOUND]: 404,
  "-32700": 400,
  "-32600": 400,
  [HEADER_MISMATCH]: 400,
  "-32021": 400,
  "-32022": 400,
};

/** Opens the connection. */
export function openStateless(parts: StatelessParts): Stateless {
  const pressure = createPressure();
  const lines = openLines({
    onLine: (line) => heard(state, line),
    pause: pressure.pause,
    onEnd: () => over(state),
  });
  const state: State = {
    parts,
    asked: new Map(),
    lines,
    pressure,
    tools: new Map(),
    next: 1,
    isOver: false,
  };
  parts.serve(lines.connection);
  return {
    post(message, response, headers) {
      if (message.kind === "request") return ask(state, message, { response, headers });
      if (message.kind === "notification" && message.method === CANCELLED)
        cancel(state, message.params, message.line);
      else lines.send(message.line);
      response.writeHead(202, { "content-length": 0 }).end();
    },
    open: () => state.asked.size,
    waiting: lines.waiting,
    comment() {
      for (const one of state.asked.values()) comment(state, one);
    },
    end(isCut) {
      lines.end(isCut);
      over(state);
    },
  };
}

/** A request that takes long gets a stream, in which silence can be told from death. */
function comment({ parts }: State, { response, startedMs }: Asked): void {
  if (!response.headersSent) {
    if (parts.clock.monotonic() - startedMs < SILENT_MS) return;
    writeEventsHead(response);
  }
  response.write(":\n\n");
}

interface Answering {
  readonly response: ServerResponse;
  readonly headers: IncomingHttpHeaders;
}

function ask(state: State, request: ClientRequest, { response, headers }: Answering): void {
  const { id, method, params, line } = request;
  const { asked, lines, parts } = state;
  const odd = oddParam(state, request, headers);
  if (odd !== undefined)
    return refuse(
      response,
      {
        status: 400,
        code: HEADER_MISMATCH,
        reason: `header mismatch: ${odd} does not say what the body says`,
      },
      id,
    );
  // A text, because some servers make one of it where they name it again.
  const own = String(state.next++);
  const token = progressTokenOf(params);
  asked.set(own, { id, token, method, response, startedMs: parts.clock.monotonic() });
  response.once("close", () => {
    if (!asked.delete(own)) return;
    lines.send(
      notificationLine(CANCELLED, {
        requestId: own,
        reason: "The client closed the response",
      }),
    );
  });
  lines.send(
    replaceValues(line, [
      { path: ["id"], value: own },
      { path: ["params", "_meta", "progressToken"], value: own },
    ]),
  );
}

/** Takes back the request that its client calls so, if there is one only. */
function cancel({ asked, lines }: State, params: unknown, line: Buffer): void {
  const called = isRecord(params) ? params["requestId"] : undefined;
  const [found, ...others] = [...asked].filter(([, { id }]) => id === called);
  // Ours are all that a server knows: under another id it could be another client's request.
  if (found === undefined || others.length > 0) return;
  const [own, { id, response }] = found;
  asked.delete(own);
  lines.send(replaceValues(line, [{ path: ["params", "requestId"], value: own }]));
  if (response.headersSent) response.end();
  else refuse(response, { status: 409, reason: "its client took it back" }, id);
}

/** The first header of an argument that does not say what the argument is. */
function oddParam(
  { tools }: State,
  { method, params }: ClientRequest,
  headers: IncomingHttpHeaders,
): string | undefined {
  if (method !== "tools/call" || !isRecord(params) || typeof params["name"] !== "string")
    return undefined;
  return differingParamHeader(tools.get(params["name"]) ?? [], params["arguments"], headers);
}

function heard(state: State, line: Buffer): void {
  const { kind, id, method } = readServerLine(line);
  if (kind === "response") return answer(state, line, id);
  if (kind === "request") {
    // Without a session a server has nobody to ask.
    if (id !== undefined)
      state.lines.send(
        errorLine(id, { code: METHOD_NOT_FOUND, message: "The client has no session" }),
      );
    return undefined;
  }
  if (kind === "notification") return notify(state, method, line);
  return state.parts.log("a line that is not a message of MCP is not sent on");
}

function answer(state: State, line: Buffer, own: RpcId | undefined): void {
  const { asked, parts, pressure } = state;
  // Only by the very id, or one could be answered that is still judged.
  const one = typeof own === "string" ? asked.get(own) : undefined;
  if (typeof own !== "string" || one === undefined) return; // it was taken back
  asked.delete(own);
  const { id, method, response } = one;
  const ours = replaceValues(line, [
    { path: ["id"], value: id },
    ...subscriptionOf(line, id, "result"),
  ]);
  parts.onAnswer(ours);
  if (method === "tools/list") learnTools(state, ours);
  if (response.headersSent) return pressure.end(response, eventText(ours));
  const body = ours.subarray(0, -1);
  response.writeHead(statusOf(line), {
    "content-type": "application/json",
    "cache-control": "no-store",
    "content-length": body.length,
  });
  pressure.end(response, body);
}

function learnTools(state: State, line: Buffer): void {
  state.tools = new Map([...state.tools, ...paramHeadersOfTools(resultOf(line))]);
}

function statusOf(line: Buffer): number {
  const code = findValue(line, ["error", "code"]);
  return code === undefined ? 200 : (STATUS[textOf(line, code)] ?? 200);
}

/** A subscription is called as the request that began it. */
function subscriptionOf(
  line: Buffer,
  id: RpcId,
  member: "params" | "result",
): readonly Replacement[] {
  return line.includes(SUBSCRIPTION) ? [{ path: [member, "_meta", SUBSCRIPTION], value: id }] : [];
}

function notify(state: State, method: string, line: Buffer): void {
  const params = paramsOf(line);
  const given = isRecord(params) ? params : {};
  const meta = isRecord(given["_meta"]) ? given["_meta"] : {};
  const { asked } = state;
  const subscription = meta[SUBSCRIPTION];
  if (typeof subscription === "string" || typeof subscription === "number") {
    const one = asked.get(String(subscription));
    if (one !== undefined)
      say(state, one, replaceValues(line, subscriptionOf(line, one.id, "params")));
    return;
  }
  if (method === "notifications/progress") {
    const token = given["progressToken"];
    const one = typeof token === "string" ? asked.get(token) : undefined;
    if (one?.token !== undefined)
      say(
        state,
        one,
        replaceValues(line, [{ path: ["params", "progressToken"], value: one.token }]),
      );
    return;
  }
  const others = [...asked.values()].filter((each) => each.method !== LISTEN);
  const [only] = others;
  // Lines do not tell whose it is, and nobody gets what may be another's.
  if (only !== undefined && others.length === 1) say(state, only, line);
  else state.parts.log(`"${method}" of no request that is known is not sent on`);
}

function say({ pressure }: State, { response }: Asked, line: Buffer): void {
  if (!response.headersSent) writeEventsHead(response);
  pressure.write(response, eventText(line));
}

const GONE = "the server is gone, and whether the request took effect is not known";

function over(state: State): void {
  if (state.isOver) return;
  state.isOver = true;
  for (const { id, response } of state.asked.values())
    if (response.headersSent)
      state.pressure.end(
        response,
        eventText(errorLine(id, { code: INTERNAL_ERROR, message: GONE })),
      );
    else refuse(response, { status: 502, code: INTERNAL_ERROR, reason: GONE }, id);
  state.asked.clear();
  state.parts.onEnd();
}
