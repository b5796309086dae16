/**
 * One server: ids, names and bytes pass unchanged in both directions; what is judged waits for the
 * gate. What is tracked is which requests wait for an answer, so that a server that dies leaves
 * none of them hanging.
 */
import { randomUUID } from "node:crypto";
import { createCatalog } from "./catalog.js";
import { rewriteCall } from "./call-params.js";
import { createBoundedIds } from "./bounded-ids.js";
import { createCallLimits } from "./call-limits.js";
import { unavailableResult } from "./call-result.js";
import { failureError, lostError, unreadableAnswer } from "./failure.js";
import type { ServerFailure } from "./failure.js";
import { createHeldCalls } from "./held-calls.js";
import type { CallRoute } from "./held-calls.js";
import { createInFlight, idInUse } from "./in-flight.js";
import { freeAnswer, judgeGiven, ownerOfTask } from "./judged/free-requests.js";
import type { FreeRequest } from "./judged/free-requests.js";
import { isJudged, isOfTask } from "./judged/methods.js";
import { noticeError } from "./judged/notice-error.js";
import { rewriteRequest } from "./judged/read-request.js";
import { createServerSide } from "./judged/server-side.js";
import { createSubscriptions, subscribeEffectOf, unsubscribed } from "./judged/subscriptions.js";
import { EXPIRED_MAX } from "./limits.js";
import { isRecord, readServerLine, resultOf } from "./message.js";
import type { ClientMessage, ClientRequest } from "./message.js";
import { greetingOf, listOf, rest, watchStart } from "./single-state.js";
import type { SingleState, Waiting } from "./single-state.js";
import { startTimeoutMs } from "./router.js";
import type { Router, RouterParts } from "./router.js";
import { heldBackError, heldBackLine } from "./pins/held-back.js";
import { isGreeting, readableAnswer } from "./pins/instructions.js";
import { createPresented } from "./pins/presented.js";
import { dropsStray } from "./pins/stray.js";
import { errorLine, INVALID_REQUEST, recalled, resultLine } from "./rpc.js";
import type { RpcError } from "./rpc.js";
import { announce } from "./announce.js";
import { beingReplaced } from "./change/drain.js";
import type { KeptSession } from "./kept-session.js";
import { startReturning } from "./returning.js";
import type { LocalUpstream } from "./server-process.js";
import { tooLarge } from "./too-large.js";

const TOOLS_CALL = "tools/call";

/** A router for one server. */
export interface SingleRouter extends Router {
  /** What the server can do. */
  capabilities(): Readonly<Record<string, unknown>>;
  /**
   * Ends the server, once it has answered what it has or took too long for that. Resolves when
   * everything is answered; the client goes on with another router.
   */
  retire(): Promise<void>;
}

/**
 * A router for one server; starts it.
 *
 * @param told - What the client told the server whose place this one takes.
 */
export function createSingleRouter(
  parts: RouterParts,
  config: LocalUpstream,
  told?: KeptSession,
): SingleRouter {
  const calls = createHeldCalls(parts);
  const send = (line: Buffer): void => state.upstream.send(line);
  const state: SingleState = {
    parts,
    catalog: createCatalog(config.name, parts),
    presented: createPresented({ ...parts, server: config.name, pins: parts.pins }),
    calls,
    side: createServerSide({ parts, judging: calls, server: config.name, send }),
    subscriptions: createSubscriptions(),
    waiting: createInFlight(parts.room),
    own: new Map(),
    ownPrefix: `acp-${randomUUID()}-`,
    upstream: startReturning(
      config,
      {
        clock: parts.clock,
        masks: parts.masks,
        turns: parts.turns,
        awaits: (id) => state.waiting.get(id) !== undefined || state.own.has(id),
        onLine: (line) => fromServer(state, line),
        onOversize: (line) => tooLarge(line, state.upstream, (answer) => fromServer(state, answer)),
        startTimeoutMs: startTimeoutMs(config, parts),
        subscribeEffect: subscribeEffectOf(parts, config.name),
        isHeldBack: (uri) => state.presented.heldBack("resources/subscribe", { uri }) !== undefined,
        hasAnswered: () => state.greeted,
        onDown: (failure) => void down(state, failure),
        onUp: (result) => back(state, result),
        onPressure: parts.onPressure,
        log: parts.log,
      },
      told,
    ),
    retired: undefined,
    isEnded: false,
    over: new AbortController(),
    limits: createCallLimits(config.limits, parts.clock),
    startTimeoutMs: startTimeoutMs(config, parts),
    expired: createBoundedIds(EXPIRED_MAX),
    greeted: told !== undefined,
    dropped: false,
    capabilities: {},
    handshakeOver: told?.initialized() !== undefined,
  };
  return {
    take: (message) => fromClient(state, message),
    pause: (on) => state.upstream.pause(on),
    leave(): Promise<void> {
      state.side.leave();
      return state.calls.leave();
    },
    ...changing(state),
    close: () => close(state),
  };
}

