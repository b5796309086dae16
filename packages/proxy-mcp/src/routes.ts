/**
 * Routes: which server a resource belongs to, learnt from the lists that pass by. A URI goes to the
 * server that listed it first, or to the one whose template it fits and whose part of the URI space
 * it is in; to nobody else. Rules: spec/mcp-proxy.md §18.
 */
import { ROUTES_MAX } from "./limits.js";
import type { ServerFailure } from "./failure.js";
import { isRecord } from "./message.js";
import { isGone } from "./peer.js";
import { compileTemplate, spaceOf } from "./uri-template.js";
import type { UriSpace, UriTemplate } from "./uri-template.js";

/** What routes need to know of a server. */
export interface Owner {
  readonly name: string;
  readonly failure: ServerFailure | undefined;
}

/** Owners of what has no prefixed name. */
export interface Routes<T extends Owner> {
  /** Takes the `result` of a list. */
  learn(peer: T, result: unknown): void;
  /** Whose a URI, or a template as it was listed, is; or why it is nobody's. */
  ofUri(uri: string): { readonly owner: T } | { readonly why: string };
}

interface Template<T> {
  readonly owner: T;
  readonly template: UriTemplate;
}

const TEMPLATES_MAX = 10_000;
/** Schemes, and authorities of one; what more a server lists is found by its whole URI alone. */
const SPACES_MAX = 10_000;

/**
 * No routes yet.
 *
 * @param log - Called with one line for each server that lists what is another's, each URI once.
 */
export function createRoutes<T extends Owner>(log: (line: string) => void): Routes<T> {
  const uris = new Map<string, T>();
  const templates = new Map<string, Template<T>>();
  const spaces: SpaceOwners<T> = { wholes: new Map(), authorities: new Map() };
  const told = new Set<string>();
  const tell = (peer: T, uri: string, owner: T): void => {
    const key = `${peer.name} ${uri}`;
    if (owner === peer || told.has(key) || told.size >= ROUTES_MAX) return;
    told.add(key);
    log(
      `[${peer.name}] lists ${JSON.stringify(uri.slice(0, 500))}, which belongs to "${owner.name}"; it gets no requests for it`,
    );
  };
  const keepUri = (peer: T, uri: unknown): void => {
    if (typeof uri !== "string") return;
    const owner = living(uris.get(uri));
    if (owner !== undefined) return tell(peer, uri, owner);
    uris.set(uri, peer);
    claim(spaces, peer, spaceOf(uri));
    return dropOldest(uris, ROUTES_MAX);
  };
  const keepTemplate = (peer: T, text: unknown): void => {
    if (typeof text !== "string") return;
    const owner = living(templates.get(text)?.owner);
    if (owner !== undefined && owner !== peer) return tell(peer, text, owner);
    const template = compileTemplate(text);
    if (template === undefined) return;
    claim(spaces, peer, template.space);
    templates.set(text, { owner: peer, template });
    return dropOldest(templates, TEMPLATES_MAX);
  };
  return {
    learn(peer, result): void {
      if (!isRecord(result)) return;
      for (const item of itemsOf(result["resources"])) keepUri(peer, item["uri"]);
      for (const item of itemsOf(result["resourceTemplates"]))
        keepTemplate(peer, item["uriTemplate"]);
    },
    ofUri(uri) {
      const exact = living(uris.get(uri)) ?? living(templates.get(uri)?.owner);
      if (exact !== undefined) return { owner: exact };
      const fitting = [...templates.values()].find(
        ({ owner, template }) =>
          !isGone(owner) && template.matches(uri) && owns(spaces, owner, template.space),
      );
      if (fitting !== undefined) return { owner: fitting.owner };
      return {
        why: `no server lists ${JSON.stringify(uri.slice(0, 500))}, nor a template for it in a part of the URI space that is its own`,
      };
    },
  };
}

function* itemsOf(list: unknown): Generator<Readonly<Record<string, unknown>>> {
  if (Array.isArray(list))
    for (const item of list as readonly unknown[]) if (isRecord(item)) yield item;
}

function dropOldest(map: Map<string, unknown>, max: number): void {
  if (map.size <= max) return;
  for (const oldest of map.keys()) {
    map.delete(oldest);
    return;
  }
}

/** One that comes back stays the owner: nobody else may answer for it meanwhile. */
const living = <T extends Owner>(owner: T | undefined): T | undefined =>
  owner === undefined || isGone(owner) ? undefined : owner;

/** Who was first to list something of a space. */
interface SpaceOwners<T> {
  /** Schemes with all their authorities. */
  readonly wholes: Map<string, T>;
  /** Owners of the authorities of each scheme. */
  readonly authorities: Map<string, Map<string, T>>;
}

/** Whoever owns a whole scheme owns its authorities; whoever comes later owns nothing of either. */
function claim<T extends Owner>(
  { wholes, authorities }: SpaceOwners<T>,
  peer: T,
  space: UriSpace | undefined,
): void {
  if (space === undefined) return;
  const { scheme, authority } = space;
  const taken = authorities.get(scheme) ?? new Map<string, T>();
  if (authorities.size >= SPACES_MAX || taken.size >= SPACES_MAX) return;
  authorities.set(scheme, taken);
  const isFree = (owner: T | undefined): boolean =>
    living(owner) === undefined || living(owner) === peer;
  if (!isFree(wholes.get(scheme))) return;
  if (authority === undefined) {
    if ([...taken.values()].every(isFree)) wholes.set(scheme, peer);
  } else if (isFree(taken.get(authority))) taken.set(authority, peer);
}

/** Whether a space is a server's alone. */
function owns<T extends Owner>(
  { wholes, authorities }: SpaceOwners<T>,
  peer: T,
  { scheme, authority }: UriSpace,
): boolean {
  const owner =
    authority === undefined ? wholes.get(scheme) : authorities.get(scheme)?.get(authority);
  return owner === peer;
}
