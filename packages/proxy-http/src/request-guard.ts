/**
 * Request guard: what a parsed request is refused for, though the parser took it: everything that
 * another reader could take for something else. Pure. What Node's strict parser refuses (obs-fold,
 * controls in names and values, several lengths, a length beside a coding) is checked again where a
 * look at the parsed head can tell. Format: spec/http-proxy.md. Vectors: llhttp, smuggler.
 */
import { type Authority, type HttpAction, isConsentError, parseHttpUrl } from "@acp/core";
import type { ProxyLimits } from "./limits.js";
import { refused } from "./refusals.js";

/** The head of a message as the parser gives it. */
export interface MessageHead {
  readonly httpVersion: string;
  /** Names and values in turn. */
  readonly rawHeaders: readonly string[];
}

/** The head of a request as the parser gives it. */
export interface RequestLine extends MessageHead {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
}

/** How a message says where its body ends. */
export type Framing =
  | { readonly kind: "none" }
  | { readonly kind: "length"; readonly length: string }
  | { readonly kind: "chunked" };

/** A request that has one reading. */
export interface CheckedRequest {
  readonly method: string;
  /** Absolute URL; `host:port` for CONNECT. Not normalised yet. */
  readonly target: string;
  readonly framing: Framing;
  /** The value of `Host`; absent in HTTP/1.0 only. */
  readonly host: string | undefined;
  /** The protocol that the request wants to go over to. */
  readonly upgrade: string | undefined;
  readonly wantsTrailers: boolean;
}

