/**
 * Owners: which of several servers a judged request goes to. There is exactly one, or a refusal:
 * servers are never tried one after another. Rules: spec/mcp-proxy.md §18.
 */
import { isReservedName } from "@acp/core";
import type { JsonObject } from "@acp/core";
import type { SubscriptionPlace } from "./judged/subscriptions.js";
import { LISTS_BYTES_MAX, LIST_PAGES_MAX, LIST_TIMEOUT_MS } from "./limits.js";
import type { ManyState } from "./many-state.js";
import { SEPARATOR, splitName } from "./merge.js";
import { isRecord, paramsOf, resultOf } from "./message.js";
import type { ClientRequest } from "./message.js";
import { answerWithin, hasCapability } from "./peer.js";
import type { Peer } from "./peer.js";
import { replaceValues } from "./json-walk.js";
import { INVALID_PARAMS, METHOD_NOT_FOUND, requestLine } from "./rpc.js";
import type { RpcError } from "./rpc.js";

/** Where a request goes, or why nowhere. */
export type Target =
  | {
      readonly peer: Peer;
      /** The name as its server knows it, where it stands in `path`. */
      readonly own?: string;
      readonly path?: readonly string[];
    }
  | { readonly error: RpcError };

const PROMPT_PATH: readonly string[] = ["params", "name"];
const REF_PATH: readonly string[] = ["params", "ref", "name"];
/** MCP's own code for a resource that is not there. */
const RESOURCE_NOT_FOUND = -32_002;
/** All lists of one server are there by then, or not looked at. */
const LISTS_MS = 10_000;
/** Lists that took longer than this make a client wait so seldom. */
const LISTS_QUICK_MS = 1_000;
const LISTS_AGAIN_MS = 60_000;

const refuse = (code: number, message: string): Target => ({ error: { code, message } });

/** The server of a tool. */
export function ownerOfTool({ peers }: ManyState, { params }: ClientRequest): Target {
  const name = isRecord(params) ? params["name"] : undefined;
  const split = typeof name === "string" ? splitName(name) : undefined;
  const peer = peers.find((each) => each.name === split?.server);
  if (split !== undefined && isReservedName(split.own))
    return refuse(
      INVALID_PARAMS,
      `Cannot call ${JSON.stringify(split.own)}: names that begin with "mcp:" are reserved`,
    );
  return split === undefined || peer === undefined
    ? refuse(
        INVALID_PARAMS,
        `Cannot call the tool ${JSON.stringify(name)}: no server has it; tools are called server${SEPARATOR}tool`,
      )
    : { peer, own: split.own };
}

/** The server of any other request that is judged. */
export async function ownerOfRequest(state: ManyState, request: ClientRequest): Promise<Target> {
  const { method } = request;
  const params = isRecord(request.params) ? request.params : {};
  switch (method) {
    case "prompts/get":
      return byName(state, params["name"], PROMPT_PATH);
    case "completion/complete": {
      const { ref } = params;
      return isRecord(ref) && ref["type"] === "ref/prompt"
        ? byName(state, ref["name"], REF_PATH)
        : byUri(state, isRecord(ref) ? ref["uri"] : undefined);
    }
    case "resources/read":
    case "resources/subscribe":
      return byUri(state, params["uri"]);
    default:
      return refuse(
        METHOD_NOT_FOUND,
        `Cannot serve ${JSON.stringify(method)}: with several servers the proxy does not know whose it is`,
      );
  }
}

/** The request as its server knows it: without the prefix of a prompt's name. */
export function ownRequest(request: ClientRequest, target: Target): ClientRequest {
  if ("error" in target || target.path === undefined) return request;
  const line = replaceValues(request.line, [{ path: target.path, value: target.own }]);
  return { ...request, line, params: paramsOf(line) };
}

function byName({ peers }: ManyState, name: unknown, path: readonly string[]): Target {
  const split = typeof name === "string" ? splitName(name) : undefined;
  const peer = peers.find((each) => each.name === split?.server);
  return split === undefined || peer === undefined
    ? refuse(
        INVALID_PARAMS,
        `Cannot find ${JSON.stringify(name)}: prompts are called server${SEPARATOR}prompt`,
      )
    : { peer, own: split.own, path };
}

