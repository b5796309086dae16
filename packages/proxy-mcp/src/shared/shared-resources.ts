/**
 * Shared resources: the subscriptions of several clients to one server, which knows of each resource
 * only that somebody wants news of it. Each client hears of what it subscribed to itself.
 */
import { SUBSCRIPTIONS_MAX } from "../limits.js";
import { INTERNAL_ERROR, INVALID_REQUEST } from "../rpc.js";
import type { RpcError } from "../rpc.js";

/** How the server answers. */
export type Outcome = { readonly error: RpcError } | { readonly ok: true };

/** What is asked of the server, and whose share of its places that takes. */
export interface ResourceAsk<C> {
  readonly uri: string;
  readonly isWanted: boolean;
  /** Who asks; of those that left, nobody may be there. */
  readonly client: C;
}

/** The subscriptions of clients `C`. */
export interface SharedResources<C> {
  /** Resolves with what the client is answered. Never rejects. */
  set(client: C, uri: string, isWanted: boolean): Promise<Outcome>;
  /** Whom news of a resource, or of what it is a part of, is for. */
  subscribers(uri: string): readonly C[];
  leave(client: C): void;
}

interface Resource<C> {
  readonly wanted: Set<C>;
  readonly waiting: ((outcome: Outcome) => void)[];
  /** Who wanted it, or wanted it no longer, last. */
  last: C;
  /** What the server was told last and took. */
  isOn: boolean;
  isAsking: boolean;
}

/**
 * @param ask - Tells the server; one request for a resource at a time. `left`: it was not told,
 *   because the client is gone.
 */
export function createSharedResources<C>(
  ask: (what: ResourceAsk<C>) => Promise<Outcome | "left">,
): SharedResources<C> {
  const resources = new Map<string, Resource<C>>();
  const counts = new Map<C, number>();
  const waits = createWaits<C>();
  const count = (client: C, by: number): void =>
    void counts.set(client, (counts.get(client) ?? 0) + by);
  const drop = (resource: Resource<C>, client: C): void => {
    if (resource.wanted.delete(client)) count(client, -1);
  };
  const settle = async (uri: string, resource: Resource<C>): Promise<void> => {
    await agree(resource, { ask: (isWanted, client) => ask({ uri, isWanted, client }), drop });
    if (resource.wanted.size === 0 && !resource.isAsking) resources.delete(uri);
  };
  return {
    set(client, uri, isWanted) {
      if (isWanted && (counts.get(client) ?? 0) >= SUBSCRIPTIONS_MAX)
        return Promise.resolve(refused(`it is subscribed to ${SUBSCRIPTIONS_MAX} resources`));
      const isOver = waits.begin(client);
      if (isOver === undefined) return Promise.resolve(refused(WAITS_TOO_MANY));
      const resource = resources.get(uri) ?? newResource(client);
      resources.set(uri, resource);
      resource.last = client;
      if (!isWanted) drop(resource, client);
      else if (!resource.wanted.has(client)) {
        resource.wanted.add(client);
        count(client, 1);
      }
      const outcome = new Promise<Outcome>((resolve) => {
        resource.waiting.push((told) => {
          isOver();
          resolve(told);
        });
      });
      void settle(uri, resource);
      return outcome;
    },
    subscribers(uri) {
      const found = new Set<C>();
      for (const [each, { wanted }] of resources)
        if (uri === each || uri.startsWith(each.endsWith("/") ? each : `${each}/`))
          for (const client of wanted) found.add(client);
      return [...found];
    },
    leave(client) {
      for (const [uri, resource] of resources) {
        if (!resource.wanted.has(client)) continue;
        drop(resource, client);
        resource.last = client;
        void settle(uri, resource);
      }
      counts.delete(client);
      waits.leave(client);
    },
  };
}

const newResource = <C>(last: C): Resource<C> => ({
  wanted: new Set(),
  waiting: [],
  last,
  isOn: false,
  isAsking: false,
});

const WAITS_TOO_MANY = `${SUBSCRIPTIONS_MAX} of its requests are not answered yet`;

interface Waits<C> {
  /** What tells that it is over; `undefined` where the client waits for too many. */
  begin(client: C): (() => void) | undefined;
  leave(client: C): void;
}

/** Requests of each client, also those that it takes back: the server still has to answer them. */
function createWaits<C>(): Waits<C> {
  const open = new Map<C, number>();
  return {
    begin(client) {
      const before = open.get(client) ?? 0;
      if (before >= SUBSCRIPTIONS_MAX) return undefined;
      open.set(client, before + 1);
      return () => {
        const left = open.get(client);
        if (left !== undefined) open.set(client, left - 1);
      };
    },
    leave: (client) => void open.delete(client),
  };
}

interface Agreeing<C> {
  ask(isWanted: boolean, client: C): Promise<Outcome | "left">;
  drop(resource: Resource<C>, client: C): void;
}

/** Tells the server what it was not told yet, one after another; then those who wait. */
async function agree<C>(resource: Resource<C>, { ask, drop }: Agreeing<C>): Promise<void> {
  if (resource.isAsking) return;
  resource.isAsking = true;
  while (resource.wanted.size > 0 !== resource.isOn) {
    const isWanted = !resource.isOn;
    const [wants] = resource.wanted;
    const outcome = await ask(isWanted, wants ?? resource.last);
    // Whoever else wants it asks next.
    if (outcome === "left") continue;
    if ("ok" in outcome || !isWanted) {
      resource.isOn = isWanted;
      continue;
    }
    for (const settle of resource.waiting.splice(0)) settle(outcome);
    // Whoever had it before the server refused it has it no longer.
    for (const client of resource.wanted) drop(resource, client);
  }
  resource.isAsking = false;
  for (const settle of resource.waiting.splice(0)) settle({ ok: true });
}

const refused = (why: string): Outcome => ({
  error: { code: INVALID_REQUEST, message: `Cannot subscribe: ${why}` },
});

/** What is answered where the server is gone. */
export const NO_SERVER: Outcome = {
  error: { code: INTERNAL_ERROR, message: "Cannot subscribe: the server is gone" },
};
