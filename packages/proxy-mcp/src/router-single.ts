/**
 * One server: ids, names and bytes pass unchanged in both directions; what is judged waits for the
 * gate. What is tracked is which requests wait for an answer, so that a server that dies leaves
 * none of them hanging.
 */
import { randomUUID } from "node:crypto";
import type { ToolDefinition } from "@acp/core";
import { createCatalog } from "./catalog.js";
import type { Catalog } from "./catalog.js";
import { rewriteCall } from "./call-params.js";
import { failureError, unreadableAnswer } from "./failure.js";
import type { ServerFailure } from "./failure.js";
import { createHeldCalls } from "./held-calls.js";
import type { CallRoute, HeldCalls } from "./held-calls.js";
import { createInFlight } from "./in-flight.js";
import type { InFlight } from "./in-flight.js";
import { freeAnswer, ownerOfTask } from "./judged/free-requests.js";
import { isJudged, isOfTask, isServersMethod } from "./judged/methods.js";
import { rewriteRequest } from "./judged/read-request.js";
import { createServerRequests } from "./judged/server-requests.js";
import type { ServerRequests } from "./judged/server-requests.js";
import { createSubscriptions } from "./judged/subscriptions.js";
import type { Subscriptions } from "./judged/subscriptions.js";
import { LIST_TIMEOUT_MS } from "./limits.js";
import { ODD_MEMBER } from "./json-walk.js";
import {
  idAtEdges,
  isRecord,
  membersOfLine,
  paramsOf,
  readServerLine,
  resultOf,
} from "./message.js";
import type { ClientMessage, ClientRequest, ServerMessage } from "./message.js";
import type { Router, RouterParts } from "./router.js";
import { errorLine, INTERNAL_ERROR, INVALID_REQUEST, requestLine } from "./rpc.js";
import type { RpcId } from "./rpc.js";
import type { ToolCall } from "./tool-call.js";
import { startUpstream } from "./upstream.js";
import type { LocalUpstream } from "./server-process.js";
import type { Upstream } from "./upstream.js";

const TOOLS_CALL = "tools/call";
const OPEN_BRACE = 0x7b;

/** A request that waits for its answer. */
interface Waiting {
  readonly method: string;
  readonly params: unknown;
  /** Set for what is judged. */
  call?: ToolCall | undefined;
  /** Set while it is at the server. */
  onAnswer?: ((line: Buffer) => void) | undefined;
  /** Ends the watch over the start. */
  stop?: AbortController;
}

interface State {
  readonly parts: RouterParts;
  readonly catalog: Catalog;
  readonly calls: HeldCalls;
  readonly requests: ServerRequests;
  /** What the server asked of the client, by its ids. */
  readonly reverse: Map<RpcId, (line: Buffer) => void>;
  readonly subscriptions: Subscriptions<string>;
  readonly waiting: InFlight<Waiting>;
  /** The proxy's own requests; their ids start with `ownPrefix`, which the client cannot guess. */
  readonly own: Map<RpcId, (line: Buffer | undefined) => void>;
  readonly ownPrefix: string;
  upstream: Upstream;
  failure: ServerFailure | undefined;
  /** The server answered something. */
  greeted: boolean;
  /** The handshake is over, and the server has tools. */
  hasTools: boolean;
  handshakeOver: boolean;
}

/** A router for one server; starts it. */
export function createSingleRouter(parts: RouterParts, config: LocalUpstream): Router {
  const calls = createHeldCalls(parts);
  const state: State = {
    parts,
    catalog: createCatalog(config.name, parts),
    calls,
    requests: createServerRequests(parts, calls),
    reverse: new Map(),
    subscriptions: createSubscriptions(),
    waiting: createInFlight(parts.room),
    own: new Map(),
    ownPrefix: `acp-${randomUUID()}-`,
    upstream: startUpstream(config, {
      clock: parts.clock,
      masks: parts.masks,
      turns: parts.turns,
      awaits: (id) => state.waiting.get(id) !== undefined || state.own.has(id),
      onLine: (line) => fromServer(state, line),
      onOversize: (line) => tooLarge(state, idAtEdges(line)),
      onEnd: (failure) => void failed(state, failure),
      onPressure: parts.onPressure,
      log: parts.log,
    }),
    failure: undefined,
    greeted: false,
    hasTools: false,
    handshakeOver: false,
  };
  return {
    take: (message) => fromClient(state, message),
    pause: (on) => state.upstream.pause(on),
    leave: () => state.calls.leave(),
    async close(): Promise<void> {
      await state.upstream.close();
      // Nobody waits for a first answer any more, and no timer of it keeps the process.
      for (const [, { stop }] of state.waiting) stop?.abort(new Error("the connection is over"));
      await state.calls.fail({
        server: config.name,
        reason: `Server "${config.name}" was stopped`,
      });
    },
  };
}

