/**
 * Multiplexer: several clients before one process of a server. Ids and progress tokens are ours on
 * the server's side; what the server says goes to the client that it is for, and to nobody where
 * that is not certain. Rules: spec/mcp-proxy.md §21.
 */
import { failureError, unreadableAnswer } from "../failure.js";
import type { ServerFailure } from "../failure.js";
import { replaceValues } from "../json-walk.js";
import { logText } from "../log-text.js";
import { isRecord, paramsOf, progressTokenOf, readServerLine, resultOf } from "../message.js";
import type { ClientNotification, ClientRequest } from "../message.js";
import {
  errorLine,
  INVALID_PARAMS,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  notificationLine,
  requestLine,
  resultLine,
} from "../rpc.js";
import type { RpcId } from "../rpc.js";
import { createFairQueue } from "./fair-queue.js";
import type { FairQueue } from "./fair-queue.js";
import { createSharedResources, NO_SERVER } from "./shared-resources.js";
import type { Outcome, ResourceAsk, SharedResources } from "./shared-resources.js";

/** What a shared server is asked for its clients. All else would be the state of one of them. */
const ASKED: ReadonlySet<string> = new Set([
  "completion/complete",
  "prompts/get",
  "prompts/list",
  "resources/list",
  "resources/read",
  "resources/templates/list",
  "tools/call",
  "tools/list",
]);
/** What is for every client alike. */
const FOR_ALL: ReadonlySet<string> = new Set([
  "notifications/prompts/list_changed",
  "notifications/resources/list_changed",
  "notifications/tools/list_changed",
]);

/** One client's side. */
export interface MultiplexedClient {
  take(request: ClientRequest): void;
  notify(notification: ClientNotification): void;
  /** Whether it waits for an answer. */
  isBusy(): boolean;
  /** What it asked is taken back; nothing more is delivered. */
  leave(): void;
}

/** The clients of one process. */
export interface Multiplexer {
  join(deliver: (line: Buffer) => void): MultiplexedClient;
  fromServer(line: Buffer): void;
  /** Whether somebody waits for an answer with this id. */
  awaits(id: RpcId): boolean;
  /** Sends nothing for now. */
  pause(on: boolean): void;
  /** The process is gone: what it was not sent is answered so. */
  fail(failure: ServerFailure): void;
}

/** Parts of {@link createMultiplexer}. */
export interface MultiplexerParts {
  readonly name: string;
  readonly send: (line: Buffer) => void;
  readonly log: (line: string) => void;
  /** Requests that the server has at a time. */
  readonly callsMax: number;
}

interface Asking {
  readonly client: Client;
  readonly id: RpcId;
  readonly token: RpcId | undefined;
  /** Gives its place back. */
  readonly done: () => void;
}

interface Client {
  readonly deliver: (line: Buffer) => void;
  /** By the client's own ids. */
  readonly open: Map<RpcId, Open>;
  /** What is asked for it and others, and waits for its turn. */
  readonly queued: Set<(answer: "left" | undefined) => void>;
  isReady: boolean;
}

interface Open {
  /** The server has it. */
  isSent: boolean;
  readonly takeBack: () => void;
}

interface State extends MultiplexerParts {
  readonly clients: Set<Client>;
  readonly queue: FairQueue<Client>;
  /** By our ids. */
  readonly asked: Map<RpcId, Asking>;
  /** What is asked for several clients. */
  readonly own: Map<RpcId, (line: Buffer | undefined) => void>;
  readonly resources: SharedResources<Client>;
  readonly told: Set<string>;
  nextId: number;
}

/** Nobody is there yet. */
export function createMultiplexer(parts: MultiplexerParts): Multiplexer {
  const state: State = {
    ...parts,
    clients: new Set(),
    queue: createFairQueue(parts.callsMax),
    asked: new Map(),
    own: new Map(),
    resources: createSharedResources((what) => subscribe(state, what)),
    told: new Set(),
    nextId: 1,
  };
  return {
    join: (deliver) => join(state, deliver),
    fromServer: (line) => fromServer(state, line),
    awaits: (id) => state.asked.has(id) || state.own.has(id),
    pause: (on) => state.queue.pause(on),
    fail: (failure) => fail(state, failure),
  };
}

