/**
 * Routes: which server a resource belongs to, learnt from the lists that pass by. A URI goes to the
 * server that listed it first, or to the one whose template it fits and whose part of the URI space
 * it is in; to nobody else. Rules: spec/mcp-proxy.md §18.
 */
import { handOver } from "./judged/subscriptions.js";
import { ROUTES_MAX } from "./limits.js";
import type { ServerFailure } from "./failure.js";
import { isRecord } from "./message.js";
import { isGone } from "./peer.js";
import { compileTemplate, spaceOf, URI_CHARS_MAX } from "./uri-template.js";
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
  /** What one server owns becomes another's, or nobody's. */
  hand(peer: T, to: T | undefined): void;
  /** Whose a URI, or a template as it was listed, is; or why it is nobody's. */
  ofUri(uri: string): { readonly owner: T } | { readonly why: string };
}

interface Template<T> {
  readonly owner: T;
  readonly template: UriTemplate;
}

/** What one server may have here: nobody's lists take from what another server owns. */
interface Share {
  uris: number;
  uriChars: number;
  templates: number;
  spaces: number;
  told: number;
}

const SHARE_MAX: Share = {
  uris: ROUTES_MAX,
  uriChars: 16 * 1024 * 1024,
  templates: 500,
  /** Schemes, and authorities of one; what more a server lists is found by its whole URI alone. */
  spaces: 1_000,
  told: 100,
};
/** Characters, times parts of templates, that one look may go through. */
const LOOK_WORK_MAX: number = 2 * 1024 * 1024;

/**
 * No routes yet.
 *
 * @param log - Called with one line for each server that lists what is another's, each URI once.
 * @param max - What one server may have.
 */
export function createRoutes<T extends Owner>(
  log: (line: string) => void,
  max: Readonly<Partial<Share>> = {},
): Routes<T> {
  const uris = new Map<string, T>();
  const templates = new Map<string, Template<T>>();
  const spaces: SpaceOwners<T> = { wholes: new Map(), authorities: new Map() };
  const told = new Set<string>();
  const shares = createShares<T>({ ...SHARE_MAX, ...max });
  const tell = (peer: T, uri: string, owner: T): void => {
    const key = `${peer.name} ${uri}`;
    if (owner === peer || told.has(key) || !shares.take(peer, "told")) return;
    told.add(key);
    log(
      `[${peer.name}] lists ${JSON.stringify(uri.slice(0, 500))}, which belongs to "${owner.name}"; it gets no requests for it`,
    );
  };
  const claimOf = (peer: T, space: UriSpace | undefined): void => {
    if (space === undefined) return;
    claim(spaces, { ...space, peer, take: () => shares.take(peer, "spaces") });
  };
  const keepUri = (peer: T, uri: unknown): void => {
    if (typeof uri !== "string" || uri.length > URI_CHARS_MAX) return;
    const owner = living(uris.get(uri));
    if (owner !== undefined) return tell(peer, uri, owner);
    if (!shares.take(peer, "uriChars", uri.length) || !shares.take(peer, "uris")) return;
    uris.set(uri, peer);
    return claimOf(peer, spaceOf(uri));
  };
  const keepTemplate = (peer: T, text: unknown): void => {
    if (typeof text !== "string" || text.length > URI_CHARS_MAX) return;
    const known = templates.get(text);
    const owner = living(known?.owner);
    if (owner !== undefined && owner !== peer) return tell(peer, text, owner);
    if (owner === peer) return claimOf(peer, known?.template.space);
    const template = compileTemplate(text);
    if (template === undefined || !shares.take(peer, "templates")) return;
    claimOf(peer, template.space);
    templates.set(text, { owner: peer, template });
  };
  return {
    learn(peer, result): void {
      if (!isRecord(result)) return;
      for (const item of itemsOf(result["resources"])) keepUri(peer, item["uri"]);
      for (const item of itemsOf(result["resourceTemplates"]))
        keepTemplate(peer, item["uriTemplate"]);
    },
    hand: (peer, to) => handAll({ uris, templates, spaces, shares }, peer, to),
    ofUri(uri) {
      const owner =
        living(uris.get(uri)) ??
        living(templates.get(uri)?.owner) ??
        fitting({ templates, spaces }, uri);
      if (owner !== undefined) return { owner };
      return {
        why: `no server lists ${JSON.stringify(uri.slice(0, 500))}, nor a template for it in a part of the URI space that is its own`,
      };
    },
  };
}