function fromClient(
  state: SingleState,
  message: Exclude<ClientMessage, { kind: "refused" }>,
): void {
  if (message.kind === "request") takeRequest(state, message);
  else if (message.kind === "notification" && message.method === "notifications/cancelled")
    takeCancellation(state, message.params, message.line);
  else if (message.kind === "response") state.side.answer(message.id, message.line);
  else {
    state.upstream.keep(message);
    if (message.method === "notifications/initialized") state.handshakeOver = true;
    state.upstream.send(message.line);
  }
}

function takeRequest(state: SingleState, request: ClientRequest): void {
  const { parts, waiting } = state;
  const { id, method, params } = request;
  const failure = state.retired ?? state.upstream.failure();
  if (failure !== undefined) return refuse(state, request, failure);
  // Its answer could not be told from the one that is still owed.
  if (state.expired.has(id)) return parts.send(idInUse(id));
  const entry: Waiting = { method, params };
  const refusal = waiting.add(request, entry);
  if (refusal !== undefined) return parts.send(refusal);
  if (isJudged(method)) return takeCall(state, request, entry);
  const owner = isOfTask(method) ? ownerOfTask(state.calls, request) : undefined;
  if (owner !== undefined && "error" in owner) return passFree(state, request, owner.error);
  entry.stop = new AbortController();
  const { signal } = entry.stop;
  const why = judgeGiven(state.calls, { server: state.upstream.name, request, signal });
  if (!(why instanceof Promise)) return passFree(state, request, why);
  // Its server may be gone by then, or the client took it back.
  void why.then((error) => waiting.get(id) === entry && passFree(state, request, error));
  return undefined;
}

function passFree(state: SingleState, request: ClientRequest, error: RpcError | undefined): void {
  const { parts, waiting, upstream } = state;
  const { id, method, params, line } = request;
  if (error !== undefined) {
    waiting.delete(id);
    return parts.send(errorLine(id, error));
  }
  if (method === "resources/unsubscribe") state.subscriptions.forget(uriOf(params));
  const entry = waiting.get(id);
  if (method === "initialize" && entry !== undefined) entry.stop = watchStart(state, id);
  upstream.keep(request);
  upstream.send(line);
}

function refusalOf({ id, method }: ClientRequest, failure: ServerFailure): Buffer {
  const notice = unavailableResult(failure, false);
  if (method === TOOLS_CALL) return resultLine(id, notice);
  return errorLine(id, isJudged(method) ? noticeError(notice) : failureError(failure));
}

/** The server cannot be asked now, or never again. */
function refuse({ parts }: SingleState, request: ClientRequest, failure: ServerFailure): void {
  parts.send(refusalOf(request, failure));
  if (failure.retryAfterMs === undefined) parts.onFailed(failure.reason);
}

const uriOf = (params: unknown): unknown => (isRecord(params) ? params["uri"] : undefined);

