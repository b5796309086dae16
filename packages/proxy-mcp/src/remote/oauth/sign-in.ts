/**
 * Sign in: a person lets this client use a server. Discovery, a client, the person's browser, and a
 * token for this one server. Sources: OAuth 2.1, RFC 7591, RFC 7636, RFC 8252, RFC 8707, RFC 9207,
 * MCP 2026-07-28 "Authorization".
 */
import { ConsentError, systemClock } from "@acp/core";
import * as oauth from "oauth4webapi";
import { exchange } from "../exchange.js";
import { readChallenge } from "./challenge.js";
import type { BearerChallenge } from "./challenge.js";
import { discover, refused } from "./discover.js";
import type { Discovered } from "./discover.js";
import { askingWith, authenticationOf, orDenied, readGiven } from "./grant.js";
import type { ClientMethod, ClientOf, Grant } from "./grant.js";
import { guardOf, shown } from "./guarded-fetch.js";
import type { Guard, GuardOptions } from "./guarded-fetch.js";
import { openRedirect } from "./redirect.js";

/** A client that somebody registered with the authorization server before. */
export interface KnownClient {
  /** Its ID, or the https address of its metadata document. */
  readonly clientId: string;
  /**
   * Its secret, where it has one.
   *
   * @param endpoint - Where it would go.
   * @throws ConsentError where it must not go there.
   */
  readonly secret?: ((endpoint: URL) => string) | undefined;
  /** The address of this machine that it was registered with. Default: `http://127.0.0.1/callback`. */
  readonly redirect?: URL | undefined;
}

/** What a sign-in needs. */
export interface SignInParts extends GuardOptions {
  /** The server's MCP endpoint. */
  readonly server: URL;
  /** Sent to the server with the first request; never to anybody else. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A client that is registered already. Default: one is registered for this sign-in. */
  readonly client?: KnownClient | undefined;
  /** The authorization server to use; default: the first that the server names. */
  readonly issuer?: string | undefined;
  /** Scopes to ask for; default: what the server says that it needs. */
  readonly scopes?: readonly string[] | undefined;
  /** Scopes to ask for besides. */
  readonly moreScopes?: readonly string[] | undefined;
  /** How long a person has, in milliseconds. */
  readonly waitMs: number;
  /** Shows the address that the person opens in a browser. */
  readonly show: (asked: SignInShown) => void;
}

/** What a person sees before they sign in. */
export interface SignInShown {
  /** What to open. */
  readonly address: string;
  /** Who gives out the token: the server's choice. */
  readonly issuer: string;
  /** What the token is for. */
  readonly resource: string;
  /** The rights that are asked for; empty where the authorization server decides. */
  readonly scopes: readonly string[];
}

/**
 * Signs in.
 *
 * @example
 * ```ts
 * import { signIn } from "@acp/proxy-mcp/oauth";
 *
 * const grant = await signIn({
 *   server: new URL("https://mcp.example.com/mcp"),
 *   waitMs: 300_000,
 *   signal: new AbortController().signal,
 *   show: ({ address, issuer }) => console.error(`${issuer}: ${address}`),
 * });
 * ```
 *
 * @throws ConsentError `authorization_refused`, `authorization_denied`, `authorization_unavailable`;
 *   `part_timeout` where nobody signed in; `aborted`; `options_invalid`.
 */
export async function signIn(parts: SignInParts): Promise<Grant> {
  const { server, signal, waitMs } = parts;
  const guard = await guardOf(server, parts);
  const challenge = await askServer(parts);
  const found = await discover({ server, guard, challenge, issuer: parts.issuer });
  const scopes = scopesOf(parts, challenge, found);
  await using redirect = await openRedirect(
    parts.client === undefined ? undefined : (parts.client.redirect ?? CALLBACK),
  );
  const client = await clientOf(found, { parts, guard, redirectUri: redirect.uri, scopes });
  const state = oauth.generateRandomState();
  const verifier = oauth.generateRandomCodeVerifier();
  const asked = { client, state, scopes, redirectUri: redirect.uri };
  const address = addressOf(found, {
    ...asked,
    challenge: await oauth.calculatePKCECodeChallenge(verifier),
  });
  const { issuer, resource } = found;
  parts.show({ address: address.href, issuer: issuer.issuer, resource, scopes: scopes ?? [] });
  const answer = await redirect.answer(
    state,
    AbortSignal.any([signal, AbortSignal.timeout(waitMs)]),
  );
  return await takeToken(found, { ...asked, server, guard, answer, verifier });
}

const CALLBACK: URL = new URL("http://127.0.0.1/callback");
const PROBE = JSON.stringify({
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "acp", version: "1" },
  },
});

