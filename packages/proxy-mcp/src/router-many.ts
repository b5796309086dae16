/**
 * Several servers behind one connection. Tools and prompts are called `server__name`; resources and
 * tasks go to the server that owns them; ids and progress tokens are the proxy's own on the
 * servers' side. What no server can be found for is answered "method not found".
 */
import { unavailableResult } from "./call-result.js";
import type { ListPage } from "./catalog.js";
import { rewriteCall } from "./call-params.js";
import type { CallParams } from "./call-params.js";
import { errorOf, RequestError } from "./failure.js";
import type { ServerFailure } from "./failure.js";
import { handshake } from "./handshake.js";
import { changeMany, follow, restartMany } from "./change/change-many.js";
import type { Change, StartPeer } from "./change/change-many.js";
import { announceOf } from "./late-servers.js";
import { createHeldCalls } from "./held-calls.js";
import type { CallRoute } from "./held-calls.js";
import { replaceValues } from "./json-walk.js";
import { createInFlight } from "./in-flight.js";
import { askFor } from "./many-state.js";
import type { ManyState, OpenRequest } from "./many-state.js";
import { isJudged, isServersMethod } from "./judged/methods.js";
import { noticeError } from "./judged/notice-error.js";
import { rewriteRequest } from "./judged/read-request.js";
import { createServerRequests } from "./judged/server-requests.js";
import { createSubscriptions, unsubscribed } from "./judged/subscriptions.js";
import { isRecord, paramsOf } from "./message.js";
import { changedOwner, ownerOfRequest, ownerOfTool, ownRequest, placeOf } from "./owners.js";
import type { Target } from "./owners.js";
import type { ClientMessage, ClientNotification, ClientRequest, ServerMessage } from "./message.js";
import { heldBackLine } from "./pins/held-back.js";
import { createPeer, hasCapability, isGone } from "./peer.js";
import type { Peer } from "./peer.js";
import { createReverseRequests } from "./reverse-requests.js";
import type { Router, RouterParts, Told } from "./router.js";
import { createRoutes } from "./routes.js";
import { errorLine, INVALID_REQUEST, recalled, resultLine } from "./rpc.js";
import { serve } from "./shared-requests.js";

const TOOLS_CALL = "tools/call";

/** A router for several servers. */
export interface ManyRouter extends Router {
  /** Resolves when what had to end has ended. */
  change(next: Change): Promise<void>;
}

/**
 * A router for several servers; starts them.
 *
 * @param told - What the client told the one server whose router this one follows.
 */
export function createManyRouter(parts: RouterParts, told?: Told): ManyRouter {
  const calls = createHeldCalls(parts);
  const startPeer: StartPeer = (config, changed) =>
    createPeer(
      config,
      { ...parts, ...changed },
      {
        onMessage: (peer, message, line) => fromServer(state, { peer, message, line }),
        onDown: (peer, failure) => void down(state, peer, failure),
        onUp: (peer) => announceOf(state, peer),
      },
    );
  const state: ManyState = {
    parts,
    peers: parts.upstreams.map((config) => startPeer(config, parts)),
    calls,
    routes: createRoutes(parts.log),
    requests: createServerRequests(parts, calls),
    subscriptions: createSubscriptions(),
    listed: new Map(),
    reverse: createReverseRequests(told !== undefined),
    open: createInFlight(parts.room),
    greeting: undefined,
    told: false,
    handshakeOver: false,
    isOpenEnded: false,
    over: new AbortController(),
  };
  if (told !== undefined) follow(state, told);
  return {
    greeting: () =>
      state.greeting === undefined ? "not yet" : (state.peers[0]?.session() ?? "not yet"),
    change: (next) => changeMany(state, next, startPeer),
    restart: (names) => restartMany(state, names),
    take: (message) => fromClient(state, message),
    pause(on): void {
      for (const peer of state.peers) peer.pause(on);
    },
    leave(): Promise<void> {
      for (const { name } of state.peers) state.requests.forget(name);
      return state.calls.leave();
    },
    async close(): Promise<void> {
      state.over.abort(new Error("the client is gone"));
      await Promise.all(state.peers.map((peer) => peer.close()));
      await Promise.all(
        state.peers.map(({ name }) =>
          state.calls.fail({ server: name, reason: `Server "${name}" was stopped` }),
        ),
      );
    },
  };
}

function fromClient(state: ManyState, message: Exclude<ClientMessage, { kind: "refused" }>): void {
  if (message.kind === "request") takeRequest(state, message);
  else if (message.kind === "notification") takeNotification(state, message);
  else if (!state.reverse.answer(message.id, message.line))
    state.parts.log("The client answered a request that no server made; the answer is dropped");
}

function takeNotification(state: ManyState, { method, params, line }: ClientNotification): void {
  if (method === "notifications/cancelled") return takeCancellation(state, params, line);
  if (method === "notifications/progress") return state.reverse.progress(params, line);
  if (method === "notifications/initialized") state.handshakeOver = true;
  for (const peer of state.peers) peer.tell({ method, params, line });
  return undefined;
}