function fromClient(state: State, message: Exclude<ClientMessage, { kind: "refused" }>): void {
  if (message.kind === "request") takeRequest(state, message);
  else if (message.kind === "notification" && message.method === "notifications/cancelled")
    takeCancellation(state, message.params, message.line);
  else if (message.kind === "response") takeAnswer(state, message.id, message.line);
  else {
    if (message.kind === "notification" && message.method === "notifications/initialized")
      state.handshakeOver = true;
    state.upstream.send(message.line);
  }
}

/** The client answers the server; what it was not asked goes nowhere. */
function takeAnswer({ parts, reverse }: State, id: RpcId, line: Buffer): void {
  const onAnswer = reverse.get(id);
  reverse.delete(id);
  if (onAnswer !== undefined) return onAnswer(line);
  return parts.log("The client answered a request that no server made; the answer is dropped");
}

function takeRequest(state: State, request: ClientRequest): void {
  const { parts, waiting } = state;
  const { id, method, params, line } = request;
  if (state.failure !== undefined) {
    parts.send(errorLine(id, failureError(state.failure)));
    parts.onFailed(state.failure.reason);
    return;
  }
  const entry: Waiting = { method, params };
  const refusal = waiting.add(request, entry);
  if (refusal !== undefined) return parts.send(refusal);
  if (isJudged(method)) return takeCall(state, request, entry);
  const owner = isOfTask(method) ? ownerOfTask(state.calls, request) : undefined;
  if (owner !== undefined && "error" in owner) {
    waiting.delete(id);
    return parts.send(errorLine(id, owner.error));
  }
  if (method === "initialize") entry.stop = watchStart(state, id);
  if (method === "resources/unsubscribe") state.subscriptions.forget(upstreamUri(params));
  state.upstream.send(line);
}

const upstreamUri = (params: unknown): unknown => (isRecord(params) ? params["uri"] : undefined);

function takeCall(state: State, request: ClientRequest, entry: Waiting): void {
  const { parts, waiting, upstream, subscriptions } = state;
  const { id, method } = request;
  const place =
    method === "resources/subscribe"
      ? subscriptions.enter(upstreamUri(request.params), upstream.name)
      : undefined;
  if (place !== undefined && "full" in place) {
    waiting.delete(id);
    return parts.send(errorLine(id, { code: INVALID_REQUEST, message: place.full }));
  }
  const forget = (): void => {
    place?.over();
    if (waiting.get(id) === entry) waiting.delete(id);
  };
  entry.call = state.calls.start(
    request,
    ({ tool }, line): CallRoute => ({
      server: upstream.name,
      tool,
      definition: () => definitionOf(state, method, tool),
      forward: (changed, onAnswer) => {
        entry.onAnswer = onAnswer;
        place?.sent();
        if (changed === undefined) upstream.send(line);
        else upstream.send((method === TOOLS_CALL ? rewriteCall : rewriteRequest)(line, changed));
      },
    }),
    forget,
  );
  if (entry.call === undefined) forget();
}

function definitionOf(
  state: State,
  method: string,
  tool: string,
): Promise<ToolDefinition | undefined> {
  if (method !== TOOLS_CALL) return Promise.resolve(undefined);
  const mayAsk = state.handshakeOver && state.hasTools;
  return state.catalog.find(tool, mayAsk ? (cursor) => ownList(state, cursor) : undefined);
}

/**
 * The client takes a request back. A call that its server has not seen is nothing to tell the
 * server of.
 */
function takeCancellation({ waiting, upstream }: State, params: unknown, line: Buffer): void {
  const id: unknown = isRecord(params) ? params.requestId : undefined;
  const entry = typeof id === "string" || typeof id === "number" ? waiting.get(id) : undefined;
  if (entry?.call !== undefined && !entry.call.cancel()) return;
  // The server need not answer a request that was taken back, so nothing is waited for; a late
  // answer is passed on.
  if (
    entry !== undefined &&
    entry.method !== "initialize" &&
    (typeof id === "string" || typeof id === "number")
  )
    waiting.delete(id);
  upstream.send(line);
}

function fromServer(state: State, line: Buffer): void {
  const { parts, waiting, own, catalog } = state;
  if (state.failure !== undefined) return undefined;
  const message = readServerLine(line);
  if (message.kind === "notification" && message.method === "notifications/tools/list_changed")
    catalog.forget();
  if (message.kind !== "response" || message.id === undefined) return besides(state, message, line);
  const { id } = message;
  if (String(id).startsWith(state.ownPrefix)) return own.get(id)?.(line);
  const entry = waiting.get(id);
  if (entry === undefined) return parts.send(line);
  if (entry.call !== undefined) {
    const { onAnswer } = entry;
    entry.onAnswer = undefined;
    if (onAnswer === undefined)
      parts.log(
        `[${state.upstream.name}] answered a call that it was not sent; the answer is dropped`,
      );
    else onAnswer(line);
    return undefined;
  }
  waiting.delete(id);
  state.greeted = true;
  entry.stop?.abort(new Error("the server answered"));
  if (entry.method === "initialize") {
    const result = resultOf(line);
    state.hasTools =
      isRecord(result) && isRecord(result.capabilities) && isRecord(result.capabilities.tools);
  }
  const { method, params } = entry;
  const free = { calls: state.calls, server: state.upstream.name, log: parts.log };
  freeAnswer({ ...free, request: { id, method, params } }, line, (answer) => {
    if (method === "tools/list") catalog.learn(resultOf(answer));
    parts.send(answer);
  });
  return undefined;
}

