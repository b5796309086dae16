/**
 * One server: ids, names and bytes pass unchanged in both directions; only a `tools/call` waits for
 * the gate. What is tracked is which requests wait for an answer, so that a server that dies leaves
 * none of them hanging.
 */
import { randomUUID } from "node:crypto";
import { createCatalog } from "./catalog.js";
import type { Catalog } from "./catalog.js";
import { rewriteCall } from "./call-params.js";
import { failureError } from "./failure.js";
import type { ServerFailure } from "./failure.js";
import { createHeldCalls } from "./held-calls.js";
import type { CallRoute, HeldCalls } from "./held-calls.js";
import { createInFlight } from "./in-flight.js";
import type { InFlight } from "./in-flight.js";
import { LIST_TIMEOUT_MS } from "./limits.js";
import { idAtEdges, isRecord, readServerLine, resultOf } from "./message.js";
import type { ClientMessage, ClientRequest } from "./message.js";
import type { Router, RouterParts } from "./router.js";
import { heldBackError, heldBackResult } from "./pins/held-back.js";
import { readableAnswer } from "./pins/instructions.js";
import { strayProblem } from "./pins/stray.js";
import { errorLine, INTERNAL_ERROR, requestLine, resultLine } from "./rpc.js";
import type { RpcId } from "./rpc.js";
import type { ToolCall } from "./tool-call.js";
import { startUpstream } from "./upstream.js";
import type { LocalUpstream } from "./server-process.js";
import type { Upstream } from "./upstream.js";

/** A request that waits for its answer. */
interface Waiting {
  readonly method: string;
  /** Set for a tool call. */
  call?: ToolCall | undefined;
  /** Set while a tool call is at the server. */
  onAnswer?: ((line: Buffer) => void) | undefined;
  /** Ends the watch over the start. */
  stop?: AbortController;
}

interface State {
  readonly parts: RouterParts;
  readonly catalog: Catalog;
  readonly calls: HeldCalls;
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
  const state: State = {
    parts,
    catalog: createCatalog(config.name, parts),
    calls: createHeldCalls(parts),
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
  else {
    if (message.kind === "notification" && message.method === "notifications/initialized")
      state.handshakeOver = true;
    state.upstream.send(message.line);
  }
}

function takeRequest(state: State, request: ClientRequest): void {
  const { parts, waiting } = state;
  const { id, method, line } = request;
  if (state.failure !== undefined) {
    parts.send(errorLine(id, failureError(state.failure)));
    parts.onFailed(state.failure.reason);
    return;
  }
  const entry: Waiting = { method };
  const refusal = waiting.add(request, entry);
  if (refusal !== undefined) return parts.send(refusal);
  if (method === "tools/call") return takeCall(state, request, entry);
  if (method === "initialize") entry.stop = watchStart(state, id);
  state.upstream.send(line);
}

function takeCall(state: State, request: ClientRequest, entry: Waiting): void {
  const { waiting, catalog, upstream } = state;
  const { id } = request;
  const forget = (): void => {
    if (waiting.get(id) === entry) waiting.delete(id);
  };
  entry.call = state.calls.start(
    request,
    ({ tool }, line): CallRoute => ({
      server: upstream.name,
      tool,
      definition: () =>
        catalog.find(
          tool,
          state.handshakeOver && state.hasTools ? (cursor) => ownList(state, cursor) : undefined,
        ),
      forward: (changed, onAnswer) => {
        if (catalog.isHeldBack(tool)) return onAnswer(resultLine(id, heldBackResult(tool)));
        entry.onAnswer = onAnswer;
        upstream.send(changed === undefined ? line : rewriteCall(line, changed));
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
  if (message.kind !== "response" || message.id === undefined) return passStray(state, line);
  const { id } = message;
  if (String(id).startsWith(state.ownPrefix)) return own.get(id)?.(line);
  const entry = waiting.get(id);
  if (entry === undefined) return passStray(state, line);
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
    state.hasTools =
      isRecord(result) && isRecord(result.capabilities) && isRecord(result.capabilities.tools);
  }
  const readable = readableBy(state, entry, line);
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

/** Requests of either era whose answers have instructions. */
const GREETINGS: ReadonlySet<string> = new Set(["initialize", "server/discover"]);

/** What answers no request of the client goes on as it came, unless it has what is pinned. */
function passStray({ parts, upstream }: State, line: Buffer): void {
  const problem = parts.pins === undefined ? undefined : strayProblem(line);
  if (problem === undefined) return parts.send(line);
  return parts.log(`[${upstream.name}] wrote a line that is dropped: ${problem}`);
}

/** An answer as the client may see it; a promise where it is held against what is pinned. */
function readableBy(
  { parts, catalog, upstream }: State,
  { method }: Waiting,
  line: Buffer,
): Buffer | Promise<Buffer> {
  if (method === "tools/list") return catalog.take(line);
  if (!GREETINGS.has(method) || parts.pins === undefined) return line;
  return readableAnswer({ server: upstream.name, pins: parts.pins, log: parts.log }, line);
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
): Promise<Buffer | undefined> {
  const id = `${ownPrefix}${randomUUID()}`;
  const stop = new AbortController();
  const answer = new Promise<Buffer | undefined>((resolve) => {
    own.set(id, resolve);
  });
  upstream.send(requestLine(id, "tools/list", cursor === undefined ? {} : { cursor }));
  const late = parts.clock.sleep(LIST_TIMEOUT_MS, { signal: stop.signal }).then(
    () => undefined,
    () => undefined,
  );
  const line = await Promise.race([answer, late]);
  own.delete(id);
  stop.abort(new Error("the list is over"));
  return line;
}
