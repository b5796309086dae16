/**
 * Peer: one of several servers. Requests to it carry the proxy's own ids, because the ids and
 * progress tokens of one client cannot be told apart behind several servers.
 */
import { createCallLimits } from "./call-limits.js";
import type { CallLimits } from "./call-limits.js";
import { createCatalog } from "./catalog.js";
import type { Catalog } from "./catalog.js";
import { ServerFailedError } from "./failure.js";
import type { ServerFailure } from "./failure.js";
import { LIST_TIMEOUT_MS, RETRY_MS_MIN } from "./limits.js";
import { isRecord, readServerLine } from "./message.js";
import type { ServerMessage } from "./message.js";
import { createPresented } from "./pins/presented.js";
import type { Presented } from "./pins/presented.js";
import { startTimeoutMs } from "./router.js";
import { subscribeEffectOf } from "./judged/subscriptions.js";
import type { RouterParts } from "./router.js";
import { requestLine } from "./rpc.js";
import type { RpcId } from "./rpc.js";
import type { KeptMessage, KeptSession } from "./kept-session.js";
import { startReturning } from "./returning.js";
import type { Returning } from "./returning.js";
import type { LocalUpstream } from "./server-process.js";
import { tooLarge } from "./too-large.js";

/** A request under way to a peer. */
export interface SentRequest {
  /** The id that the peer knows it by; its progress token too. */
  readonly id: number;
  /** The answer's line. @throws ServerFailedError */
  readonly answer: Promise<Buffer>;
}

/** The client's progress token of a request. */
export interface ClientToken {
  readonly token: RpcId;
  /** Whether progress goes on after the answer, as for a task. */
  readonly lasting: boolean;
}

/** What a peer says of itself. */
export interface PeerHandlers {
  readonly onMessage: (peer: Peer, message: ServerMessage, line: Buffer) => void;
  /** It is gone, perhaps until it is back. */
  readonly onDown: (peer: Peer, failure: ServerFailure) => void;
  /** Another process of it stands where the last one stood. */
  readonly onUp: (peer: Peer) => void;
}

/** One of several servers. */
export interface Peer {
  readonly name: string;
  readonly catalog: Catalog;
  readonly presented: Presented;
  /** Of its tool calls, if there are any. */
  readonly limits: CallLimits | undefined;
  /** How long it may take to answer `initialize`. */
  readonly startTimeoutMs: number;
  /** As it named them in `initialize`; none before its client can use it. */
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** Why it cannot be asked now. */
  readonly failure: ServerFailure | undefined;
  /** The client's progress tokens by the id of the request. */
  readonly tokens: Map<RpcId, RpcId>;
  send(line: Buffer): void;
  /** Sends a request under a new id. */
  ask(build: (id: number) => Buffer, token?: ClientToken): SentRequest;
  /** Sends `initialize`, also to a server that no client can use yet. */
  greet(build: (id: number) => Buffer): SentRequest;
  /** From now on its client can use it; it is told what the client told all. */
  join(capabilities: unknown): void;
  /** Tells it what the client tells all, now or once it has joined. */
  tell(message: Omit<KeptMessage, "id">): void;
  /** Takes note of a request for the process that follows. */
  keep(message: Omit<KeptMessage, "id">): void;
  /** Nobody waits for the answer any more. */
  abandon(id: number): void;
  /** One page of its tools, or nothing within some seconds. */
  listTools(cursor: string | undefined): Promise<Buffer | undefined>;
  pause(on: boolean): void;
  /** Ends the process and starts it anew, for another `initialize`. */
  restart(): Promise<void>;
  /**
   * Waits before it is started once more, because it could not be used yet; until it is, it counts
   * as one that comes back.
   *
   * @throws Once it is closed.
   */
  rest(ms: number): Promise<void>;
  /** Nothing new is sent to it, for this reason; `undefined`: as before. */
  retire(why: ServerFailure | undefined): void;
  /** Whether it owes an answer. */
  isBusy(): boolean;
  /** Ends its process, or its rest, and starts another that hears what the client told. */
  replace(reason: string): void;
  /** What its client told it. */
  session(): KeptSession;
  /** Ends the process, because it does not keep to the protocol. @param isForGood - None follows. */
  giveUp(reason: string, isForGood?: boolean): void;
  close(): Promise<void>;
}

interface Waiting {
  readonly resolve: (line: Buffer) => void;
  readonly reject: (error: Error) => void;
  readonly lasting: boolean;
}