function takeCancellation({ open }: ManyState, params: unknown, line: Buffer): void {
  const id: unknown = isRecord(params) ? params.requestId : undefined;
  const request = typeof id === "string" || typeof id === "number" ? open.get(id) : undefined;
  if (request === undefined) return;
  request.cancelled = true;
  request.stop?.abort(new Error("the client took it back"));
  if (request.call !== undefined && !request.call.cancel()) return;
  for (const { peer, id: sentId } of request.sent) {
    peer.abandon(sentId);
    peer.send(replaceValues(line, [{ path: ["params", "requestId"], value: sentId }]));
  }
  if (typeof id === "string" || typeof id === "number") open.delete(id);
}

function takeRequest(state: ManyState, request: ClientRequest): void {
  const { parts, open } = state;
  const entry: OpenRequest = { sent: [], cancelled: false };
  const refusal = open.add(request, entry);
  if (refusal !== undefined) return parts.send(refusal);
  if (request.method === TOOLS_CALL && state.greeting !== undefined)
    return takeCall(state, request, { entry, target: ownerOfTool(state, request) });
  if (isJudged(request.method) && state.greeting !== undefined)
    return void takeJudged(state, request, entry);
  void answer(state, request, entry);
  return undefined;
}

async function answer(state: ManyState, request: ClientRequest, entry: OpenRequest): Promise<void> {
  const { parts, open } = state;
  const { id, method } = request;
  let line: Buffer;
  try {
    if (method === "initialize") line = resultLine(id, await handshake(state, request));
    else if (method === "ping") line = resultLine(id, {});
    else if (state.greeting === undefined)
      throw new RequestError({
        code: INVALID_REQUEST,
        message: `Cannot serve "${method}": the connection is not initialized`,
      });
    else line = await serve(state, request, entry);
  } catch (error) {
    line = errorLine(id, errorOf(error));
  }
  if (open.get(id) === entry) open.delete(id);
  if (!entry.cancelled) parts.send(line);
  if (method === "initialize") state.told = true;
  endIfAllFailed(state);
}

/** A judged request that is no call: its server is found first, which may take a look at its lists. */
async function takeJudged(
  state: ManyState,
  request: ClientRequest,
  entry: OpenRequest,
): Promise<void> {
  const target = await ownerOfRequest(state, request).catch((error: unknown) => ({
    error: errorOf(error),
  }));
  if (entry.cancelled) return undefined;
  return takeCall(state, ownRequest(request, target), { entry, target });
}

interface Taking {
  readonly entry: OpenRequest;
  readonly target: Target;
}

function takeCall(state: ManyState, request: ClientRequest, { entry, target }: Taking): void {
  const { open, calls } = state;
  const place = placeOf(state, request, target);
  const forget = (): void => {
    if (place !== undefined && "over" in place) place.over();
    if (open.get(request.id) === entry) open.delete(request.id);
    endIfAllFailed(state);
  };
  const routed =
    place !== undefined && "full" in place
      ? { error: { code: INVALID_REQUEST, message: place.full } }
      : target;
  entry.call = calls.start(
    request,
    (call, line) => routeCall(state, { request, entry, call, line, target: routed, place }),
    forget,
  );
  if (entry.call === undefined) forget();
}

interface Routing extends Taking {
  readonly place: ReturnType<typeof placeOf>;
  readonly request: ClientRequest;
  readonly call: CallParams;
  readonly line: Buffer;
}

/** Why a request goes nowhere; `undefined` where it goes to its server. */
function refusalOf({ id, method }: ClientRequest, target: Target): Buffer | undefined {
  if ("error" in target) return errorLine(id, target.error);
  if (target.peer.failure === undefined) return undefined;
  const notice = unavailableResult(target.peer.failure, false);
  return method === TOOLS_CALL ? resultLine(id, notice) : errorLine(id, noticeError(notice));
}

