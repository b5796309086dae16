/**
 * Discover: what a server says of itself, and who gives out its tokens. Every word is the server's
 * own, so it must name this very server, and the one it names must name itself. Sources: RFC 9728,
 * RFC 8414, OpenID Connect Discovery 1.0, MCP 2026-07-28 "Authorization".
 */
import { asError, ConsentError, isConsentError, quoteText } from "@acp/core";
import * as oauth from "oauth4webapi";
import type { BearerChallenge } from "./challenge.js";
import { shown } from "./guarded-fetch.js";
import type { Guard } from "./guarded-fetch.js";

/** Where a token comes from, and what it is for. */
export interface Discovered {
  /** What tokens are asked for, as the server spells it. */
  readonly resource: string;
  readonly issuer: oauth.AuthorizationServer & {
    readonly authorization_endpoint: string;
    readonly token_endpoint: string;
  };
  /** What the server takes, where it says so. */
  readonly scopes?: readonly string[] | undefined;
}

/** What is known before. */
export interface DiscoverParts {
  readonly server: URL;
  readonly guard: Guard;
  readonly challenge?: BearerChallenge | undefined;
  /** The authorization server that a person chose. */
  readonly issuer?: string | undefined;
}

/**
 * Looks both up.
 *
 * @throws ConsentError `authorization_refused` for what does not hold together,
 *   `authorization_unavailable` where it cannot be asked.
 */
export async function discover(parts: DiscoverParts): Promise<Discovered> {
  const metadata = await resourceMetadata(parts);
  const { resource, scopes_supported: scopes } = metadata;
  const methods = metadata.bearer_methods_supported;
  if (Array.isArray(methods) && !methods.includes("header"))
    throw refused(`${shown(parts.server)} takes no token in a header`);
  const issuer = await issuerMetadata(chosenIssuer(metadata, parts), parts.guard);
  return { resource, issuer, ...(areTexts(scopes) && { scopes }) };
}

const areTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === "string");

async function resourceMetadata({
  server,
  guard,
  challenge,
}: DiscoverParts): Promise<oauth.ResourceServer> {
  const given = challenge?.resourceMetadata;
  const places = given === undefined ? wellKnown(server) : [namedPlace(server, given)];
  for (const place of places) {
    const response = await guard.fetch(place.href, GET);
    if (response.status !== 200) continue;
    const named = await orRefused(shown(place), () => resourceIn(response.clone()));
    if (!isSame(named, server) && !(isOfHost(place) && isAround(named, server)))
      throw refused(
        `${shown(place)} describes ${quoteText(named.slice(0, 300))}, and not ${shown(server)}`,
      );
    return orRefused(shown(place), () =>
      oauth.processResourceDiscoveryResponse(new URL(named), response),
    );
  }
  throw refused(`${shown(server)} does not say who gives out its tokens (RFC 9728)`);
}

async function resourceIn(response: Response): Promise<string> {
  const said: unknown = await response.json();
  const resource: unknown =
    typeof said === "object" && said !== null ? Reflect.get(said, "resource") : undefined;
  return typeof resource === "string" ? resource : "nothing";
}

const GET = { method: "GET", headers: { accept: "application/json" } };

/** A server describes itself where it is. */
function namedPlace(server: URL, named: string): URL {
  const place = URL.canParse(named) ? new URL(named) : undefined;
  if (place?.origin === server.origin) return place;
  throw refused(
    `${shown(server)} names another origin for its description: ${quoteText(named.slice(0, 300))}`,
  );
}

const WELL_KNOWN = "/.well-known/oauth-protected-resource";

function wellKnown(server: URL): readonly URL[] {
  const root = new URL(WELL_KNOWN, server.origin);
  const path = server.pathname === "/" ? "" : server.pathname;
  const own = new URL(root.href + path);
  own.search = server.search;
  return path === "" && server.search === "" ? [root] : [own, root];
}

/** Whether a text names this server; a final slash makes no difference. */
function isSame(resource: string, server: URL): boolean {
  if (!URL.canParse(resource) || resource.includes("#")) return false;
  const named = new URL(resource);
  const path = (url: URL): string => url.pathname.replace(/\/$/u, "");
  return (
    named.origin === server.origin &&
    path(named) === path(server) &&
    named.search === server.search &&
    named.username === "" &&
    named.password === ""
  );
}