/** What the server says to somebody who has no token. */
async function askServer({
  server,
  headers = {},
  signal,
}: SignInParts): Promise<BearerChallenge | undefined> {
  try {
    const response = await exchange(server, {
      method: "POST",
      headers: {
        ...headers,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: Buffer.from(PROBE),
      signal: AbortSignal.any([signal, AbortSignal.timeout(PROBE_MS_MAX)]),
    });
    response.body.destroy();
    return readChallenge(response.headers["www-authenticate"]);
  } catch {
    if (signal.aborted) throw new ConsentError("aborted", "The sign-in was stopped");
    throw new ConsentError("authorization_unavailable", `Cannot reach ${shown(server)}`);
  }
}

const PROBE_MS_MAX = 15_000;

/** In MCP's order, and what is asked for besides; `offline_access` where refresh tokens take that. */
function scopesOf(
  { scopes: wanted, moreScopes = [] }: SignInParts,
  challenge: BearerChallenge | undefined,
  { scopes: supported, issuer }: Discovered,
): readonly string[] | undefined {
  const base = wanted ?? challenge?.scopes ?? supported;
  if (base === undefined && moreScopes.length === 0) return undefined;
  const offline = issuer.scopes_supported?.includes("offline_access") === true;
  return [...new Set([...(base ?? []), ...moreScopes, ...(offline ? ["offline_access"] : [])])];
}

interface Registering {
  readonly parts: SignInParts;
  readonly guard: Guard;
  readonly redirectUri: string;
  readonly scopes: readonly string[] | undefined;
}

async function clientOf(found: Discovered, registering: Registering): Promise<ClientOf> {
  const { client } = registering.parts;
  if (client === undefined) return registered(found, registering);
  const { clientId, secret } = client;
  const isDocument = /^https:\/\//iu.test(clientId);
  if (isDocument && found.issuer["client_id_metadata_document_supported"] !== true)
    throw refused(
      `the authorization server ${shown(new URL(found.issuer.issuer))} takes no address as a client ID`,
    );
  if (isDocument && secret !== undefined)
    throw refused("a client whose ID is the address of its metadata document has no secret");
  if (secret === undefined) return { clientId, clientMethod: "none" };
  const endpoint = new URL(found.issuer.token_endpoint);
  return { clientId, clientMethod: methodOf(found), clientSecret: secret(endpoint) };
}

/** Basic is what a server takes that says nothing (RFC 8414 §2). */
function methodOf({ issuer }: Discovered): ClientMethod {
  const methods = issuer.token_endpoint_auth_methods_supported;
  return methods?.includes("client_secret_basic") === false &&
    methods.includes("client_secret_post")
    ? "client_secret_post"
    : "client_secret_basic";
}

/** A client of its own for each sign-in, so that its redirect is exactly the one in use. */
async function registered(
  { issuer }: Discovered,
  { guard, redirectUri, scopes }: Registering,
): Promise<ClientOf> {
  const where = `the authorization server ${shown(new URL(issuer.issuer))}`;
  if (issuer.registration_endpoint === undefined)
    throw refused(
      `${where} registers no clients by itself: register one there, and name it in config.yml (oauth.client_id)`,
    );
  const client = await orDenied(where, async () =>
    oauth.processDynamicClientRegistrationResponse(
      await oauth.dynamicClientRegistrationRequest(
        issuer,
        {
          client_name: "ACP (Agent Consent Protocol)",
          redirect_uris: [redirectUri],
          grant_types: ["authorization_code", "refresh_token"],
          response_types: ["code"],
          token_endpoint_auth_method: "none",
          application_type: "native",
          ...(scopes !== undefined && { scope: scopes.join(" ") }),
        },
        askingWith(guard),
      ),
    ),
  );
  const { client_id: clientId, client_secret: secret, redirect_uris: uris } = client;
  if (uris !== undefined && !(Array.isArray(uris) && uris.includes(redirectUri)))
    throw refused(`${where} registered another address to come back to`);
  if (!VISIBLE.test(clientId)) throw refused(`${where} gave a client ID that is none`);
  const method =
    client.token_endpoint_auth_method ?? ((secret ?? "") === "" ? "none" : "client_secret_basic");
  if (method === "none") return { clientId, clientMethod: "none" };
  const isKnown = method === "client_secret_basic" || method === "client_secret_post";
  if (!isKnown || typeof secret !== "string" || !SECRET.test(secret))
    throw refused(`${where} wants a client to prove itself in a way that is not supported`);
  return { clientId, clientMethod: method, clientSecret: secret };
}

const VISIBLE = /^[\u0020-\u007e]{1,2048}$/u;
const SECRET = /^[\u0020-\u007e]{8,4096}$/u;

interface Asked {
  readonly client: ClientOf;
  readonly state: string;
  readonly scopes: readonly string[] | undefined;
  readonly redirectUri: string;
}

function addressOf(
  { issuer, resource }: Discovered,
  { client, state, scopes, redirectUri, challenge }: Asked & { readonly challenge: string },
): URL {
  const address = new URL(issuer.authorization_endpoint);
  const params = {
    response_type: "code",
    client_id: client.clientId,
    redirect_uri: redirectUri,
    code_challenge: challenge,
    code_challenge_method: "S256",
    state,
    resource,
    ...(scopes !== undefined && { scope: scopes.join(" ") }),
  };
  for (const [name, value] of Object.entries(params)) address.searchParams.set(name, value);
  return address;
}

interface Answered extends Asked {
  readonly server: URL;
  readonly guard: Guard;
  readonly answer: URL;
  readonly verifier: string;
}

async function takeToken(
  { issuer, resource }: Discovered,
  { client, state, scopes, redirectUri, server, guard, answer, verifier }: Answered,
): Promise<Grant> {
  const where = `the authorization server ${shown(new URL(issuer.issuer))}`;
  const known = { client_id: client.clientId };
  const given = await orDenied(where, async () => {
    const params = oauth.validateAuthResponse(issuer, known, answer, state);
    const response = await oauth.authorizationCodeGrantRequest(
      issuer,
      known,
      authenticationOf(client),
      params,
      redirectUri,
      verifier,
      { ...askingWith(guard), additionalParameters: { resource } },
    );
    return oauth.processAuthorizationCodeResponse(issuer, known, response);
  });
  const { revocation_endpoint: revocationEndpoint } = issuer;
  return {
    url: server.href,
    resource,
    issuer: issuer.issuer,
    tokenEndpoint: issuer.token_endpoint,
    ...(revocationEndpoint !== undefined && { revocationEndpoint }),
    ...client,
    ...readGiven(given, { scopes, resource, nowMs: systemClock.now() }),
  };
}
