/**
 * Owners: which of several servers a judged request goes to. There is exactly one, or a refusal:
 * servers are never tried one after another. Rules: spec/mcp-proxy.md §18.
 */
import { isReservedName } from "@acp/core";
import type { JsonObject } from "@acp/core";
import type { SubscriptionPlace } from "./judged/subscriptions.js";
import { LIST_PAGES_MAX, LIST_TIMEOUT_MS } from "./limits.js";
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
/** Bytes of one server's own lists. */
const LISTS_BYTES_MAX: number = 16 * 1024 * 1024;

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
  const { peers, routes, listed } = state;
  const able = peers.filter((peer) => hasCapability(peer, "resources"));
  const fresh = able.filter((peer) => !listed.has(peer));
  const lists = fresh.map(async (peer) => ({ peer, results: await listsOf(state, peer) }));
  const done = Promise.all(lists).then((all) => {
    for (const { peer, results } of all) for (const result of results) routes.learn(peer, result);
  });
  for (const peer of fresh) listed.set(peer, done);
  await Promise.all(able.flatMap((peer) => listed.get(peer) ?? []));
}

/** The results of all pages of a server's lists. */
async function listsOf({ parts }: ManyState, peer: Peer): Promise<readonly unknown[]> {
  const results: unknown[] = [];
  let bytes = 0;
  for (const method of ["resources/list", "resources/templates/list"]) {
    let cursor: string | undefined;
    for (let page = 0; page < LIST_PAGES_MAX; page++) {
      const asked = cursor === undefined ? {} : { cursor };
      const { id, answer } = peer.ask((own) => requestLine(own, method, asked));
      const line = await answerWithin(parts, answer, LIST_TIMEOUT_MS)
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
