/**
 * Offers: what a yes may also cover. Made from the action at hand, merged so that no question
 * offers more than every ask behind it.
 */
import { type Action, isHttpAction, isShellAction, isToolAction } from "../action/action.js";
import { actionDigest } from "../action/digest.js";
import { HOST_CHARS_MAX } from "../limits.js";
import { ANY_METHOD, compareScopes, scopeIncludes } from "./grants.js";
import type { GrantOffer, GrantScope, HostScope } from "../types/scope.js";

/** The scope of exactly this action. */
export function callScope(action: Action): GrantScope {
  const digest = actionDigest(action);
  return isShellAction(action)
    ? { kind: "shell", command: action.args, digest }
    : { kind: "action", digest };
}

/**
 * The scope of every call of this action's tool; `undefined` for an action that is not a tool call.
 */
export function toolScope(action: Action): GrantScope | undefined {
  return isToolAction(action)
    ? { kind: "tool", server: action.meta.server, name: action.name }
    : undefined;
}

const NAME_WITH_DOT = /^(?:[a-z0-9_-]+\.)+[a-z0-9-]*[a-z][a-z0-9-]*$/;

/**
 * The host with `www.` in front, or without it; `undefined` for an address or a name without a dot.
 */
function twinOf(host: string): string | undefined {
  const twin = host.startsWith("www.") ? host.slice("www.".length) : `www.${host}`;
  return NAME_WITH_DOT.test(host) && NAME_WITH_DOT.test(twin) && twin.length <= HOST_CHARS_MAX
    ? twin
    : undefined;
}

/** Methods that a yes to one of them covers together. */
const READS: readonly string[] = ["GET", "HEAD"];

/**
 * The scope of this action's host, port and method; GET and HEAD go together. `undefined` for an
 * action that is not HTTP, and for a method `*`.
 */
export function hostScope(action: Action): HostScope | undefined {
  if (!isHttpAction(action)) return undefined;
  const { host, port, method } = action.meta;
  // "*" is a method that a request may have, and would read as every method.
  if (method === ANY_METHOD) return undefined;
  return { kind: "host", host, port, methods: READS.includes(method) ? READS : [method] };
}

/**
 * The scope of every request to this action's host and port, `CONNECT` too, and to its twin with or
 * without `www.` (ACP v0.3 §5.5); `undefined` for an action that is not HTTP.
 */
export function siteScope(action: Action): HostScope | undefined {
  if (!isHttpAction(action)) return undefined;
  const { host, port } = action.meta;
  const twin = twinOf(host);
  return {
    kind: "host",
    host,
    port,
    methods: [ANY_METHOD],
    ...(twin === undefined ? {} : { twin }),
  };
}

/**
 * How much of a host the approval of one request may also cover: its method (`host`), or every
 * method and the `www.` twin (`site`).
 */
export type HostCover = "host" | "site";

const HOST_SCOPES: Readonly<Record<HostCover, (action: Action) => HostScope | undefined>> = {
  host: hostScope,
  site: siteScope,
};

/**
 * Makes an offer of the request's host, for a gate's `defaultOffers`. Offers nothing for an action
 * that is not HTTP, or with a time of 0.
 *
 * @param ttlMs - How long such a grant lives, in milliseconds; at most a day.
 * @param covers - `host` unless given: the request's method, or GET and HEAD together, to its host
 *   and port. `site`: every method, `CONNECT` too, and the `www.` twin (ACP v0.3 §5.5).
 */
export function offerHost(
  ttlMs: number,
  covers: HostCover = "host",
): (action: Action) => readonly GrantOffer[] {
  return (action) => {
    const scope = ttlMs > 0 ? HOST_SCOPES[covers](action) : undefined;
    return scope === undefined ? [] : [{ id: covers, scope, ttlMs }];
  };
}

type Bounds = Pick<GrantOffer, "ttlMs" | "uses">;

function tighter(a: Bounds, b: Bounds): Bounds {
  const uses = a.uses === undefined ? b.uses : Math.min(a.uses, b.uses ?? a.uses);
  return { ttlMs: Math.min(a.ttlMs, b.ttlMs), ...(uses === undefined ? {} : { uses }) };
}

const isSame = (a: GrantScope, b: GrantScope): boolean =>
  scopeIncludes(a, b) && scopeIncludes(b, a);

/** What one ask lets a scope have: its own word about it, or that about what includes it. */
function boundsIn(offers: readonly GrantOffer[], scope: GrantScope): Bounds | undefined {
  const own = offers.filter((offer) => isSame(offer.scope, scope));
  const [first, ...more] =
    own.length > 0 ? own : offers.filter((offer) => scopeIncludes(offer.scope, scope));
  return first === undefined ? undefined : more.reduce<Bounds>(tighter, first);
}

/**
 * The one of several offers of a scope whose spelling and id stand for it: the same one, in
 * whatever order they come.
 */
function standIn(
  offers: readonly GrantOffer[],
  scope: GrantScope,
): Pick<GrantOffer, "id" | "scope"> | undefined {
  const own = offers.filter((offer) => isSame(offer.scope, scope));
  const [spelling] = own.map((offer) => offer.scope).toSorted(compareScopes);
  const [id] = own.map((offer) => offer.id).toSorted();
  return id === undefined || spelling === undefined ? undefined : { id, scope: spelling };
}

function withOwnIds(offers: readonly GrantOffer[]): readonly GrantOffer[] {
  const taken = new Set<string>();
  return offers.map((offer) => {
    let { id } = offer;
    for (let number = 2; taken.has(id); number++) id = `${offer.id}-${number}`;
    taken.add(id);
    return id === offer.id ? offer : { ...offer, id };
  });
}

/**
 * What every ask offers: a scope that each of them offers, itself or as part of a wider one, for
 * the shortest time and the fewest uses that any of them says. Narrowest first. All scopes cover
 * the action at hand.
 */
export function mergeOffers(lists: readonly (readonly GrantOffer[])[]): readonly GrantOffer[] {
  const all = lists.flat();
  const merged = new Map<GrantScope, GrantOffer>();
  for (const { scope } of all) {
    const bounds = lists.map((list) => boundsIn(list, scope));
    const sure = bounds.filter((each) => each !== undefined);
    const [first, ...more] = sure;
    if (first === undefined || sure.length < lists.length) continue;
    const { ttlMs, uses } = more.reduce(tighter, first);
    const known = [...merged.keys()].some((other) => isSame(other, scope));
    const name = standIn(all, scope);
    if (!known && name !== undefined)
      merged.set(scope, { ...name, ttlMs, ...(uses === undefined ? {} : { uses }) });
  }
  return withOwnIds([...merged.values()].toSorted((a, b) => compareScopes(a.scope, b.scope)));
}