function takeCall(state: SingleState, request: ClientRequest, entry: Waiting): void {
  const { parts, waiting, catalog, presented, upstream, subscriptions } = state;
  const { id, method, params } = request;
  const isCall = method === TOOLS_CALL;
  const place =
    method === "resources/subscribe"
      ? subscriptions.enter(uriOf(params), upstream.name)
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
    ({ tool, typedResults: isTyped }, line): CallRoute => ({
      server: upstream.name,
      tool,
      definition: () =>
        isCall ? catalog.find(tool, listOf(state, params)) : presented.find(method, params),
      ...(isCall && { renew: () => catalog.renew(tool, listOf(state, params)) }),
      forward: (changed, onAnswer) => {
        const why = isCall ? catalog.heldBack(tool) : undefined;
        if (why !== undefined) return onAnswer(heldBackLine({ id, tool, isTyped }, why));
        const refusal = presented.heldBack(method, params);
        if (refusal !== undefined) return onAnswer(errorLine(id, refusal));
        if (state.isEnded) return onAnswer(refusalOf(request, beingReplaced(upstream.name)));
        entry.onAnswer = (answer) => {
          if (place?.answered(answer) === false) upstream.keep(unsubscribed(params, line));
          onAnswer(answer);
        };
        place?.sent();
        // Of a subscription that a person changed another process hears nothing.
        if (!isCall && changed === undefined) upstream.keep(request);
        const rewrite = isCall ? rewriteCall : rewriteRequest;
        upstream.send(changed === undefined ? line : rewrite(line, changed));
      },
      limits: state.limits,
      recall: () => {
        state.expired.add(id);
        upstream.send(recalled(id));
      },
    }),
    forget,
  );
  if (entry.call === undefined) forget();
}

/**
 * The client takes a request back. A call that its server has not seen is nothing to tell the
 * server of.
 */
function takeCancellation(state: SingleState, params: unknown, line: Buffer): void {
  const { waiting, upstream } = state;
  const id: unknown = isRecord(params) ? params.requestId : undefined;
  const entry = typeof id === "string" || typeof id === "number" ? waiting.get(id) : undefined;
  if (entry?.call !== undefined && !entry.call.cancel()) return;
  if (entry?.method === "resources/subscribe") upstream.keep(unsubscribed(entry.params, line));
  // The server need not answer a request that was taken back, so nothing is waited for.
  const isId = typeof id === "string" || typeof id === "number";
  if (entry !== undefined && entry.method !== "initialize" && isId) {
    waiting.delete(id);
    entry.stop?.abort(new Error("the client took it back"));
  }
  upstream.send(line);
}

function fromServer(state: SingleState, line: Buffer): void {
  const { parts, waiting, own, catalog } = state;
  const message = readServerLine(line);
  if (message.kind === "notification" && message.method === "notifications/tools/list_changed")
    catalog.forget();
  const { id } = message;
  if (message.kind === "odd" && id !== undefined && waiting.get(id) !== undefined)
    return fromServer(state, errorLine(id, unreadableAnswer(state.upstream.name)));
  if (message.kind !== "response" || id === undefined)
    return isStray(state, line) ? undefined : state.side.take(message, line);
  if (String(id).startsWith(state.ownPrefix)) return own.get(id)?.(line);
  if (state.expired.delete(id)) return undefined;
  const entry = waiting.get(id);
  if (entry === undefined) return isStray(state, line) ? undefined : dropAnswer(state);
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
  state.greeted = true;
  entry.stop?.abort(new Error("the server answered"));
  if (entry.method === "initialize") {
    const result = resultOf(line);
    if (isRecord(result) && isRecord(result.capabilities)) state.capabilities = result.capabilities;
  }
  const { method, params } = entry;
  entry.stop = new AbortController();
  const { signal } = entry.stop;
  const readable = readableBy(state, { request: { id, method, params }, signal }, line);
  if (Buffer.isBuffer(readable)) {
    waiting.delete(id);
    return parts.send(readable);
  }
  void readable
    .catch((error: unknown) => errorLine(id, heldBackError(error)))
    .then((shown) => {
      // Its server is gone meanwhile, or the client took it back.
      if (waiting.get(id) !== entry) return;
      waiting.delete(id);
      parts.send(shown);
    });
  return undefined;
}

