/** Grant: what an authorization server gave, read with suspicion. Sources: RFC 6749 §5.1, RFC 6750. */
import { ConsentError } from "@acp/core";
import * as oauth from "oauth4webapi";
import { readScopes } from "./challenge.js";
import { orRefused, refused } from "./discover.js";
import type { GuardedFetch } from "./guarded-fetch.js";

/** How a client proves itself at the token endpoint. */
export type ClientMethod = "none" | "client_secret_basic" | "client_secret_post";

/** A token and all that is needed to use, renew and revoke it. Data; it holds secrets. */
export interface Grant {
  /** The server's address, which it was signed in for: it goes nowhere else. */
  readonly url: string;
  /** What it was asked for (RFC 8707). */
  readonly resource: string;
  /** Who gave it: the authorization server's name for itself. */
  readonly issuer: string;
  /** Where it is renewed: an address that was checked at the sign-in. */
  readonly tokenEndpoint: string;
  /** Where it is revoked; absent where the authorization server offers no such thing. */
  readonly revocationEndpoint?: string;
  /** The client that it was given to. */
  readonly clientId: string;
  /** How that client proves itself when it renews or revokes. */
  readonly clientMethod: ClientMethod;
  /** What it proves itself with; absent for the method `none`. */
  readonly clientSecret?: string;
  /** What was granted, where that is known. */
  readonly scopes?: readonly string[];
  /** Goes to the server, and nowhere else. */
  readonly accessToken: string;
  /** Goes to the token endpoint, and is good once; absent where none was given. */
  readonly refreshToken?: string;
  /** When the token ends; absent where nobody said so. */
  readonly expiresAtMs?: number;
}

/** What of a grant is the client's. */
export type ClientOf = Pick<Grant, "clientId" | "clientMethod" | "clientSecret">;

/** What it may consist of that goes into a header (RFC 6750 §2.1). */
const TOKEN = /^[A-Za-z0-9._~+/-]{8,16384}=*$/u;
const OPAQUE = /^[\u0020-\u007e]{8,16384}$/u;
/** Ten years: what says more says nothing. */
const LIFE_S_MAX = 315_360_000;

/** What an answer is held against. */
export interface Expected {
  /** Scopes that were asked for; `undefined` where none were named. */
  readonly scopes: readonly string[] | undefined;
  readonly resource: string;
  readonly nowMs: number;
}

/** The part of a grant that an answer has. */
export type Given = Pick<Grant, "accessToken" | "refreshToken" | "expiresAtMs" | "scopes">;

/**
 * Reads what a token endpoint answered.
 *
 * @throws ConsentError `authorization_refused`, never with what was given.
 */
export function readGiven(
  answer: oauth.TokenEndpointResponse,
  { scopes: asked, resource, nowMs }: Expected,
): Given {
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: lifeS } = answer;
  if (answer.token_type.toLowerCase() !== "bearer")
    throw refused("the authorization server gave a token of a type other than Bearer");
  if (!TOKEN.test(accessToken))
    throw refused("the authorization server gave a token that no header can have");
  if (refreshToken !== undefined && !OPAQUE.test(refreshToken))
    throw refused("the authorization server gave a refresh token that is none");
  const said = answer.scope === undefined ? undefined : readScopes(answer.scope);
  if (answer.scope !== undefined && answer.scope !== "" && said === undefined)
    throw refused("the authorization server granted scopes that are none");
  const more = (said ?? []).filter((scope) => asked !== undefined && !asked.includes(scope));
  if (more.length > 0)
    throw refused("the authorization server granted more scopes than were asked for");
  if (isForElsewhere(accessToken, resource))
    throw refused("the authorization server gave a token that is for another resource");
  const scopes = said ?? asked;
  const isTimed = lifeS !== undefined && Number.isFinite(lifeS) && lifeS >= 0;
  return {
    accessToken,
    ...(refreshToken !== undefined && { refreshToken }),
    ...(isTimed && { expiresAtMs: nowMs + Math.min(lifeS, LIFE_S_MAX) * 1_000 }),
    ...(scopes !== undefined && { scopes }),
  };
}

/**
 * Whether a token says itself that it is for addresses of which none is the server's: the server
 * could use it there. An audience that is no address says nothing.
 */
function isForElsewhere(token: string, resource: string): boolean {
  const audiences = audiencesOf(token).filter((each) => /^https?:/iu.test(each));
  const { origin } = new URL(resource);
  return (
    audiences.length > 0 &&
    !audiences.some((each) => URL.canParse(each) && new URL(each).origin === origin)
  );
}

function audiencesOf(token: string): readonly string[] {
  try {
    const payload = Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8");
    const claims: unknown = JSON.parse(payload);
    const aud: unknown =
      typeof claims === "object" && claims !== null ? Reflect.get(claims, "aud") : undefined;
    return (Array.isArray(aud) ? aud : [aud]).filter((each) => typeof each === "string");
  } catch {
    return [];
  }
}

/** How the library proves a client. */
export function authenticationOf({ clientMethod, clientSecret = "" }: ClientOf): oauth.ClientAuth {
  if (clientMethod === "none") return oauth.None();
  return clientMethod === "client_secret_basic"
    ? oauth.ClientSecretBasic(clientSecret)
    : oauth.ClientSecretPost(clientSecret);
}

/** How the library asks. */
export function askingWith(guard: {
  readonly fetch: GuardedFetch;
  readonly isInsecureAllowed: boolean;
}): {
  readonly [oauth.customFetch]: GuardedFetch;
  readonly [oauth.allowInsecureRequests]: boolean;
} {
  return {
    [oauth.customFetch]: guard.fetch,
    [oauth.allowInsecureRequests]: guard.isInsecureAllowed,
  };
}

/**
 * Runs a request to a token, registration or revocation endpoint.
 *
 * @throws ConsentError `authorization_denied` where it says no, with its code and none of its
 *   words; `authorization_refused`.
 */
export async function orDenied<T>(where: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const code = deniedCode(error);
    if (code !== undefined)
      throw new ConsentError(
        "authorization_denied",
        `Cannot sign in: ${where} denied it (${code})`,
      );
    return await orRefused(where, () => {
      throw error;
    });
  }
}

/** The code of an error that the server answered with. */
function deniedCode(error: unknown): string | undefined {
  if (error instanceof oauth.WWWAuthenticateChallengeError) return "invalid_client";
  if (
    !(error instanceof oauth.ResponseBodyError) &&
    !(error instanceof oauth.AuthorizationResponseError)
  )
    return undefined;
  return /^[a-z_]{1,64}$/u.test(error.error) ? error.error : "an error that has no name";
}
