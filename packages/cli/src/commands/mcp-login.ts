/**
 * `acp mcp login` and `logout`: a person lets the gate use an MCP server at an address, or ends that.
 * At a terminal only. Format: spec/mcp-proxy.md §19.
 */
import { asError, ConsentError, escapeText, parseHttpUrl } from "@acp/core";
import { revealSecret } from "@acp/core/vault";
import type { Secret } from "@acp/core/vault";
import { openServerConfig, readVaultFile } from "@acp/home";
import type { ServerOAuth, UrlServer } from "@acp/home";
import type { Grant, KnownClient, SignInShown } from "@acp/proxy-mcp/oauth";
import type { Invocation, Run } from "../command.js";
import { readHomeConfig } from "../gate/config.js";
import { homeOf } from "../home/home-source.js";
import { openKeys } from "../home/unlock.js";
import { grantIn, grantName, withGrant } from "../servers/oauth/grant-entries.js";
import { whileRenewing } from "../servers/oauth/renewal-lock.js";
import { hasOwnCredentials } from "../servers/oauth/server-authorization.js";
import { changeVault } from "./vault.js";

const WAIT_S = { min: 10, max: 3_600, usual: 300 };
/** A revocation is a courtesy: nobody waits for it for long. */
const REVOKE_MS_MAX = 15_000;
const SCOPE = /^[!#-[\]-~]{1,256}$/u;

/** Runs `acp mcp login`. */
export const mcpLogin: Run = async (invocation) => {
  const { io, print } = invocation;
  const waitMs = waitOf(invocation);
  const scopes = scopesOf(invocation);
  const home = await homeOf(invocation);
  const { server, index } = await serverOf(invocation);
  if (!io.stdin.isTTY)
    throw new ConsentError(
      "options_invalid",
      `Cannot sign in to server "${server.name}": standard input is not a terminal; a person runs this command in one`,
    );
  if (hasOwnCredentials(server))
    throw new ConsentError(
      "options_invalid",
      `Cannot sign in to server "${server.name}": config.yml has an Authorization header for it; remove that first`,
    );
  const keys = await openKeys(home, invocation);
  const { secrets } = await readVaultFile(home, keys);
  const before = grantIn(secrets, server.name);
  const opened = openServerConfig(server, index, keys);
  const { signIn } = await import("@acp/proxy-mcp/oauth");
  const url = new URL(server.url);
  const { oauth } = server;
  const grant = await signIn({
    server: url,
    ...("headers" in opened && opened.headers !== undefined && { headers: opened.headers }),
    client: oauth === undefined ? undefined : clientOf(server.name, oauth, secrets),
    issuer: oauth?.issuer,
    scopes: oauth?.scopes,
    // Rights that were granted stay: a new sign-in takes the place of the one before.
    moreScopes: [...(before?.url === url.href ? (before.scopes ?? []) : []), ...scopes],
    waitMs,
    signal: io.onStop(),
    show: (asked) => show(invocation, server.name, asked),
  });
  const change = (now: readonly Secret[]): readonly Secret[] => withGrant(now, server.name, grant);
  await changeVault({ home, io }, keys, {
    edit: change,
    said: { change: "set", secret: grantName(server.name) },
  });
  const missing = scopes.filter((scope) => grant.scopes?.includes(scope) === false);
  if (missing.length > 0) print.notice(`Not granted: ${missing.map(escapeText).join(" ")}`);
  report(invocation, server.name, grant);
  return "ok";
};

/** Runs `acp mcp logout`. */
export const mcpLogout: Run = async (invocation) => {
  const { io, print } = invocation;
  const home = await homeOf(invocation);
  const name = nameOf(invocation, "logout");
  const keys = await openKeys(home, invocation);
  // First, so that nothing uses it whatever the authorization server does; and after a renewal that
  // is under way, whose token is then the one to revoke.
  const grant = await whileRenewing(home, name, async () => {
    let removed = grantIn((await readVaultFile(home, keys)).secrets, name);
    if (removed === undefined) return undefined;
    await changeVault({ home, io }, keys, {
      edit(now) {
        removed = grantIn(now, name) ?? removed;
        return withGrant(now, name, undefined);
      },
      said: { change: "removed", secret: grantName(name) },
    });
    return removed;
  });
  if (grant === undefined) {
    print.notice(`Nobody has signed in to server "${escapeText(name)}"`);
    return "nothing";
  }
  const revoked = await revoke(invocation, grant);
  print.result({ server: name, issuer: grant.issuer, revoked }, () => [
    `${print.tone("green", "signed out")} of ${escapeText(name)}: the token is removed${revoked ? ", and revoked" : ""}`,
  ]);
  return "ok";
};

async function revoke({ io, print }: Invocation, grant: Grant): Promise<boolean> {
  const signal = AbortSignal.any([io.onStop(), AbortSignal.timeout(REVOKE_MS_MAX)]);
  try {
    const { revoke: end } = await import("@acp/proxy-mcp/oauth");
    if (await end(grant, { signal })) return true;
    print.notice(
      `${escapeText(grant.issuer)} revokes no tokens: remove the access there, or wait until it ends`,
    );
  } catch (error) {
    print.notice(
      `The token may still be good at ${escapeText(grant.issuer)}: ${asError(error).message}; remove the access there`,
    );
  }
  return false;
}

interface ChosenServer {
  readonly server: UrlServer;
  /** Its place in the file: encrypted headers are bound to it. */
  readonly index: number;
}

async function serverOf(invocation: Invocation): Promise<ChosenServer> {
  const name = nameOf(invocation, "login");
  const home = await homeOf(invocation);
  const { file, config } = await readHomeConfig(home, invocation);
  const servers = config?.servers ?? [];
  const index = servers.findIndex((each) => each.name === name && "url" in each);
  const server = servers[index];
  if (server !== undefined && "url" in server) return { server, index };
  const names = servers.flatMap((each) => ("url" in each ? [each.name] : []));
  const those = names.length === 0 ? "there is none" : `those are ${names.join(", ")}`;
  throw new ConsentError(
    "options_invalid",
    `Cannot sign in to server "${escapeText(name)}": it is not one with a url in ${file}; ${those}`,
  );
}

function nameOf({ operands: [name] }: Invocation, verb: string): string {
  if (name !== undefined) return name;
  throw new ConsentError("options_invalid", `Name the server: acp mcp ${verb} SERVER`);
}

function waitOf({ values: { timeout } }: Invocation): number {
  const seconds = timeout === undefined ? WAIT_S.usual : Number(timeout);
  if (seconds >= WAIT_S.min && seconds <= WAIT_S.max) return seconds * 1_000;
  throw new ConsentError(
    "options_invalid",
    `Cannot wait "${escapeText(timeout ?? "")}" seconds: --timeout is a number from ${WAIT_S.min} to ${WAIT_S.max}`,
  );
}

function scopesOf({ values: { scope = "" } }: Invocation): readonly string[] {
  const scopes = scope.split(/[\s,]+/u).filter((word) => word !== "");
  const bad = scopes.find((word) => !SCOPE.test(word));
  if (bad === undefined) return scopes;
  throw new ConsentError(
    "options_invalid",
    `Cannot ask for the scope "${escapeText(bad)}": it is not a word of ASCII`,
  );
}

/** A client of the configuration. Its secret goes to hosts that it is bound to, and to no other. */
function clientOf(
  server: string,
  { clientId, clientSecret, redirectUri }: ServerOAuth,
  secrets: readonly Secret[],
): KnownClient | undefined {
  if (clientId === undefined) return undefined;
  return {
    clientId,
    ...(redirectUri !== undefined && { redirect: new URL(redirectUri) }),
    ...(clientSecret !== undefined && {
      secret: (endpoint: URL) => secretFor(server, { name: clientSecret, endpoint, secrets }),
    }),
  };
}

function secretFor(
  server: string,
  {
    name,
    endpoint,
    secrets,
  }: { readonly name: string; readonly endpoint: URL; readonly secrets: readonly Secret[] },
): string {
  const secret = secrets.find((each) => each.name === name);
  const { host, port } = parseHttpUrl(endpoint.href);
  const isBound =
    secret?.hosts.includes(`${host}:${port}`) === true ||
    (endpoint.protocol === "https:" && port === 443 && secret?.hosts.includes(host) === true);
  if (secret !== undefined && isBound) return revealSecret(secret);
  throw new ConsentError(
    "secret_refused",
    `Cannot sign in to server "${server}": the vault has no secret "${name}" for ${host}:${port}; if that host may have it: acp vault set ${name} --host ${host}:${port}`,
  );
}

function show(
  { print }: Invocation,
  server: string,
  { address, issuer, resource, scopes }: SignInShown,
): void {
  const rights = scopes.length === 0 ? "what it gives by itself" : scopes.map(escapeText).join(" ");
  print.notice(
    `Signing in to server "${server}" (${escapeText(resource)}) at ${escapeText(issuer)}, for: ${rights}`,
  );
  print.notice(`Open this address in a browser on this machine: ${escapeText(address)}`);
  print.notice("Waiting for the browser to come back; Ctrl-C stops");
}

function report({ print }: Invocation, server: string, grant: Grant): void {
  const { issuer, resource, scopes, expiresAtMs, refreshToken } = grant;
  const isRenewed = refreshToken !== undefined;
  const expires = expiresAtMs === undefined ? undefined : new Date(expiresAtMs).toISOString();
  const result = { server, resource, issuer, scopes: scopes ?? null, expires: expires ?? null };
  const until =
    expires === undefined ? "" : isRenewed ? `, renewed from ${expires} on` : `, until ${expires}`;
  print.result({ ...result, renewed: isRenewed }, () => [
    `${print.tone("green", "signed in")} to ${server} at ${escapeText(issuer)}${until}`,
  ]);
}