function join(state: State, deliver: Client["deliver"]): MultiplexedClient {
  const client: Client = {
    deliver,
    open: new Map(),
    queued: new Set(),
    isReady: false,
  };
  state.clients.add(client);
  state.queue.join(client);
  return {
    take: (request) => take(state, client, request),
    notify: (notification) => notify(client, notification),
    isBusy: () => client.open.size > 0,
    leave() {
      state.clients.delete(client);
      // First, or each place that is given back would be taken by its next request.
      state.queue.leave(client);
      for (const { takeBack } of client.open.values()) takeBack();
      client.open.clear();
      state.resources.leave(client);
      for (const settle of client.queued) settle("left");
      client.queued.clear();
    },
  };
}

function take(state: State, client: Client, request: ClientRequest): void {
  const { id, method, params } = request;
  const refuse = (code: number, why: string): void =>
    client.deliver(errorLine(id, { code, message: `Cannot serve "${method}": ${why}` }));
  if (client.open.has(id)) return refuse(INVALID_REQUEST, "its id is in use");
  if (method === "ping") return client.deliver(resultLine(id, {}));
  if (method === "resources/subscribe" || method === "resources/unsubscribe")
    return void takeSubscription(state, client, request);
  if (!ASKED.has(method))
    return refuse(METHOD_NOT_FOUND, `server "${state.name}" is shared by several clients`);
  if (isRecord(params) && params["task"] !== undefined)
    return refuse(
      INVALID_PARAMS,
      `server "${state.name}" is shared by several clients, and tasks are not`,
    );
  let takeBack = (): void => {};
  const open: Open = { isSent: false, takeBack: () => takeBack() };
  client.open.set(id, open);
  const takeOut = state.queue.enter(client, (done) => {
    const own = state.nextId++;
    open.isSent = true;
    takeBack = (): void => {
      state.asked.delete(own);
      const reason = "its client took it back";
      state.send(notificationLine("notifications/cancelled", { requestId: own, reason }));
      done();
    };
    state.asked.set(own, { client, id, token: progressTokenOf(params), done });
    state.send(asOurs(request, own));
  });
  if (!open.isSent) takeBack = (): void => void takeOut();
}

/** Under our id, and without what says whose it is. */
function asOurs({ line, params }: ClientRequest, own: number): Buffer {
  const meta = progressTokenOf(params) === undefined ? {} : { progressToken: own };
  return replaceValues(line, [
    { path: ["id"], value: own },
    { path: ["params", "_meta"], value: meta },
  ]);
}

async function takeSubscription(
  { resources }: State,
  client: Client,
  { id, method, params }: ClientRequest,
): Promise<void> {
  const uri: unknown = isRecord(params) ? params["uri"] : undefined;
  if (typeof uri !== "string")
    return client.deliver(
      errorLine(id, { code: INVALID_PARAMS, message: "Cannot subscribe: there is no URI" }),
    );
  const open: Open = { isSent: true, takeBack: () => {} };
  client.open.set(id, open);
  const outcome = await resources.set(client, uri, method === "resources/subscribe");
  if (client.open.get(id) !== open) return undefined;
  client.open.delete(id);
  return client.deliver("ok" in outcome ? resultLine(id, {}) : errorLine(id, outcome.error));
}

/** Tells the server of a resource that the first client wants, or the last one wants no more. */
async function subscribe(
  state: State,
  { uri, isWanted, client }: ResourceAsk<Client>,
): Promise<Outcome | "left"> {
  const line = await new Promise<Buffer | "left" | undefined>((resolve) => {
    const send = (done: () => void): void => {
      client.queued.delete(resolve);
      const own = state.nextId++;
      state.own.set(own, (answer) => {
        done();
        resolve(answer);
      });
      state.send(
        requestLine(own, isWanted ? "resources/subscribe" : "resources/unsubscribe", { uri }),
      );
    };
    // For one that left, the server hears at once that nobody wants it.
    if (!state.clients.has(client)) return send(() => {});
    client.queued.add(resolve);
    return void state.queue.enter(client, send);
  });
  if (line === "left") return line;
  if (line === undefined) return NO_SERVER;
  if (resultOf(line) !== undefined) return { ok: true };
  const message = `Server "${state.name}" refuses to be subscribed to for this resource`;
  return { error: { code: INVALID_PARAMS, message } };
}