interface Owned<T> {
  readonly uris: Map<string, T>;
  readonly templates: Map<string, Template<T>>;
  readonly spaces: SpaceOwners<T>;
  readonly shares: Shares<T>;
}

function handAll<T>(
  { uris, templates, spaces, shares }: Owned<T>,
  peer: T,
  to: T | undefined,
): void {
  handOver(uris, peer, to);
  for (const [text, { owner, template }] of templates) {
    if (owner !== peer) continue;
    if (to === undefined) templates.delete(text);
    else templates.set(text, { owner: to, template });
  }
  handOver(spaces.wholes, peer, to);
  for (const { owners, all } of spaces.authorities.values()) {
    handOver(owners, peer, to);
    if (all.delete(peer) && to !== undefined) all.add(to);
  }
  shares.hand(peer, to);
}

/** Only templates of whoever owns this part of the space are looked at, and only so many. */
function fitting<T extends Owner>(
  { templates, spaces }: { templates: ReadonlyMap<string, Template<T>>; spaces: SpaceOwners<T> },
  uri: string,
): T | undefined {
  const at = spaceOf(uri);
  if (at === undefined) return undefined;
  let work = 0;
  for (const { owner, template } of templates.values()) {
    const { space, parts } = template;
    if (space.scheme !== at.scheme || (space.authority ?? at.authority) !== at.authority) continue;
    if (isGone(owner) || !owns(spaces, owner, space)) continue;
    work += parts * uri.length;
    if (work > LOOK_WORK_MAX) return undefined;
    if (template.matches(uri)) return owner;
  }
  return undefined;
}

interface Shares<T> {
  /** Whether there is room for so much more; takes it. */
  take(peer: T, what: keyof Share, count?: number): boolean;
  hand(peer: T, to: T | undefined): void;
}

function createShares<T extends Owner>(max: Share): Shares<T> {
  const shares = new Map<T, Share>();
  return {
    take(peer, what, count = 1): boolean {
      const share = shares.get(peer) ?? { uris: 0, uriChars: 0, templates: 0, spaces: 0, told: 0 };
      shares.set(peer, share);
      if (share[what] + count > max[what]) return false;
      share[what] += count;
      return true;
    },
    hand(peer, to): void {
      const share = shares.get(peer);
      shares.delete(peer);
      if (share !== undefined && to !== undefined) shares.set(to, share);
    },
  };
}

function* itemsOf(list: unknown): Generator<Readonly<Record<string, unknown>>> {
  if (Array.isArray(list))
    for (const item of list as readonly unknown[]) if (isRecord(item)) yield item;
}

/** One that comes back stays the owner: nobody else may answer for it meanwhile. */
const living = <T extends Owner>(owner: T | undefined): T | undefined =>
  owner === undefined || isGone(owner) ? undefined : owner;

/** Who was first to list something of a space. */
interface SpaceOwners<T> {
  /** Schemes with all their authorities. */
  readonly wholes: Map<string, T>;
  readonly authorities: Map<string, Authorities<T>>;
}

/** Of one scheme. */
interface Authorities<T> {
  readonly owners: Map<string, T>;
  /** Each of them once: there are as few as servers. */
  readonly all: Set<T>;
}

interface Claim<T> extends UriSpace {
  readonly peer: T;
  /** Whether there is room for it. */
  readonly take: () => boolean;
}

/** Whoever owns a whole scheme owns its authorities; whoever comes later owns nothing of either. */
function claim<T extends Owner>(
  { wholes, authorities }: SpaceOwners<T>,
  { peer, scheme, authority, take }: Claim<T>,
): void {
  const isFree = (owner: T | undefined): boolean =>
    living(owner) === undefined || living(owner) === peer;
  const taken = authorities.get(scheme);
  if (!isFree(wholes.get(scheme))) return;
  if (authority === undefined) {
    if (wholes.get(scheme) === peer || ![...(taken?.all ?? [])].every(isFree)) return;
    if (take()) wholes.set(scheme, peer);
  } else if (taken?.owners.get(authority) !== peer && isFree(taken?.owners.get(authority))) {
    if (!take()) return;
    const known = taken ?? { owners: new Map<string, T>(), all: new Set<T>() };
    authorities.set(scheme, known);
    known.owners.set(authority, peer);
    known.all.add(peer);
  }
}

/** Whether a space is a server's alone. */
function owns<T extends Owner>(
  { wholes, authorities }: SpaceOwners<T>,
  peer: T,
  { scheme, authority }: UriSpace,
): boolean {
  const owner =
    authority === undefined ? wholes.get(scheme) : authorities.get(scheme)?.owners.get(authority);
  return owner === peer;
}
