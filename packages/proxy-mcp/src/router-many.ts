/**
 * Several servers behind one connection. Tools and prompts are called `server__name`; resources and
 * tasks go to the server that owns them; ids and progress tokens are the proxy's own on the
 * servers' side. What no server can be found for is answered "method not found".
 */
import { unavailableResult } from "./call-result.js";
import { rewriteCall } from "./call-params.js";
import type { CallParams } from "./call-params.js";
import { errorOf, RequestError } from "./failure.js";
import type { ServerFailure } from "./failure.js";
import { handshake } from "./handshake.js";
import { announceOf } from "./late-servers.js";
import { createHeldCalls } from "./held-calls.js";
import type { CallRoute } from "./held-calls.js";
import { replaceValues } from "./json-walk.js";
import { createInFlight } from "./in-flight.js";
import { askFor } from "./many-state.js";
import type { ManyState, OpenRequest } from "./many-state.js";
import { SEPARATOR, splitName } from "./merge.js";
import { isRecord, paramsOf, resultOf } from "./message.js";
import type { ClientMessage, ClientNotification, ClientRequest, ServerMessage } from "./message.js";
import { heldBackResult } from "./pins/held-back.js";
import { createPeer, hasCapability, isGone } from "./peer.js";
import type { Peer } from "./peer.js";
import { createReverseRequests } from "./reverse-requests.js";
import type { Router, RouterParts } from "./router.js";
import { createRoutes } from "./routes.js";
import type { Routes } from "./routes.js";
import { errorLine, INVALID_PARAMS, INVALID_REQUEST, recalled, resultLine } from "./rpc.js";
import type { RpcError } from "./rpc.js";
import { serve } from "./shared-requests.js";

/** A router for several servers; starts them. */
export function createManyRouter(parts: RouterParts): Router {
  const state: ManyState = {
    parts,
    peers: parts.upstreams.map((config) =>
      createPeer(config, parts, {
        onMessage: (peer, message, line) => fromServer(state, { peer, message, line }),
        onDown: (peer, failure) => void down(state, peer, failure),
        onUp: (peer) => announceOf(state, peer),
      }),
    ),
    calls: createHeldCalls(parts),
    routes: createRoutes(),
    reverse: createReverseRequests(),
    open: createInFlight(parts.room),
    greeted: false,
    told: false,
    handshakeOver: false,
    isOpenEnded: false,
  };
  return {
    take: (message) => fromClient(state, message),
    pause(on): void {
      for (const peer of state.peers) peer.pause(on);
    },
    leave: () => state.calls.leave(),
    async close(): Promise<void> {
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
  if (request.method === "tools/call" && state.greeted) return takeCall(state, request, entry);
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
    else if (!state.greeted)
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

function takeCall(state: ManyState, request: ClientRequest, entry: OpenRequest): void {
  const { open, calls } = state;
  const forget = (): void => {
    if (open.get(request.id) === entry) open.delete(request.id);
  };
  entry.call = calls.start(
    request,
    (call, line) => routeCall(state, { request, entry, call, line }),
    forget,
  );
  if (entry.call === undefined) forget();
}

interface Routing {
  readonly request: ClientRequest;
  readonly entry: OpenRequest;
  readonly call: CallParams;
  readonly line: Buffer;
}

function routeCall(
  state: ManyState,
  { request, entry, call, line }: Routing,
): CallRoute | undefined {
  const { parts, peers, routes } = state;
  const { id } = request;
  const name = splitName(call.tool);
  const peer = peers.find((each) => each.name === name?.server);
  if (name === undefined || peer === undefined) {
    parts.send(errorLine(id, unknownTool(call.tool)));
    return undefined;
  }
  if (peer.failure !== undefined) {
    parts.send(resultLine(id, unavailableResult(peer.failure, false)));
    return undefined;
  }
  const { progressToken, isTask } = call;
  const list = (): Parameters<Peer["catalog"]["find"]>[1] =>
    state.handshakeOver && hasCapability(peer, "tools")
      ? (cursor) => peer.listTools(cursor)
      : undefined;
  return {
    server: peer.name,
    tool: name.own,
    definition: () => peer.catalog.find(name.own, list()),
    limits: peer.limits,
    recall(): void {
      for (const { id: sentId } of entry.sent) {
        peer.abandon(sentId);
        peer.send(recalled(sentId));
      }
    },
    forward(changed, onAnswer): void {
      if (peer.catalog.isHeldBack(name.own))
        return onAnswer(resultLine(id, heldBackResult(name.own)));
      const sent = askFor(entry, peer, {
        build: (own) =>
          rewriteCall(line, changed, [
            { path: ["id"], value: own },
            { path: ["params", "name"], value: name.own },
            { path: ["params", "_meta", "progressToken"], value: own },
          ]),
        ...(progressToken === undefined
          ? {}
          : { token: { token: progressToken, lasting: isTask } }),
      });
      sent.answer.then(
        (reply) => {
          if (isTask) learnTask(routes, peer, reply);
          onAnswer(replaceValues(reply, [{ path: ["id"], value: id }]));
        },
        // The call hears of its server's end by itself.
        () => {},
      );
    },
  };
}

const unknownTool = (tool: string): RpcError => ({
  code: INVALID_PARAMS,
  message: `Cannot call the tool ${JSON.stringify(tool)}: no server has it; tools are called server${SEPARATOR}tool`,
});

function learnTask(routes: Routes, peer: Peer, line: Buffer): void {
  const result = resultOf(line);
  const task: unknown = isRecord(result) ? result.task : undefined;
  if (isRecord(task) && typeof task.taskId === "string") routes.learnTask(peer, task.taskId);
}

/** What a server says besides its answers. */
function fromServer(
  { parts, reverse }: ManyState,
  {
    peer,
    message,
    line,
  }: { readonly peer: Peer; readonly message: ServerMessage; readonly line: Buffer },
): void {
  const { kind, method, id } = message;
  if (kind === "unknown")
    return parts.log(`[${peer.name}] wrote a line that is not a message; it is dropped`);
  if (kind === "request" && id !== undefined) return parts.send(reverse.outward(peer, id, line));
  if (method === "notifications/progress") return sendProgress(parts, peer, line);
  if (method !== "notifications/cancelled") return parts.send(line);
  const cancelled = reverse.cancelled(peer, paramsOf(line), line);
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
  await state.calls.fail(failure);
  endIfAllFailed(state);
}

/** Without any server the connection ends, once the client had an answer that says why. */
function endIfAllFailed({ parts, peers, open, told }: ManyState): void {
  const reasons = peers.filter(isGone).flatMap(({ failure }) => failure?.reason ?? []);
  if (told && reasons.length === peers.length && open.size() === 0)
    parts.onFailed(reasons.join("; "));
}
