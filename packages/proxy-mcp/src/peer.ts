/**
 * Peer: one of several servers. Requests to it carry the proxy's own ids, because the ids and
 * progress tokens of one client cannot be told apart behind several servers.
 */
import { createCatalog } from "./catalog.js";
import type { Catalog } from "./catalog.js";
import { ServerFailedError } from "./failure.js";
import type { ServerFailure } from "./failure.js";
import type { OversizeLine } from "./framing.js";
import { LIST_TIMEOUT_MS } from "./limits.js";
import { idAtEdges, isRecord, readServerLine } from "./message.js";
import type { ServerMessage } from "./message.js";
import type { RouterParts } from "./router.js";
import { errorLine, INTERNAL_ERROR, requestLine } from "./rpc.js";
import type { RpcId } from "./rpc.js";
import { startUpstream } from "./upstream.js";
import type { LocalUpstream } from "./server-process.js";
import type { Upstream } from "./upstream.js";

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
  readonly onEnd: (peer: Peer, failure: ServerFailure) => void;
}

/** One of several servers. */
export interface Peer {
  readonly name: string;
  readonly catalog: Catalog;
  /** As it named them in `initialize`. */
  capabilities: Readonly<Record<string, unknown>>;
  failure: ServerFailure | undefined;
  /** The client's progress tokens by the id of the request. */
  readonly tokens: Map<RpcId, RpcId>;
  send(line: Buffer): void;
  /** Sends a request under a new id. */
  ask(build: (id: number) => Buffer, token?: ClientToken): SentRequest;
  /** Nobody waits for the answer any more. */
  abandon(id: number): void;
  /** One page of its tools, or nothing within some seconds. */
  listTools(cursor: string | undefined): Promise<Buffer | undefined>;
  pause(on: boolean): void;
  /** Ends the process and starts it anew, for another `initialize`. */
  restart(): Promise<void>;
  /** Ends the process for good, because it does not keep to the protocol. */
  giveUp(reason: string): void;
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
  upstream: Upstream | undefined;
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
    upstream: undefined,
  };
  const peer: Peer = {
    name: config.name,
    catalog: createCatalog(config.name, parts),
    capabilities: {},
    failure: undefined,
    tokens: new Map(),
    send: (line) => state.upstream?.send(line),
    ask: (build, token) => ask(state, peer, { build, token }),
    abandon(id): void {
      state.waiting.delete(id);
      peer.tokens.delete(id);
    },
    async listTools(cursor): Promise<Buffer | undefined> {
      const { id, answer } = peer.ask((own) =>
        requestLine(own, "tools/list", cursor === undefined ? {} : { cursor }),
      );
      const line = await answerWithin(parts, answer, LIST_TIMEOUT_MS).catch(() => undefined);
      peer.abandon(id);
      return line;
    },
    pause: (on) => state.upstream?.pause(on),
    async restart(): Promise<void> {
      const old = state.upstream;
      state.waiting.clear();
      start(state, peer);
      await old?.close();
    },
    giveUp(reason): void {
      void state.upstream?.close();
      fail(state, peer, { server: config.name, reason });
    },
    async close(): Promise<void> {
      await state.upstream?.close();
      const failure = { server: config.name, reason: `Server "${config.name}" was stopped` };
      for (const { reject } of state.waiting.values()) reject(new ServerFailedError(failure));
      state.waiting.clear();
    },
  };
  start(state, peer);
  return peer;
}

function start(state: PeerState, peer: Peer): void {
  const { config, parts } = state;
  // A process that was replaced is heard no more.
  const isCurrent = (): boolean => state.upstream === started;
  const started = startUpstream(config, {
    clock: parts.clock,
    masks: parts.masks,
    turns: parts.turns,
    awaits: (id) => state.waiting.has(id),
    onLine: (line) => (isCurrent() ? take(state, peer, line) : undefined),
    onOversize: (line) => (isCurrent() ? tooLarge(state, peer, line) : undefined),
    onEnd: (failure) => (isCurrent() ? fail(state, peer, failure) : undefined),
    onPressure: parts.onPressure,
    log: parts.log,
  });
  state.upstream = started;
}

function ask(
  state: PeerState,
  peer: Peer,
  {
    build,
    token,
  }: { readonly build: (id: number) => Buffer; readonly token: ClientToken | undefined },
): SentRequest {
  const id = state.nextId++;
  if (peer.failure !== undefined)
    return { id, answer: Promise.reject(new ServerFailedError(peer.failure)) };
  const answer = new Promise<Buffer>((resolve, reject) => {
    state.waiting.set(id, { resolve, reject, lasting: token?.lasting === true });
  });
  if (token !== undefined) peer.tokens.set(id, token.token);
  peer.send(build(id));
  return { id, answer };
}

function take({ waiting, handlers }: PeerState, peer: Peer, line: Buffer): void {
  if (peer.failure !== undefined) return undefined;
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

function tooLarge(state: PeerState, peer: Peer, line: OversizeLine): void {
  const id = idAtEdges(line);
  const reason = `Server "${peer.name}" sent a line that is too long`;
  if (id === undefined || !state.waiting.has(id)) return peer.giveUp(reason);
  return take(
    state,
    peer,
    errorLine(id, {
      code: INTERNAL_ERROR,
      message: reason,
      data: { code: "answer_too_large", server: peer.name },
    }),
  );
}

function fail({ parts, waiting, handlers }: PeerState, peer: Peer, failure: ServerFailure): void {
  if (peer.failure !== undefined) return;
  peer.failure = failure;
  parts.log(failure.reason);
  for (const { reject } of waiting.values()) reject(new ServerFailedError(failure));
  waiting.clear();
  handlers.onEnd(peer, failure);
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
