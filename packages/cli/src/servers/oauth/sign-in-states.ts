/**
 * Sign-in states: for each server at an address, whether somebody has signed in to it, and what a
 * person does next. Reads the vault, asks nobody over the network, and shows no token. Format of
 * what is read: spec/mcp-proxy.md §19.
 */
import { existsSync } from "node:fs";
import { escapeText, isConsentError, systemClock } from "@acp/core";
import type { Secret } from "@acp/core/vault";
import { readVaultFile } from "@acp/home";
import type { UrlServer } from "@acp/home";
import type { Invocation } from "../../command.js";
import { readHomeConfig } from "../../gate/config.js";
import { homeOf, homePath } from "../../home/home-source.js";
import { openKeys } from "../../home/unlock.js";
import { grantIn } from "./grant-entries.js";
import { hasOwnCredentials } from "./server-authorization.js";

/**
 * `header`: config.yml has its credentials. `none`: nobody has signed in for this address, which a
 * server without sign-in does not need. `ended`: the token is over, and nothing renews it.
 */
export type SignInState = "signed_in" | "header" | "none" | "ended" | "unknown";

/** One server, as people and programs see it. */
export interface SignedIn {
  readonly server: string;
  readonly url: string;
  readonly state: SignInState;
  readonly issuer: string | null;
  readonly resource: string | null;
  /** `null` where the authorization server did not say. */
  readonly scopes: readonly string[] | null;
  /** When the token ends (ISO 8601); `null` where that is not known. */
  readonly expires: string | null;
  /** Whether there is what renews it. */
  readonly renewed: boolean;
  /** Why nothing is known of it: a code; `null` otherwise. */
  readonly problem: string | null;
  /** What a person runs to sign in; `null` where nothing is to do. */
  readonly run: string | null;
}

const NOTHING = {
  issuer: null,
  resource: null,
  scopes: null,
  expires: null,
  renewed: false,
  problem: null,
  run: null,
} as const;

/**
 * The states of all servers of the home that have a `url`; none where there is no home.
 *
 * @throws ConsentError what a configuration throws that does not load.
 */
export async function signInStates(invocation: Invocation): Promise<readonly SignedIn[]> {
  if (!existsSync(homePath(invocation)) && invocation.values.config === undefined) return [];
  const home = await homeOf(invocation);
  const { config } = await readHomeConfig(home, invocation);
  const servers = (config?.servers ?? []).filter((each): each is UrlServer => "url" in each);
  const isAsked = servers.some((server) => !hasOwnCredentials(server));
  const vault = isAsked
    ? await openKeys(home, invocation)
        .then(async (keys) => (await readVaultFile(home, keys)).secrets)
        .catch(problemOf)
    : [];
  return servers.map((server) => stateOf(server, vault));
}

/** Where the vault does not open, nobody knows what is in it. */
function problemOf(error: unknown): readonly Secret[] | string {
  if (isConsentError(error)) return error.code;
  throw error;
}

function stateOf(server: UrlServer, vault: readonly Secret[] | string): SignedIn {
  const { name, url } = server;
  const base = { ...NOTHING, server: name, url };
  if (hasOwnCredentials(server)) return { ...base, state: "header" };
  if (typeof vault === "string") return { ...base, state: "unknown", problem: vault };
  const grant = grantIn(vault, name);
  const run = `acp mcp login ${name}`;
  // As the gate sees it: a token moves to no other address.
  if (grant === undefined || grant.url !== new URL(url).href)
    return { ...base, state: "none", run };
  const { issuer, resource, scopes = null, expiresAtMs, refreshToken } = grant;
  const isEnded = refreshToken === undefined && (expiresAtMs ?? Infinity) <= systemClock.now();
  return {
    ...base,
    state: isEnded ? "ended" : "signed_in",
    issuer,
    resource,
    scopes,
    expires: expiresAtMs === undefined ? null : new Date(expiresAtMs).toISOString(),
    renewed: refreshToken !== undefined,
    run: isEnded ? run : null,
  };
}

/** One line of text for people. */
export function signInText(each: SignedIn): string {
  const { state, issuer, expires, renewed, scopes, problem, run } = each;
  const rights =
    scopes === null || scopes.length === 0 ? "" : `, for ${scopes.map(escapeText).join(" ")}`;
  switch (state) {
    case "header":
      return "credentials of config.yml";
    case "none":
      return `nobody is signed in; if it wants that: ${run ?? ""}`;
    case "ended":
      return `the sign-in has ended: ${run ?? ""}`;
    case "unknown":
      return `not known whether somebody is signed in (${problem ?? ""}); acp doctor says what is wrong`;
    case "signed_in": {
      const renewal = renewed ? ", renewed by itself" : ", not renewed";
      const until = expires === null ? "" : ` until ${expires}`;
      return `signed in at ${escapeText(issuer ?? "")}${until}${renewal}${rights}`;
    }
    default:
      return state satisfies never;
  }
}