async function byUri(state: ManyState, uri: unknown): Promise<Target> {
  if (typeof uri !== "string")
    return refuse(INVALID_PARAMS, "Cannot find a resource: the request names no URI");
  const known = state.routes.ofUri(uri);
  if ("owner" in known) return { peer: known.owner };
  await listAll(state);
  const found = state.routes.ofUri(uri);
  if ("owner" in found) return { peer: found.owner };
  return refuse(RESOURCE_NOT_FOUND, `Cannot find the resource: ${found.why}`);
}

/**
 * Asks each server once what it has, unless the client did and all was known. All lists are there
 * before any is learnt: whose a URI is follows from the configuration, not from who is faster.
 */
async function listAll(state: ManyState): Promise<void> {
  const { peers, routes, listed, parts } = state;
  const { clock } = parts;
  const able = peers.filter((peer) => hasCapability(peer, "resources"));
  const beganMs = clock.monotonic();
  const fresh = able.filter((peer) => {
    const last = listed.get(peer);
    return last === undefined || (last.isStale && beganMs >= last.againAtMs);
  });
  const lists = fresh.map(async (peer) => {
    const results = await listsOf(state, peer);
    const nowMs = clock.monotonic();
    const last = listed.get(peer);
    if (last?.done === done)
      last.againAtMs = nowMs - beganMs > LISTS_QUICK_MS ? nowMs + LISTS_AGAIN_MS : nowMs;
    return { peer, results };
  });
  const done = Promise.all(lists).then((all) => {
    for (const { peer, results } of all) for (const result of results) routes.learn(peer, result);
  });
  for (const peer of fresh) listed.set(peer, { done, isStale: false, againAtMs: Infinity });
  await Promise.all(able.flatMap((peer) => listed.get(peer)?.done ?? []));
}

/** A server says that its lists changed. */
export function listsChanged({ listed }: ManyState, peer: Peer): void {
  const last = listed.get(peer);
  if (last !== undefined) last.isStale = true;
}

/** The results of all pages of a server's lists. */
async function listsOf({ parts }: ManyState, peer: Peer): Promise<readonly unknown[]> {
  const results: unknown[] = [];
  let bytes = 0;
  const untilMs = parts.clock.monotonic() + LISTS_MS;
  for (const method of ["resources/list", "resources/templates/list"]) {
    let cursor: string | undefined;
    for (let page = 0; page < LIST_PAGES_MAX; page++) {
      const leftMs = Math.min(LIST_TIMEOUT_MS, untilMs - parts.clock.monotonic());
      if (leftMs <= 0) return results;
      const asked = cursor === undefined ? {} : { cursor };
      const { id, answer } = peer.ask((own) => requestLine(own, method, asked));
      const line = await answerWithin(parts, answer, leftMs)
        .then((found) => (found === undefined ? found : peer.presented.take(method, found)))
        .catch(() => undefined);
      peer.abandon(id);
      const result = line === undefined ? undefined : resultOf(line);
      bytes += line?.length ?? 0;
      // What waits for the lists of others takes only so much memory.
      if (bytes > LISTS_BYTES_MAX) return results;
      results.push(result);
      if (!isRecord(result) || typeof result["nextCursor"] !== "string") break;
      cursor = result["nextCursor"];
    }
  }
  return results;
}

/** Why arguments that a person changed do not go to the server that the call was for. */
export function changedOwner(
  { routes }: ManyState,
  {
    method,
    peer,
    changed,
  }: {
    readonly method: string;
    readonly peer: Peer;
    readonly changed: JsonObject | undefined;
  },
): RpcError | undefined {
  if (changed === undefined || method === "tools/call") return undefined;
  const { uri } = changed;
  if (typeof uri !== "string") return undefined;
  const found = routes.ofUri(uri);
  return "owner" in found && found.owner === peer
    ? undefined
    : {
        code: INVALID_PARAMS,
        message: `Cannot pass on "${method}": the changed URI is not one of server "${peer.name}"`,
      };
}

/** A subscription's place, where the request is for one and has a server. */
export function placeOf(
  { subscriptions }: ManyState,
  { method, params }: ClientRequest,
  target: Target,
): SubscriptionPlace | undefined {
  return method === "resources/subscribe" && isRecord(params) && "peer" in target
    ? subscriptions.enter(params["uri"], target.peer)
    : undefined;
}