/** What the server says besides its answers. */
function besides(state: State, { kind, method, id }: ServerMessage, line: Buffer): void {
  const { parts, requests, reverse, upstream, waiting } = state;
  const server = upstream.name;
  if (kind === "request")
    return requests.take(
      {
        server,
        reply: (answer) => upstream.send(answer),
        pass(request, onAnswer): void {
          if (id !== undefined) reverse.set(id, onAnswer);
          parts.send(request);
        },
      },
      line,
    );
  if (kind === "notification" && !isServersMethod(method)) {
    const taken = method === "notifications/cancelled" ? requestIdOf(line) : undefined;
    if (taken !== undefined && !requests.cancel(server, taken)) return undefined;
    if (taken !== undefined) reverse.delete(taken);
    return parts.send(line);
  }
  // Some reader might find a message in it that nobody judged.
  if (kind === "unknown" && (!line.includes(OPEN_BRACE) || isBareError(line)))
    return parts.send(line);
  parts.log(`[${server}] wrote a line that readers may read differently; it is dropped`);
  if (id === undefined || waiting.get(id) === undefined) return undefined;
  return fromServer(state, errorLine(id, unreadableAnswer(server)));
}

/** What a server says about a line that it could not read: an error of no request. */
function isBareError(line: Buffer): boolean {
  const members = membersOfLine(line);
  return members?.has("error") === true && !members.has("method") && !members.has(ODD_MEMBER);
}

function requestIdOf(line: Buffer): RpcId | undefined {
  const params = paramsOf(line);
  const id: unknown = isRecord(params) ? params["requestId"] : undefined;
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}

/**
 * An answer longer than a line may be becomes an error; where nobody can be told, the server is
 * given up.
 */
function tooLarge(state: State, id: RpcId | undefined): void {
  const { name } = state.upstream;
  const reason = `Server "${name}" sent a line that is too long`;
  if (id !== undefined && state.waiting.get(id) !== undefined) {
    fromServer(
      state,
      errorLine(id, {
        code: INTERNAL_ERROR,
        message: reason,
        data: { code: "answer_too_large", server: name },
      }),
    );
    return;
  }
  void giveUp(state, { server: name, reason });
}

async function giveUp(state: State, failure: ServerFailure): Promise<void> {
  void state.upstream.close();
  await failed(state, failure);
}

/** The server is gone: everything that waits gets its answer. */
async function failed(state: State, failure: ServerFailure): Promise<void> {
  const { parts, waiting, own, calls } = state;
  if (state.failure !== undefined) return;
  state.failure = failure;
  parts.log(failure.reason);
  for (const resolve of own.values()) resolve(undefined);
  state.requests.forget(state.upstream.name);
  state.reverse.clear();
  let told = state.greeted;
  for (const [id, entry] of waiting) {
    entry.stop?.abort(new Error("the server is gone"));
    if (entry.call !== undefined) continue;
    parts.send(errorLine(id, failureError(failure)));
    told = true;
  }
  await calls.fail(failure);
  // A client that asked nothing yet shall hear why before the connection ends.
  if (told) parts.onFailed(failure.reason);
}

function watchStart(state: State, id: RpcId): AbortController {
  const { parts, upstream, waiting } = state;
  const stop = new AbortController();
  const late = async (): Promise<void> => {
    await parts.clock.sleep(parts.startTimeoutMs, { signal: stop.signal });
    if (waiting.get(id) !== undefined)
      await giveUp(state, {
        server: upstream.name,
        reason: `Server "${upstream.name}" did not answer "initialize" within ${parts.startTimeoutMs} ms`,
      });
  };
  late().catch(() => {});
  return stop;
}

/** One page of the server's tools, asked by the proxy itself. */
async function ownList(
  { own, ownPrefix, upstream, parts }: State,
  cursor: string | undefined,
): Promise<unknown> {
  const id = `${ownPrefix}${randomUUID()}`;
  const stop = new AbortController();
  const answer = new Promise<Buffer | undefined>((resolve) => {
    own.set(id, resolve);
  });
  upstream.send(requestLine(id, "tools/list", cursor === undefined ? {} : { cursor }));
  const late = parts.clock.sleep(LIST_TIMEOUT_MS, { signal: stop.signal }).catch(() => undefined);
  const line = await Promise.race([answer, late]);
  own.delete(id);
  stop.abort(new Error("the list is over"));
  return line === undefined ? undefined : resultOf(line);
}
