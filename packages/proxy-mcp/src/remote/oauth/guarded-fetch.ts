/**
 * Guarded fetch: requests to addresses that a server names, which may want us to reach something
 * else. Https alone, or http on this machine for a server on this machine; no address that the
 * server itself is not at, but public ones; no redirect; little, and not for long. Sources: RFC 9728
 * §7.7, RFC 8414 §6.
 */
import { lookup } from "node:dns/promises";
import type { LookupAddress } from "node:dns";
import { request as requestHttp } from "node:http";
import type { IncomingMessage } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP } from "node:net";
import type { LookupFunction } from "node:net";
import { addressKind, asError, ConsentError, escapeText, isConsentError } from "@acp/core";
import type { AddressKind } from "@acp/core";
import { contentType, wholeBody } from "../exchange.js";
import { orEnd } from "../or-end.js";

/** The bytes of one answer: a description or a token takes some thousands. */
const BODY_BYTES_MAX: number = 128 * 1024;
/** One request, from the name's resolution to the last byte. */
const REQUEST_MS_MAX = 15_000;
const NULL_BODIES: readonly number[] = [204, 205, 304];

/** Finds the addresses of a name. */
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

/** What `oauth4webapi` asks of a fetch. */
export type GuardedFetch = (
  url: string,
  init: {
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly body?: URLSearchParams | string | undefined;
  },
) => Promise<Response>;

/** Where requests may go that a server asks for. */
export interface Guard {
  readonly fetch: GuardedFetch;
  /** Whether http is allowed: the server is on this machine, and is spoken to so itself. */
  readonly isInsecureAllowed: boolean;
  /**
   * Checks an address that somebody else is to open.
   *
   * @throws ConsentError `authorization_refused`.
   */
  check(url: URL): Promise<void>;
}

/** What a guard is made with. */
export interface GuardOptions {
  /** Ends what is under way. */
  readonly signal: AbortSignal;
  /** Finds the addresses of a name. Default: the system's resolver. */
  readonly resolve?: Resolve | undefined;
  /** The longest that one request may take, in milliseconds. Default: 15,000. */
  readonly requestMsMax?: number | undefined;
}

const systemResolve: Resolve = (host) => lookup(host, { all: true, verbatim: true });

/**
 * The guard of what one server asks for.
 *
 * @param server - Its address, which a person wrote.
 * @throws ConsentError `authorization_unavailable` where its name has no address.
 */
export async function guardOf(server: URL, options: GuardOptions): Promise<Guard> {
  const { signal, resolve = systemResolve, requestMsMax = REQUEST_MS_MAX } = options;
  const own = await addressesOf(server, resolve);
  const kinds = new Set<AddressKind>(["public", ...own.map(({ address }) => addressKind(address))]);
  kinds.delete("refused");
  const isInsecureAllowed = server.protocol === "http:" && kinds.has("loopback");
  const admit = async (url: URL): Promise<readonly LookupAddress[]> => {
    checkScheme(url, isInsecureAllowed);
    const addresses = await addressesOf(url, resolve);
    // One bad address among good ones is how rebinding starts: the whole answer is refused.
    for (const { address } of addresses) {
      const kind = addressKind(address);
      const isPlain = url.protocol === "http:";
      if (!kinds.has(kind) || (isPlain && kind !== "loopback"))
        throw refused(url, `it has an address that is ${kind === "refused" ? "reserved" : kind}`);
    }
    return addresses;
  };
  return {
    isInsecureAllowed,
    check: async (url) => void (await admit(url)),
    async fetch(address, init) {
      const url = new URL(address);
      const timeout = AbortSignal.timeout(requestMsMax);
      const ends = AbortSignal.any([signal, timeout]);
      try {
        const addresses = await orEnd(admit(url), ends);
        return await send(url, init, { addresses, signal: ends });
      } catch (error) {
        if (isConsentError(error)) throw error;
        if (signal.aborted) throw new ConsentError("aborted", "The sign-in was stopped");
        const why = timeout.aborted
          ? `it did not answer within ${requestMsMax / 1_000} s`
          : escapeText(asError(error).message);
        throw new ConsentError(
          "authorization_unavailable",
          `Cannot reach ${shown(url)}: ${why.slice(0, 200)}`,
        );
      }
    },
  };
}

function checkScheme(url: URL, isInsecureAllowed: boolean): void {
  if (url.username !== "" || url.password !== "") throw refused(url, "it has a username in it");
  if (url.protocol === "https:" || (url.protocol === "http:" && isInsecureAllowed)) return;
  throw refused(url, "it does not begin with https://");
}

const bare = (host: string): string => (host.startsWith("[") ? host.slice(1, -1) : host);

async function addressesOf({ hostname }: URL, resolve: Resolve): Promise<readonly LookupAddress[]> {
  const host = bare(hostname);
  const family = isIP(host);
  if (family !== 0) return [{ address: host, family }];
  const addresses = await resolve(host).catch((error: unknown) => {
    throw new ConsentError(
      "authorization_unavailable",
      `Cannot find the address of ${escapeText(host)}: ${escapeText(asError(error).message)}`,
    );
  });
  if (addresses.length > 0) return addresses;
  throw new ConsentError("authorization_unavailable", `${escapeText(host)} has no address`);
}

interface Sending {
  /** Those that were checked: the name is not looked up again. */
  readonly addresses: readonly LookupAddress[];
  readonly signal: AbortSignal;
}

async function send(
  url: URL,
  { method, headers, body }: Parameters<GuardedFetch>[1],
  { addresses, signal }: Sending,
): Promise<Response> {
  const lookupChecked: LookupFunction = (_host, { all }, done) => {
    const [first = { address: "", family: 0 }] = addresses;
    if (all === true) done(null, [...addresses]);
    else done(null, first.address, first.family);
  };
  const start = url.protocol === "https:" ? requestHttps : requestHttp;
  const bytes = body === undefined ? undefined : Buffer.from(String(body));
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = start(url, {
      method,
      headers: { ...headers, ...(bytes !== undefined && { "content-length": bytes.length }) },
      signal,
      agent: false,
      lookup: lookupChecked,
    });
    sent.on("error", reject);
    sent.on("response", resolve);
    sent.end(bytes);
  });
  const status = answer.statusCode ?? 0;
  if (status < 200 || status > 599 || (status >= 300 && status < 400)) {
    answer.destroy();
    throw refused(url, `it redirects (HTTP ${status}), and redirects are not followed`);
  }
  const read = await wholeBody(answer, BODY_BYTES_MAX);
  if (read === undefined) throw refused(url, `its answer has more than ${BODY_BYTES_MAX} bytes`);
  return new Response(NULL_BODIES.includes(status) ? null : new Uint8Array(read), {
    status,
    headers: { "content-type": contentType(answer) },
  });
}

/** An address as people may read it: no query, where a code or a token could be. */
export function shown(url: URL): string {
  const path = url.pathname === "/" ? "" : url.pathname;
  return escapeText(`${url.origin}${path}`.slice(0, 300));
}

function refused(url: URL, why: string): ConsentError {
  return new ConsentError("authorization_refused", `Cannot use ${shown(url)}: ${why}`);
}