interface PeerState {
  readonly config: LocalUpstream;
  readonly parts: RouterParts;
  readonly handlers: PeerHandlers;
  readonly waiting: Map<RpcId, Waiting>;
  nextId: number;
  capabilities: Readonly<Record<string, unknown>>;
  isJoined: boolean;
  retired: ServerFailure | undefined;
  /** When it is started once more, on the monotonic clock; `undefined` where it has not failed yet. */
  retryAtMs: number | undefined;
  /** Ends a rest. */
  wake: AbortController;
  readonly over: AbortController;
}

/** Starts a server as one of several. */
export function createPeer(
  config: LocalUpstream,
  parts: RouterParts,
  handlers: PeerHandlers,
): Peer {
  const state: PeerState = {
    config,
    parts,
    handlers,
    waiting: new Map(),
    nextId: 1,
    capabilities: {},
    isJoined: false,
    retired: undefined,
    retryAtMs: undefined,
    wake: new AbortController(),
    over: new AbortController(),
  };
  const upstream = startReturning(config, {
    clock: parts.clock,
    masks: parts.masks,
    turns: parts.turns,
    startTimeoutMs: startTimeoutMs(config, parts),
    subscribeEffect: subscribeEffectOf(parts, config.name),
    isHeldBack: (uri) => peer.presented.heldBack("resources/subscribe", { uri }) !== undefined,
    awaits: (id) => state.waiting.has(id),
    hasAnswered: () => false,
    onLine: (line) => take(state, peer, line),
    onOversize: (line) => tooLarge(line, peer, (answer) => take(state, peer, answer)),
    onDown: (failure) => down(state, peer, failure),
    onUp: (result) => back(state, peer, result),
    onPressure: parts.onPressure,
    log: parts.log,
  });
  const peer = peerOf(state, upstream);
  return peer;
}

function peerOf(state: PeerState, upstream: Returning): Peer {
  const { config, parts } = state;
  const peer: Peer = {
    name: config.name,
    catalog: createCatalog(config.name, parts),
    presented: createPresented({ ...parts, server: config.name, pins: parts.pins }),
    limits: createCallLimits(config.limits, parts.clock),
    startTimeoutMs: startTimeoutMs(config, parts),
    get capabilities() {
      return state.capabilities;
    },
    get failure() {
      return state.retired ?? failureOf(state, upstream);
    },
    tokens: new Map(),
    send: (line) => upstream.send(line),
    ask(build, token) {
      // What was released before it retired is still its to answer.
      const failure = failureOf(state, upstream);
      return failure === undefined
        ? ask({ state, peer, upstream }, build, token)
        : refused(state, failure);
    },
    greet(build) {
      const failure = state.over.signal.aborted ? stopped(config.name) : upstream.failure();
      if (failure !== undefined) return refused(state, failure);
      return ask({ state, peer, upstream }, (id) => {
        const line = build(id);
        upstream.keep({ method: "initialize", params: undefined, line, id });
        return line;
      });
    },
    join(capabilities) {
      state.retryAtMs = undefined;
      state.capabilities = isRecord(capabilities) ? capabilities : {};
      state.isJoined = true;
      upstream.catchUp();
    },
    abandon(id): void {
      state.waiting.delete(id);
      peer.tokens.delete(id);
    },
    listTools: (cursor) => listTools(parts, peer, cursor),
    pause: (on) => upstream.pause(on),
    async restart(): Promise<void> {
      state.waiting.clear();
      await upstream.renew();
    },
    giveUp: (reason, isForGood) => upstream.giveUp(reason, isForGood),
    ...changing(state, upstream),
    async close(): Promise<void> {
      peer.catalog.close();
      state.over.abort(new Error("the server is no longer needed"));
      await upstream.close();
      leave(state, stopped(config.name));
    },
  };
  return peer;
}

/** What it is told, and what is done about it while its client goes on. */
function changing(
  state: PeerState,
  upstream: Returning,
): Pick<Peer, "tell" | "keep" | "rest" | "retire" | "isBusy" | "replace" | "session"> {
  return {
    tell(message) {
      upstream.keep(message);
      if (state.isJoined) upstream.send(message.line);
    },
    keep: (message) => upstream.keep(message),
    rest: (ms) => rest(state, ms),
    retire: (why) => void (state.retired = why),
    isBusy: () => state.waiting.size > 0,
    replace(reason) {
      if (state.isJoined) upstream.replace(reason);
      else state.wake.abort(new Error(reason));
    },
    session: () => upstream.session(),
  };
}

