/**
 * Requests of the client to several servers that are not judged: each goes to the one that owns what
 * it names, or to all of them.
 */
import { RequestError } from "./failure.js";
import { replaceValues } from "./json-walk.js";
import { LIST_TIMEOUT_MS } from "./limits.js";
import { askFor } from "./many-state.js";
import type { ManyState, OpenRequest } from "./many-state.js";
import {
  freeAnswer,
  givenToAll,
  judgeGiven,
  ownerOfTask,
  withoutGiven,
} from "./judged/free-requests.js";
import { mergePages, nextCursor, readCursor } from "./merge.js";
import type { ListKind } from "./merge.js";
import { isRecord, progressTokenOf, resultOf } from "./message.js";
import type { ClientRequest } from "./message.js";
import { heldBackError } from "./pins/held-back.js";
import { answerWithin, hasCapability } from "./peer.js";
import type { Peer, SentRequest } from "./peer.js";
import {
  INTERNAL_ERROR,
  INVALID_PARAMS,
  METHOD_NOT_FOUND,
  recalled,
  requestLine,
  resultLine,
} from "./rpc.js";

type Handler = (context: Context) => Promise<Buffer>;

interface Context {
  readonly state: ManyState;
  readonly request: ClientRequest;
  readonly params: Readonly<Record<string, unknown>>;
  readonly open: OpenRequest;
}

const HANDLERS: Readonly<Partial<Record<string, Handler>>> = {
  "tools/list": (context) =>
    list(context, { member: "tools", capability: "tools", prefixed: true }),
  "prompts/list": (context) =>
    list(context, { member: "prompts", capability: "prompts", prefixed: true }),
  "resources/list": (context) =>
    list(context, { member: "resources", capability: "resources", prefixed: false }),
  "resources/templates/list": (context) =>
    list(context, { member: "resourceTemplates", capability: "resources", prefixed: false }),
  "tasks/list": (context) =>
    list(context, { member: "tasks", capability: "tasks", prefixed: false }),
  "resources/unsubscribe": unsubscribe,
  "tasks/get": byTask,
  "tasks/result": byTask,
  "tasks/cancel": byTask,
  "tasks/update": byTask,
  "logging/setLevel": setLevel,
};

/**
 * The answer's line for a request other than `initialize`, `ping` and `tools/call`.
 *
 * @throws RequestError, ServerFailedError
 */
export async function serve(
  state: ManyState,
  request: ClientRequest,
  open: OpenRequest,
): Promise<Buffer> {
  const { method, params } = request;
  const handler = Object.hasOwn(HANDLERS, method) ? HANDLERS[method] : undefined;
  if (handler === undefined)
    throw notFound(
      `Cannot serve ${JSON.stringify(method)}: with several servers the proxy does not know whose it is`,
    );
  return handler({ state, request, params: isRecord(params) ? params : {}, open });
}

/** The answer of one of several servers, which must not hold up those of the others. */
async function inTime({ state, request }: Context, peer: Peer, sent: SentRequest): Promise<Buffer> {
  const line = await answerWithin(state.parts, sent.answer, LIST_TIMEOUT_MS);
  if (line !== undefined) return line;
  peer.abandon(sent.id);
  peer.send(recalled(sent.id));
  throw new RequestError({
    code: INTERNAL_ERROR,
    message: `Server "${peer.name}" did not answer "${request.method}" within ${LIST_TIMEOUT_MS} ms`,
  });
}

/**
 * Passes the request on to one server; its answer comes back under the client's id, and judged.
 *
 * @param isOneOfSeveral - Whether others get the same request.
 */
async function passOn(context: Context, peer: Peer, isOneOfSeveral = false): Promise<Buffer> {
  const { state, request, params, open } = context;
  const token = progressTokenOf(params);
  open.stop ??= new AbortController();
  const { signal } = open.stop;
  const why = judgeGiven(state.calls, { server: peer.name, request, signal });
  // What is sent at once keeps its order.
  const error = why instanceof Promise ? await why : why;
  if (error !== undefined) throw new RequestError(error);
  peer.keep(request);
  const sent = askFor(open, peer, {
    build: (id) =>
      replaceValues(request.line, [
        { path: ["id"], value: id },
        { path: ["params", "_meta", "progressToken"], value: id },
      ]),
    ...(token === undefined ? {} : { token: { token, lasting: false } }),
  });
  const line = await (isOneOfSeveral ? inTime(context, peer, sent) : sent.answer);
  return readable(context, peer, replaceValues(line, [{ path: ["id"], value: request.id }]));
}

