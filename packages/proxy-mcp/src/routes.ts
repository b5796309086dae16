/**
 * Routes: which server a resource, template or task belongs to, learnt from the lists and answers
 * that pass by.
 */
import { ROUTES_MAX } from "./limits.js";
import { isRecord } from "./message.js";
import { isGone } from "./peer.js";
import type { Peer } from "./peer.js";

/** Owners of what has no prefixed name. The first server that lists a URI owns it. */
export interface Routes {
  /** Takes the `result` of a list. */
  learn(peer: Peer, result: unknown): void;
  learnUri(peer: Peer, uri: string): void;
  learnTask(peer: Peer, taskId: string): void;
  ofUri(uri: string): Peer | undefined;
  ofTask(taskId: string): Peer | undefined;
}

/** No routes yet. */
export function createRoutes(): Routes {
  const uris = new Map<string, Peer>();
  const tasks = new Map<string, Peer>();
  /** Templates by the text before their first variable. */
  const prefixes = new Map<string, Peer>();

  const keep = (map: Map<string, Peer>, key: unknown, peer: Peer): void => {
    const owner = typeof key === "string" ? map.get(key) : undefined;
    if (typeof key !== "string" || (owner !== undefined && !isGone(owner))) return;
    map.set(key, peer);
    if (map.size <= ROUTES_MAX) return;
    for (const oldest of map.keys()) {
      map.delete(oldest);
      return;
    }
  };
  const each = (list: unknown, take: (item: Readonly<Record<string, unknown>>) => void): void => {
    if (Array.isArray(list))
      for (const item of list as readonly unknown[]) if (isRecord(item)) take(item);
  };
  return {
    learn(peer, result): void {
      if (!isRecord(result)) return;
      each(result.resources, ({ uri }) => keep(uris, uri, peer));
      each(result.tasks, ({ taskId }) => keep(tasks, taskId, peer));
      each(result.resourceTemplates, ({ uriTemplate }) => {
        keep(uris, uriTemplate, peer);
        if (typeof uriTemplate === "string") keep(prefixes, uriTemplate.split("{", 1)[0], peer);
      });
    },
    learnUri: (peer, uri) => keep(uris, uri, peer),
    learnTask: (peer, taskId) => keep(tasks, taskId, peer),
    ofUri(uri): Peer | undefined {
      const exact = uris.get(uri);
      if (exact !== undefined) return exact;
      const fitting = [...prefixes].filter(([prefix]) => prefix !== "" && uri.startsWith(prefix));
      return fitting.sort(([one], [other]) => other.length - one.length)[0]?.[1];
    },
    ofTask: (taskId) => tasks.get(taskId),
  };
}
