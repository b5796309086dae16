/**
 * Headers: which of one side's headers reach the other. Those of a single connection stay on it:
 * RFC 9110 §7.6.1, what `Connection` names, and everything that begins with `Proxy-`. Names and
 * values in turn, as they came. Pure.
 *
 * No `Via` is added, and none is removed: some servers answer worse where they see one (no
 * compression), and the loops that it is there to find cannot happen, because the proxy never dials
 * itself.
 */
import { type Framing, membersOf } from "./request-guard.js";

/** Of one connection, or written anew by whoever sends. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "host",
  "http2-settings",
  "keep-alive",
  "te",
  "transfer-encoding",
  "upgrade",
]);
/** Between a proxy and its neighbour; what is ours to say nobody else says in our place. */
const isProxys = (name: string): boolean => name.startsWith("proxy-");
/**
 * Too late in a trailer: how to read, route, authenticate, cache or understand the message (RFC
 * 9110 §6.5.1).
 */
const NEVER_TRAILING: ReadonlySet<string> = new Set([
  ...HOP_BY_HOP,
  "age",
  "authorization",
  "cache-control",
  "content-encoding",
  "content-range",
  "content-type",
  "cookie",
  "date",
  "expect",
  "expires",
  "location",
  "max-forwards",
  "pragma",
  "range",
  "retry-after",
  "set-cookie",
  "trailer",
  "vary",
  "www-authenticate",
]);
/** Methods for which no length means no body, to Node and to servers alike. */
const BODILESS: ReadonlySet<string> = new Set(["GET", "HEAD", "DELETE", "OPTIONS", "TRACE"]);
const PLAIN_CONNECTION: ReadonlySet<string> = new Set(["keep-alive", "close", ""]);
const NOTHING: ReadonlySet<string> = new Set();

function namedByConnection(rawHeaders: readonly string[]): ReadonlySet<string> {
  let named: Set<string> | undefined;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() !== "connection") continue;
    const value = rawHeaders[index + 1] ?? "";
    if (PLAIN_CONNECTION.has(value.toLowerCase())) continue;
    named ??= new Set();
    for (const name of membersOf([value])) named.add(name);
  }
  return named ?? NOTHING;
}

function keepOnly(rawHeaders: readonly string[], isKept: (name: string) => boolean): string[] {
  const kept: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? "";
    if (isKept(name.toLowerCase())) kept.push(name, rawHeaders[index + 1] ?? "");
  }
  return kept;
}

/**
 * The headers that are meant for the other end; of these, `Trailer` only where trailers can follow.
 *
 * @param dropped - Further names, lower case, that stay here.
 */
export function endToEnd(
  rawHeaders: readonly string[],
  framing: Framing,
  dropped: ReadonlySet<string> = NOTHING,
): string[] {
  const named = namedByConnection(rawHeaders);
  const isKept = (name: string): boolean =>
    !HOP_BY_HOP.has(name) &&
    !named.has(name) &&
    !dropped.has(name) &&
    !isProxys(name) &&
    (name !== "trailer" || framing.kind === "chunked");
  return keepOnly(rawHeaders, isKept);
}

/** What a request is sent with besides its end-to-end headers. */
export interface RequestTerms {
  readonly method: string;
  /** Host and port, as in the URL. */
  readonly host: string;
  readonly framing: Framing;
  readonly wantsTrailers: boolean;
  /** The protocol to go over to. */
  readonly upgrade: string | undefined;
  /** Whether the connection may serve another request. */
  readonly isKept: boolean;
}

/**
 * The headers of the request that is sent: our Host, our framing, and what was meant for the other
 * end.
 */
export function requestHeaders(
  kept: readonly string[],
  { method, host, framing, wantsTrailers, upgrade, isKept }: RequestTerms,
): string[] {
  const headers = ["Host", host, ...kept];
  if (framing.kind === "length") headers.push("Content-Length", framing.length);
  else if (framing.kind === "chunked") headers.push("Transfer-Encoding", "chunked");
  else if (!BODILESS.has(method)) headers.push("Content-Length", "0");
  if (upgrade !== undefined) headers.push("Connection", "Upgrade", "Upgrade", upgrade);
  else if (wantsTrailers)
    headers.push("Connection", isKept ? "keep-alive, TE" : "close, TE", "TE", "trailers");
  else headers.push("Connection", isKept ? "keep-alive" : "close");
  return headers;
}

/** The trailers that may be passed on, as pairs. */
export function trailersOf(rawTrailers: readonly string[]): [string, string][] {
  const kept = keepOnly(rawTrailers, (name) => !NEVER_TRAILING.has(name) && !isProxys(name));
  const pairs: [string, string][] = [];
  for (let index = 0; index + 1 < kept.length; index += 2)
    pairs.push([kept[index] ?? "", kept[index + 1] ?? ""]);
  return pairs;
}
