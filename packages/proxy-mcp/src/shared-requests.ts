/**
 * Requests of the client to several servers that are not judged: each goes to the one that owns what
 * it names, or to all of them.
 */
import { RequestError } from "./failure.js";
import { replaceValues } from "./json-walk.js";
import type { Replacement } from "./json-walk.js";
import { askFor } from "./many-state.js";
import type { ManyState, OpenRequest } from "./many-state.js";
import { freeAnswer, ownerOfTask } from "./judged/free-requests.js";
import { mergePages, nextCursor, readCursor } from "./merge.js";
import type { ListKind } from "./merge.js";
import { isRecord, progressTokenOf, resultOf } from "./message.js";
import type { ClientRequest } from "./message.js";
import { heldBackError } from "./pins/held-back.js";
import { hasCapability } from "./peer.js";
import type { Peer } from "./peer.js";
import { INVALID_PARAMS, METHOD_NOT_FOUND, requestLine, resultLine } from "./rpc.js";

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

/** Passes the request on to one server; its answer comes back under the client's id, and judged. */
async function passOn(
  { state, request, params, open }: Context,
  peer: Peer,
  replacements: readonly Replacement[] = [],
): Promise<Buffer> {
  const token = progressTokenOf(params);
  peer.keep(request);
  const sent = askFor(open, peer, {
    build: (id) =>
      replaceValues(request.line, [
        ...replacements,
        { path: ["id"], value: id },
        { path: ["params", "_meta", "progressToken"], value: id },
      ]),
    ...(token === undefined ? {} : { token: { token, lasting: false } }),
  });
  const answer = replaceValues(await sent.answer, [{ path: ["id"], value: request.id }]);
  return readable({ state, request, params, open }, peer, answer);
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
      const answer = await page(context, peer, cursors?.get(peer.name));
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
  cursor: string | undefined,
): Promise<{ peer: Peer; server: string; line: Buffer; result: unknown }> {
  const { request, params, open } = context;
  const { cursor: _, _meta: meta, ...rest } = params;
  const { progressToken: __, ...kept } = isRecord(meta) ? meta : {};
  const asked = {
    ...rest,
    ...(cursor === undefined ? {} : { cursor }),
    ...(isRecord(meta) ? { _meta: kept } : {}),
  };
  const answer = await askFor(open, peer, {
    build: (id) => requestLine(id, request.method, asked),
  }).answer;
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
  // One that is late hears of it then.
  for (const peer of state.peers) peer.keep(request);
  const peers = state.peers.filter((peer) => hasCapability(peer, "logging"));
  if (peers.length === 0 && state.isOpenEnded) return resultLine(request.id, {});
  if (peers.length === 0) throw notFound('Cannot serve "logging/setLevel": no server logs');
  const answers = await Promise.allSettled(peers.map((peer) => passOn(context, peer)));
  const lines = answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
  const [refusal] = lines;
  if (lines.some((line) => resultOf(line) !== undefined)) return resultLine(request.id, {});
  if (refusal !== undefined) return refusal;
  throw answers.find((answer) => answer.status === "rejected")?.reason;
}

function notFound(message: string): RequestError {
  return new RequestError({ code: METHOD_NOT_FOUND, message });
}