function notify(client: Client, { method, params }: ClientNotification): void {
  if (method === "notifications/initialized") client.isReady = true;
  // All else would tell the server about one of its clients.
  if (method !== "notifications/cancelled" || !isRecord(params)) return;
  const { requestId } = params;
  if (typeof requestId !== "string" && typeof requestId !== "number") return;
  client.open.get(requestId)?.takeBack();
  client.open.delete(requestId);
}

function fromServer(state: State, line: Buffer): void {
  const { asked, own, name } = state;
  const { kind, id, method } = readServerLine(line);
  if (kind === "notification") return tellClients(state, method, line);
  if (kind === "request" && id !== undefined) return answerServer(state, { id, method });
  const asking = id === undefined ? undefined : asked.get(id);
  if (asking === undefined || id === undefined) {
    const settle = id === undefined ? undefined : own.get(id);
    if (settle === undefined)
      return tellOnce(state, "said something that is for none of its clients");
    own.delete(id ?? "");
    return settle(line);
  }
  asked.delete(id);
  asking.client.open.delete(asking.id);
  asking.client.deliver(
    kind === "response"
      ? replaceValues(line, [{ path: ["id"], value: asking.id }])
      : errorLine(asking.id, unreadableAnswer(name)),
  );
  asking.done();
}

/** It cannot be told for which of the clients a request of the server is. */
function answerServer(
  state: State,
  { id, method }: { readonly id: RpcId; readonly method: string },
): void {
  if (method === "ping") return state.send(resultLine(id, {}));
  tellOnce(state, `asked its client for ${JSON.stringify(method)}, which a shared server may not`);
  const message = `Cannot serve "${method}": this server is shared by several clients`;
  return state.send(errorLine(id, { code: METHOD_NOT_FOUND, message }));
}

function tellClients(state: State, method: string, line: Buffer): void {
  const { clients, asked, resources } = state;
  const params = paramsOf(line);
  const known = isRecord(params) ? params : {};
  if (FOR_ALL.has(method)) {
    for (const { isReady, deliver } of clients) if (isReady) deliver(line);
    return undefined;
  }
  if (method === "notifications/resources/updated") {
    const { uri } = known;
    for (const { deliver } of typeof uri === "string" ? resources.subscribers(uri) : [])
      deliver(line);
    return undefined;
  }
  if (method === "notifications/progress") {
    const token = known["progressToken"];
    const asking = typeof token === "number" ? asked.get(token) : undefined;
    if (asking?.token !== undefined)
      asking.client.deliver(
        replaceValues(line, [{ path: ["params", "progressToken"], value: asking.token }]),
      );
    return undefined;
  }
  // Whose call it is about is not said.
  if (method === "notifications/message")
    return state.log(`[${state.name}] ${logText(JSON.stringify(known["data"] ?? null))}`);
  return method === "notifications/cancelled"
    ? undefined
    : tellOnce(state, `told its clients ${JSON.stringify(method)}, which nobody gets`);
}

/** A server may go on with it for ever. */
function tellOnce({ told, name, log }: State, what: string): void {
  if (told.has(what) || told.size >= TOLD_MAX) return;
  told.add(what);
  log(`[${name}] ${logText(what)}`);
}

const TOLD_MAX = 20;

function fail(state: State, failure: ServerFailure): void {
  state.queue.pause(true);
  for (const { open, queued, deliver } of state.clients) {
    for (const settle of queued) settle(undefined);
    queued.clear();
    for (const [id, { isSent }] of open) if (!isSent) deliver(errorLine(id, failureError(failure)));
    open.clear();
  }
  state.asked.clear();
  for (const settle of state.own.values()) settle(undefined);
  state.own.clear();
}