function routeCall(
  state: ManyState,
  { request, entry, call, line, target, place }: Routing,
): CallRoute | undefined {
  const { id, method } = request;
  const isCall = method === TOOLS_CALL;
  const refusal = refusalOf(request, target);
  if (refusal !== undefined) state.parts.send(refusal);
  if (refusal !== undefined || "error" in target) return undefined;
  const { peer, own } = target;
  const { progressToken, isTask, typedResults: isTyped } = call;
  const tool = isCall ? (own ?? call.tool) : call.tool;
  const { catalog, presented } = peer;
  const mayAsk = state.parts.pins !== undefined || state.handshakeOver;
  const list = (): ListPage | undefined =>
    mayAsk && hasCapability(peer, "tools") ? (cursor) => peer.listTools(cursor) : undefined;
  return {
    server: peer.name,
    tool,
    definition: () =>
      isCall ? catalog.find(tool, list()) : presented.find(method, request.params),
    ...(isCall && { renew: () => catalog.renew(tool, list()) }),
    limits: peer.limits,
    recall: () => recall(entry),
    forward(changed, onAnswer): void {
      const why = isCall ? catalog.heldBack(tool) : undefined;
      if (why !== undefined) return onAnswer(heldBackLine({ id, tool, isTyped }, why));
      const held = presented.heldBack(method, request.params);
      if (held !== undefined) return onAnswer(errorLine(id, held));
      const elsewhere = changedOwner(state, { method, peer, changed });
      if (elsewhere !== undefined) return onAnswer(errorLine(id, elsewhere));
      if (place !== undefined && "sent" in place) place.sent();
      if (!isCall && changed === undefined) peer.keep(request);
      const rewrite = isCall ? rewriteCall : rewriteRequest;
      const sent = askFor(entry, peer, {
        build: (sentId) =>
          rewrite(line, changed, [
            { path: ["id"], value: sentId },
            ...(isCall ? [{ path: ["params", "name"], value: tool }] : []),
            { path: ["params", "_meta", "progressToken"], value: sentId },
          ]),
        ...(progressToken === undefined
          ? {}
          : { token: { token: progressToken, lasting: isTask } }),
      });
      if (place !== undefined && "sent" in place)
        onNotSubscribed({ place, request, entry, peer, sent: sent.answer });
      sent.answer.then(
        (reply) => onAnswer(replaceValues(reply, [{ path: ["id"], value: id }])),
        // The call hears of its server's end by itself.
        () => {},
      );
    },
  };
}

interface Subscribing {
  readonly place: Exclude<ReturnType<typeof placeOf>, undefined | { readonly full: string }>;
  readonly request: ClientRequest;
  readonly entry: OpenRequest;
  readonly peer: Peer;
  readonly sent: Promise<Buffer>;
}

/** Of a subscription that is refused, or taken back, another process of its server hears nothing. */
function onNotSubscribed({ place, request, entry, peer, sent }: Subscribing): void {
  const forget = (): void => peer.keep(unsubscribed(request.params, request.line));
  entry.stop ??= new AbortController();
  entry.stop.signal.addEventListener("abort", forget, { once: true });
  sent.then(
    (reply) => void (place.answered(reply) || forget()),
    () => {},
  );
}

/** Nobody waits for the answer any more. */
function recall({ sent }: OpenRequest): void {
  for (const { peer, id } of sent) {
    peer.abandon(id);
    peer.send(recalled(id));
  }
}

/** What a server says besides its answers. */
function fromServer(
  state: ManyState,
  {
    peer,
    message,
    line,
  }: { readonly peer: Peer; readonly message: ServerMessage; readonly line: Buffer },
): void {
  const { parts, reverse, requests } = state;
  const { kind, method, id } = message;
  if (kind === "unknown" || kind === "odd" || (kind === "notification" && isServersMethod(method)))
    return parts.log(`[${peer.name}] wrote a line that is not a message; it is dropped`);
  if (kind === "request" && id !== undefined)
    return requests.take(
      {
        server: peer.name,
        reply: (reply) => peer.send(reply),
        pass: (request, onAnswer) => parts.send(reverse.outward({ peer, id }, request, onAnswer)),
      },
      line,
    );
  if (method === "notifications/resources/list_changed") state.listed.delete(peer);
  if (method === "notifications/progress") return sendProgress(parts, peer, line);
  if (method !== "notifications/cancelled") return parts.send(line);
  const params = paramsOf(line);
  if (!requests.cancel(peer.name, isRecord(params) ? params["requestId"] : undefined))
    return undefined;
  const cancelled = reverse.cancelled(peer, params, line);
  return cancelled === undefined ? undefined : parts.send(cancelled);
}

/** Progress reaches the client under its own token, and only for a request that this server has. */
function sendProgress(parts: RouterParts, peer: Peer, line: Buffer): void {
  const params = paramsOf(line);
  const own: unknown = isRecord(params) ? params.progressToken : undefined;
  const token = typeof own === "number" ? peer.tokens.get(own) : undefined;
  if (token !== undefined)
    parts.send(replaceValues(line, [{ path: ["params", "progressToken"], value: token }]));
}

async function down(state: ManyState, peer: Peer, failure: ServerFailure): Promise<void> {
  state.reverse.forget(peer);
  state.requests.forget(peer.name);
  state.listed.delete(peer);
  await state.calls.fail(failure);
  endIfAllFailed(state);
}

/** Without any server the connection ends, once the client had an answer that says why. */
function endIfAllFailed({ parts, peers, open, told }: ManyState): void {
  const reasons = peers.filter(isGone).flatMap(({ failure }) => failure?.reason ?? []);
  if (told && reasons.length === peers.length && open.size() === 0)
    parts.onFailed(reasons.join("; "));
}