async function list(context: Context, kind: ListKind): Promise<Buffer> {
  const { state, request, params } = context;
  const cursors = typeof params.cursor === "string" ? readCursor(params.cursor) : undefined;
  if (params.cursor !== undefined && cursors === undefined)
    throw new RequestError({
      code: INVALID_PARAMS,
      message: "Cannot list: the proxy did not issue this cursor",
    });
  const peers = state.peers.filter(
    (peer) =>
      hasCapability(peer, kind.capability) && (cursors === undefined || cursors.has(peer.name)),
  );
  if (peers.length === 0 && !(state.isOpenEnded && kind.capability !== "tasks"))
    throw notFound(`Cannot serve "${request.method}": no server has ${kind.capability}`);
  const answers = await Promise.allSettled(
    peers.map(async (peer) => {
      const mark = peer.catalog.mark();
      const cursor = cursors?.get(peer.name);
      const answer = await page(context, peer, { cursor, isOneOfSeveral: peers.length > 1 });
      const line = await compared(async () =>
        kind.member === "tools"
          ? peer.catalog.take(answer.line, mark)
          : peer.presented.take(request.method, answer.line),
      );
      // What is held back is nobody's: no request finds it there.
      return { ...answer, line, result: line === answer.line ? answer.result : resultOf(line) };
    }),
  );
  const pages = answers.flatMap((answer) =>
    answer.status === "fulfilled" && answer.value.result !== undefined ? [answer.value] : [],
  );
  const [first] = answers;
  if (pages.length === 0 && first !== undefined) {
    if (first.status === "rejected") throw first.reason;
    return replaceValues(first.value.line, [{ path: ["id"], value: request.id }]);
  }
  if (pages.length < peers.length)
    state.parts.log(
      `"${request.method}" lacks what ${peers.length - pages.length} of ${peers.length} servers have`,
    );
  if (kind.member !== "tools")
    for (const { peer, result } of pages) state.routes.learn(peer, result);
  return Buffer.concat([
    Buffer.from(`{"jsonrpc":"2.0","id":${JSON.stringify(request.id)},"result":{"${kind.member}":[`),
    mergePages(pages, kind),
    Buffer.from(`]${cursorMember(nextCursor(pages))}}}\n`),
  ]);
}

async function compared(take: () => Promise<Buffer>): Promise<Buffer> {
  try {
    return await take();
  } catch (error) {
    throw new RequestError(heldBackError(error));
  }
}

function cursorMember(cursor: string | undefined): string {
  return cursor === undefined ? "" : `,"nextCursor":${JSON.stringify(cursor)}`;
}

async function page(
  context: Context,
  peer: Peer,
  {
    cursor,
    isOneOfSeveral,
  }: { readonly cursor: string | undefined; readonly isOneOfSeveral: boolean },
): Promise<{ peer: Peer; server: string; line: Buffer; result: unknown }> {
  const { request, params, open } = context;
  const { cursor: _, _meta: meta, ...rest } = withoutGiven(params);
  const { progressToken: __, ...kept } = isRecord(meta) ? meta : {};
  const asked = {
    ...rest,
    ...(cursor === undefined ? {} : { cursor }),
    ...(isRecord(meta) ? { _meta: kept } : {}),
  };
  const sent = askFor(open, peer, { build: (id) => requestLine(id, request.method, asked) });
  const answer = await (isOneOfSeveral ? inTime(context, peer, sent) : sent.answer);
  const line = await readable(context, peer, answer);
  return { peer, server: peer.name, line, result: resultOf(line) };
}

/** To the server that is subscribed to: what was not subscribed to is nothing to end. */
function unsubscribe(context: Context): Promise<Buffer> {
  const { state, params } = context;
  const peer = state.subscriptions.ownerOf(params.uri);
  state.subscriptions.forget(params.uri);
  if (peer === undefined)
    throw new RequestError({
      code: INVALID_PARAMS,
      message: "Cannot unsubscribe: this client is not subscribed to the resource",
    });
  return passOn(context, peer);
}

async function byTask(context: Context): Promise<Buffer> {
  const { state, request } = context;
  const owner = ownerOfTask(state.calls, request);
  const peer =
    "server" in owner ? state.peers.find(({ name }) => name === owner.server) : undefined;
  if (peer === undefined)
    throw new RequestError(
      "error" in owner
        ? owner.error
        : { code: INVALID_PARAMS, message: "Cannot find the task: its server is gone" },
    );
  return passOn(context, peer);
}

/** The answer without what is not the client's, and with what it asks for judged. */
function readable(
  { state, request, open }: Context,
  { name }: Peer,
  line: Buffer,
): Buffer | Promise<Buffer> {
  const { calls } = state;
  open.stop ??= new AbortController();
  const { signal } = open.stop;
  return freeAnswer({ calls, server: name, request, signal }, line);
}

/** To every server that logs; done when one of them took it. */
async function setLevel(context: Context): Promise<Buffer> {
  const { state, request } = context;
  const given = givenToAll(request);
  if (given !== undefined) throw new RequestError(given);
  // One that is late hears of it then.
  for (const peer of state.peers) peer.keep(request);
  const peers = state.peers.filter((peer) => hasCapability(peer, "logging"));
  if (peers.length === 0 && state.isOpenEnded) return resultLine(request.id, {});
  if (peers.length === 0) throw notFound('Cannot serve "logging/setLevel": no server logs');
  const sent = peers.map((peer) => passOn(context, peer, peers.length > 1));
  const taken = sent.map(async (answer) => {
    const line = await answer;
    if (resultOf(line) === undefined) throw new Error("it was refused");
  });
  try {
    await Promise.any(taken);
    return resultLine(request.id, {});
  } catch {
    const answers = await Promise.allSettled(sent);
    const refusal = answers.find((answer) => answer.status === "fulfilled");
    if (refusal !== undefined) return refusal.value;
    throw answers.find((answer) => answer.status === "rejected")?.reason;
  }
}

function notFound(message: string): RequestError {
  return new RequestError({ code: METHOD_NOT_FOUND, message });
}