/**
 * Whether a text names the server's whole origin, or a path that the server is below. Many do, and its
 * token is then good for all of that.
 */
function isAround(resource: string, server: URL): boolean {
  if (!URL.canParse(resource)) return false;
  const named = new URL(resource);
  const path = named.pathname.endsWith("/") ? named.pathname : `${named.pathname}/`;
  return server.pathname.startsWith(path) && isSame(resource, new URL(named.pathname, server));
}

/**
 * Whether whoever has the host says it: at a path of its own, one of several who share a host could
 * ask for a token that is good for the others.
 */
const isOfHost = ({ pathname }: URL): boolean =>
  pathname === WELL_KNOWN || pathname.startsWith(`${WELL_KNOWN}/`);

function chosenIssuer(
  { authorization_servers: all }: oauth.ResourceServer,
  { server, issuer }: DiscoverParts,
): URL {
  const issuers = areTexts(all) ? all : [];
  const chosen = issuer ?? issuers[0];
  if (chosen === undefined || !URL.canParse(chosen))
    throw refused(`${shown(server)} names no authorization server`);
  if (!issuers.includes(chosen))
    throw refused(
      `${shown(server)} does not use the authorization server ${quoteText(chosen.slice(0, 300))} of its configuration`,
    );
  return new URL(chosen);
}

async function issuerMetadata(issuer: URL, guard: Guard): Promise<Discovered["issuer"]> {
  if (issuer.search !== "" || issuer.hash !== "")
    throw refused(`the authorization server ${shown(issuer)} has a query in its name`);
  await guard.check(issuer);
  for (const place of issuerPlaces(issuer)) {
    const response = await guard.fetch(place, GET);
    if (response.status !== 200) continue;
    const metadata = await orRefused(shown(new URL(place)), () =>
      oauth.processDiscoveryResponse(issuer, response),
    );
    return checkIssuer(metadata, guard);
  }
  throw refused(`the authorization server ${shown(issuer)} does not describe itself (RFC 8414)`);
}

/** In the order of MCP. */
function issuerPlaces({ origin, pathname }: URL): readonly string[] {
  const path = pathname.replace(/\/$/u, "");
  const [own, open] = ["/.well-known/oauth-authorization-server", OPENID];
  return path === ""
    ? [origin + own, origin + open]
    : [origin + own + path, origin + open + path, origin + path + open];
}

const OPENID = "/.well-known/openid-configuration";

async function checkIssuer(
  metadata: oauth.AuthorizationServer,
  guard: Guard,
): Promise<Discovered["issuer"]> {
  const { issuer } = metadata;
  const authorize = metadata.authorization_endpoint;
  const token = metadata.token_endpoint;
  const lacks = (what: string): ConsentError =>
    refused(`the authorization server ${shown(new URL(issuer))} ${what}`);
  if (typeof authorize !== "string" || typeof token !== "string")
    throw lacks("does not say where to sign in, or where its tokens are");
  if (!isList(metadata.code_challenge_methods_supported, "S256"))
    throw lacks("does not say that it checks who asks (PKCE with S256)");
  const responses: unknown = metadata.response_types_supported;
  if (responses !== undefined && !isList(responses, "code"))
    throw lacks("gives out no authorization codes");
  for (const endpoint of [
    authorize,
    token,
    metadata.registration_endpoint,
    metadata.revocation_endpoint,
  ]) {
    if (endpoint === undefined) continue;
    if (typeof endpoint !== "string" || !URL.canParse(endpoint))
      throw lacks("names an address that is none");
    await guard.check(new URL(endpoint));
  }
  return { ...metadata, authorization_endpoint: authorize, token_endpoint: token };
}

const isList = (value: unknown, entry: string): boolean =>
  Array.isArray(value) && value.includes(entry);

/**
 * What does not read as the RFCs have it. Its own error is not passed on: it holds what the server
 * said, which may be a token.
 */
export async function orRefused<T>(where: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isConsentError(error)) throw error;
    throw refused(`the answer of ${where} is not in order: ${plainMessage(error)}`);
  }
}

/** The library's own words; what a server said would be in its `cause`. */
function plainMessage(error: unknown): string {
  return asError(error)
    .message.replace(/[^\u0020-\u007e]+/gu, " ")
    .slice(0, 200);
}

/** Breaks the rules. */
export function refused(why: string): ConsentError {
  return new ConsentError("authorization_refused", `Cannot sign in: ${why}`);
}