async function listTools(
  parts: RouterParts,
  peer: Peer,
  cursor: string | undefined,
): Promise<Buffer | undefined> {
  const { id, answer } = peer.ask((own) =>
    requestLine(own, "tools/list", cursor === undefined ? {} : { cursor }),
  );
  const line = await answerWithin(parts, answer, LIST_TIMEOUT_MS).catch(() => undefined);
  peer.abandon(id);
  return line;
}

/** Why its process cannot be asked. */
function failureOf(state: PeerState, upstream: Returning): ServerFailure | undefined {
  const { config, isJoined, retryAtMs, parts } = state;
  if (state.over.signal.aborted) return stopped(config.name);
  const failure = upstream.failure() ?? (isJoined ? undefined : starting(config.name));
  if (failure === undefined || failure.retryAfterMs !== undefined || retryAtMs === undefined)
    return failure;
  const leftMs = Math.ceil(retryAtMs - parts.clock.monotonic());
  return { ...failure, retryAfterMs: Math.max(RETRY_MS_MIN, leftMs) };
}

async function rest(state: PeerState, ms: number): Promise<void> {
  const { clock } = state.parts;
  const { signal: over } = state.over;
  state.wake = new AbortController();
  state.retryAtMs = clock.monotonic() + ms;
  const signal = AbortSignal.any([over, state.wake.signal]);
  await clock.sleep(ms, { signal, background: true }).catch(() => over.throwIfAborted());
}

/** It was asked for `initialize`, and its client has an answer without it. */
function starting(server: string): ServerFailure {
  return {
    server,
    reason: `Server "${server}" is still starting`,
    retryAfterMs: RETRY_MS_MIN,
  };
}

const stopped = (server: string): ServerFailure => ({
  server,
  reason: `Server "${server}" was stopped`,
});

function refused(state: PeerState, failure: ServerFailure): SentRequest {
  const answer = Promise.reject<Buffer>(new ServerFailedError(failure));
  // Whoever asked may look at it later.
  answer.catch(() => {});
  return { id: state.nextId++, answer };
}

interface Asking {
  readonly state: PeerState;
  readonly peer: Peer;
  readonly upstream: Returning;
}

function ask(
  { state, peer, upstream }: Asking,
  build: (id: number) => Buffer,
  token?: ClientToken,
): SentRequest {
  const id = state.nextId++;
  const answer = new Promise<Buffer>((resolve, reject) => {
    state.waiting.set(id, { resolve, reject, lasting: token?.lasting === true });
  });
  if (token !== undefined) peer.tokens.set(id, token.token);
  upstream.send(build(id));
  return { id, answer };
}

function take({ waiting, handlers }: PeerState, peer: Peer, line: Buffer): void {
  const message = readServerLine(line);
  if (message.kind === "notification" && message.method === "notifications/tools/list_changed")
    peer.catalog.forget();
  if (message.kind !== "response" || message.id === undefined)
    return handlers.onMessage(peer, message, line);
  const request = waiting.get(message.id);
  if (request === undefined) return undefined;
  waiting.delete(message.id);
  if (!request.lasting) peer.tokens.delete(message.id);
  return request.resolve(line);
}

function leave({ waiting }: PeerState, failure: ServerFailure): void {
  for (const { reject } of waiting.values()) reject(new ServerFailedError(failure, true));
  waiting.clear();
}

function down(state: PeerState, peer: Peer, failure: ServerFailure): void {
  peer.catalog.forget();
  peer.tokens.clear();
  leave(state, failure);
  state.handlers.onDown(peer, failure);
}

function back(
  state: PeerState,
  peer: Peer,
  result: Readonly<Record<string, unknown>> | undefined,
): void {
  // One that died before its client could use it joins as it would have.
  if (!state.isJoined) return;
  state.capabilities = isRecord(result?.capabilities) ? result.capabilities : {};
  state.handlers.onUp(peer);
}

/** The answer, or `undefined` when it takes longer. */
export async function answerWithin(
  { clock }: RouterParts,
  answer: Promise<Buffer>,
  ms: number,
): Promise<Buffer | undefined> {
  const stop = new AbortController();
  const late = clock.sleep(ms, { signal: stop.signal }).then(
    () => undefined,
    () => undefined,
  );
  try {
    return await Promise.race([answer, late]);
  } finally {
    stop.abort(new Error("the answer came"));
  }
}

/** Whether a server named a capability. */
export function hasCapability({ capabilities, failure }: Peer, name: string): boolean {
  return failure === undefined && isRecord(capabilities[name]);
}

/** Whether it never comes back. What it owns stays its own until then. */
export function isGone({ failure }: Pick<Peer, "failure">): boolean {
  return failure !== undefined && failure.retryAfterMs === undefined;
}