/** Some clients coerce ids: what answers no request by its very id might answer another one. */
function dropAnswer(state: SingleState): void {
  if (!state.dropped)
    state.parts.log(
      `[${state.upstream.name}] answered no request that waits; such answers are dropped`,
    );
  state.dropped = true;
}

const isStray = ({ parts, upstream }: SingleState, line: Buffer): boolean =>
  dropsStray(line, { server: upstream.name, ...parts });
/** An answer as the client may see it; a promise where it is held against what is pinned. */
function readableBy(
  { parts, calls, catalog, presented, upstream }: SingleState,
  { request, signal }: { readonly request: FreeRequest; readonly signal: AbortSignal },
  line: Buffer,
): Buffer | Promise<Buffer> {
  const { method } = request;
  const free = { calls, server: upstream.name, request, signal };
  const own = freeAnswer(free, line);
  const { pins } = parts;
  const shown = (judged: Buffer): Buffer | Promise<Buffer> => {
    if (method === "tools/list") return catalog.take(judged);
    const each = method === "initialize" ? catalog.declare(judged) : judged;
    if (pins === undefined) return each;
    if (!isGreeting(method)) return presented.take(method, each);
    return readableAnswer({ server: upstream.name, pins, log: parts.log }, each);
  };
  return Buffer.isBuffer(own) ? shown(own) : own.then(shown);
}

/** The server is gone, perhaps until it is back: everything that waits gets its answer. */
async function down(state: SingleState, failure: ServerFailure): Promise<void> {
  const { parts, waiting, own, calls, catalog, side } = state;
  for (const resolve of own.values()) resolve(undefined);
  catalog.forget();
  side.lose();
  state.expired.clear();
  let told = state.greeted;
  for (const [id, entry] of waiting) {
    entry.stop?.abort(new Error("the server is gone"));
    if (entry.call !== undefined) continue;
    waiting.delete(id);
    const isStart = entry.method === "initialize";
    parts.send(errorLine(id, isStart ? failureError(failure) : lostError(failure)));
    told = true;
  }
  await calls.fail(failure);
  // A client that asked nothing yet shall hear why before the connection ends.
  if (told && failure.retryAfterMs === undefined) parts.onFailed(failure.reason);
}

/** Another process of the server stands where the last one stood. */
function back(state: SingleState, result: Readonly<Record<string, unknown>> | undefined): void {
  const { capabilities } = result ?? {};
  if (!isRecord(capabilities)) return;
  state.capabilities = capabilities;
  announce(capabilities, state.parts.send);
}

async function close({ over, catalog, upstream, waiting, calls }: SingleState): Promise<void> {
  catalog.close();
  over.abort(new Error("the client is gone"));
  await upstream.close();
  // Nobody waits for a first answer any more, and no timer of it keeps the process.
  for (const [, { stop }] of waiting) stop?.abort(new Error("the connection is over"));
  await calls.fail({ server: upstream.name, reason: `Server "${upstream.name}" was stopped` });
}

function changing(
  state: SingleState,
): Pick<SingleRouter, "greeting" | "capabilities" | "restart" | "retire"> {
  return {
    greeting: () => greetingOf(state),
    capabilities: () => state.capabilities,
    restart: (names) => (names.has(state.upstream.name) ? restart(state) : Promise.resolve()),
    retire: () => retire(state),
  };
}

async function restart(state: SingleState): Promise<void> {
  await rest(state);
  state.upstream.replace(beingReplaced(state.upstream.name).reason);
  state.retired = undefined;
}

async function retire(state: SingleState): Promise<void> {
  const { upstream } = state;
  await rest(state);
  state.isEnded = true;
  state.catalog.close();
  await upstream.close();
  await down(state, beingReplaced(upstream.name));
}