const NONE: Framing = { kind: "none" };
const CHUNKED: Framing = { kind: "chunked" };
/** Controls have no place in a value; beyond ASCII it is bytes, which Node reads as latin1. */
const VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;
const TARGET = /^[\u0021-\u007e]+$/;
const LENGTH = /^\d{1,15}$/;
/** Names that some servers take for the headers that frame a message. */
const ALMOST_FRAMING = /^(?:transfer[^a-z-]?encoding|content[^a-z-]?length)$/i;
const PROTOCOL = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+(?:\/[!#$%&'*+\-.^_`|~0-9A-Za-z]+)?$/;
/** What `Connection` must not name: it would take away how the message is read. */
const NEVER_NAMED: ReadonlySet<string> = new Set(["host", "content-length", "transfer-encoding"]);

type Interesting =
  | "host"
  | "content-length"
  | "transfer-encoding"
  | "connection"
  | "upgrade"
  | "http2-settings"
  | "te"
  | "expect";
type Seen = Partial<Record<Interesting, string[]>>;

const INTERESTING: ReadonlySet<string> = new Set<Interesting>([
  "host",
  "content-length",
  "transfer-encoding",
  "connection",
  "upgrade",
  "http2-settings",
  "te",
  "expect",
]);
const isInteresting = (name: string): name is Interesting => INTERESTING.has(name);

/** The members of comma-separated lists, lower case. */
export function membersOf(values: readonly string[]): readonly string[] {
  return values.flatMap((value) => value.toLowerCase().split(",")).map((member) => member.trim());
}

function look(rawHeaders: readonly string[]): {
  readonly seen: Seen;
  readonly problem: string | undefined;
} {
  const seen: Seen = {};
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? "";
    const value = rawHeaders[index + 1] ?? "";
    if (!VALUE.test(value)) return { seen, problem: "a header has a control character" };
    const lower = name.toLowerCase();
    if (isInteresting(lower)) (seen[lower] ??= []).push(value);
    else if (ALMOST_FRAMING.test(name))
      return { seen, problem: "a header looks like one that says where the body ends" };
  }
  return { seen, problem: undefined };
}

/** How the body ends, or why that is not certain. */
function framingIn(seen: Seen, httpVersion: string): Framing | string {
  const { "content-length": lengths = [], "transfer-encoding": codings = [] } = seen;
  const [length, ...moreLengths] = lengths;
  const [coding, ...moreCodings] = codings;
  if (coding !== undefined) {
    if (length !== undefined) return "it has Content-Length and Transfer-Encoding";
    if (moreCodings.length > 0 || coding.toLowerCase() !== "chunked")
      return "its Transfer-Encoding is not exactly chunked";
    return httpVersion === "1.1" ? CHUNKED : "HTTP/1.0 has no Transfer-Encoding";
  }
  if (length === undefined) return NONE;
  if (moreLengths.length > 0 || !LENGTH.test(length)) return "its Content-Length is not one number";
  return { kind: "length", length };
}

/**
 * How the body of an answer ends, or why that is not certain; also why its head cannot be
 * forwarded.
 *
 * @returns A text where it cannot.
 */
export function checkAnswer(
  { httpVersion, rawHeaders }: MessageHead,
  { headersMax }: ProxyLimits,
): Framing | string {
  if (httpVersion !== "1.1" && httpVersion !== "1.0") return "it is neither HTTP/1.1 nor HTTP/1.0";
  if (rawHeaders.length > headersMax * 2) return `it has more than ${headersMax} headers`;
  const { seen, problem } = look(rawHeaders);
  return problem ?? framingIn(seen, httpVersion);
}

function refuse(why: string): never {
  throw refused("request_invalid", why);
}

function checkUpgrade({
  upgrade = [],
  connection = [],
  "http2-settings": settings = [],
}: Seen): string | undefined {
  const wanted = membersOf(upgrade);
  if (
    settings.length > 0 ||
    wanted.some((protocol) => protocol === "h2c" || protocol.startsWith("h2c/"))
  )
    refuse("HTTP/2 over plain HTTP is not forwarded");
  if (!membersOf(connection).includes("upgrade")) return undefined;
  const [protocol, ...more] = wanted;
  if (protocol === undefined) return undefined;
  return more.length === 0 && PROTOCOL.test(protocol)
    ? protocol
    : refuse("its Upgrade is not one protocol");
}

function checkTarget(method: string, target: string): void {
  if (method === "CONNECT") return;
  if (target.startsWith("/") || target === "*")
    refuse(
      "this is a proxy: the request line must hold a whole URL (http://host/path), as clients send that are told of a proxy",
    );
  const lower = target.slice(0, "https://".length).toLowerCase();
  if (lower === "https://") refuse("https goes through a tunnel: use CONNECT host:port");
  if (!lower.startsWith("http://")) refuse("its target is not an http:// URL");
  if (target.includes("#")) refuse("its target has a fragment");
}

/**
 * Checks a request head.
 *
 * @throws RefusedError `request_invalid`.
 */
export function checkRequest(
  { method = "", url = "", httpVersion, rawHeaders }: RequestLine,
  { headersMax }: ProxyLimits,
): CheckedRequest {
  if (httpVersion !== "1.1" && httpVersion !== "1.0") refuse("it is neither HTTP/1.1 nor HTTP/1.0");
  if (rawHeaders.length > headersMax * 2) refuse(`it has more than ${headersMax} headers`);
  if (!TARGET.test(url)) refuse("its target has a character that no URL has");
  checkTarget(method, url);
  const { seen, problem } = look(rawHeaders);
  if (problem !== undefined) refuse(problem);
  const framing = framingIn(seen, httpVersion);
  if (typeof framing === "string") refuse(framing);
  if (method === "CONNECT" && framing.kind !== "none") refuse("a CONNECT has no body");
  const { host: hosts = [], connection = [], expect = [], te = [] } = seen;
  if (hosts.length > 1) refuse("it has more than one Host");
  if (hosts.length === 0 && httpVersion === "1.1") refuse("it has no Host");
  if (membersOf(connection).some((name) => NEVER_NAMED.has(name)))
    refuse("its Connection names a header that says how to read it");
  if (expect.some((value) => value.toLowerCase() !== "100-continue"))
    refuse("its Expect is not 100-continue");
  const upgrade = checkUpgrade(seen);
  if (upgrade !== undefined && framing.kind !== "none")
    refuse("a request that switches to another protocol has no body");
  return {
    method,
    target: url,
    framing,
    host: hosts[0],
    upgrade,
    wantsTrailers: membersOf(te).includes("trailers"),
  };
}

/** A `Host` is read like the authority of a URL. */
function readHost(host: string): Authority {
  if (/[/?#]/.test(host)) refuse("its Host is not host[:port]");
  try {
    return parseHttpUrl(`http://${host}/`);
  } catch (error) {
    if (!isConsentError(error)) throw error;
    return refuse("its Host is not host[:port]");
  }
}

/**
 * Checks that `Host` and target name the same place. A CONNECT's Host may leave out the port.
 *
 * @throws RefusedError `request_invalid`.
 */
export function checkHost({ host, method }: CheckedRequest, { meta }: HttpAction): void {
  if (host === undefined) return;
  const isTunnel = method === "CONNECT";
  if (
    isTunnel
      ? host === `${meta.host}:${meta.port}`
      : meta.url?.startsWith(`http://${host}/`) === true
  )
    return;
  const named = readHost(host);
  const hasPort = /:\d+$/.test(host);
  if (named.host !== meta.host || (named.port !== meta.port && !(isTunnel && !hasPort)))
    refuse("its Host differs from its target");
}
