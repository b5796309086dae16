/**
 * Server authorization: the token of a server at an address, from the vault. It goes to the address
 * that a person signed in for, and nowhere else. One process at a time renews it; what another one
 * renewed is used. Format: spec/mcp-proxy.md §19.
 */
import { asError, ConsentError, isConsentError, randomIds, systemClock } from "@acp/core";
import type { AuditSink, Masker } from "@acp/core";
import { createMasker, revealSecret, vaultChangedEvent } from "@acp/core/vault";
import type { Secret } from "@acp/core/vault";
import { changeVaultFile } from "@acp/home";
import type { Home, UrlServer } from "@acp/home";
import { readChallenge } from "@acp/proxy-mcp";
import type {
  AuthorizationAnswer,
  AuthorizationCaller,
  AuthorizationRefusal,
  RemoteAuthorization,
} from "@acp/proxy-mcp";
import type { Grant } from "@acp/proxy-mcp/oauth";
import type { HomeKeys } from "../../gate/home-keys.js";
import type { Notices } from "../../gate/notices.js";
import type { RightsDesk } from "./ask-for-rights.js";
import { grantIn, grantName, grantSecrets, withGrant } from "./grant-entries.js";
import { whileRenewing } from "./renewal-lock.js";
import { sharedRenewal } from "./shared-renewal.js";

/** What it is made of. */
export interface ServerAuthorizationParts {
  readonly server: UrlServer;
  readonly home: Home;
  readonly homeKeys: HomeKeys;
  readonly log: AuditSink;
  readonly notices: Pick<Notices, "tell">;
  /** Ends what is under way. */
  readonly signal: AbortSignal;
  /** Asks people for rights that the token lacks. */
  readonly desk?: RightsDesk;
  /** Renews a token. Default: that of "@acp/proxy-mcp/oauth". */
  readonly renew?: (grant: Grant, options: { readonly signal: AbortSignal }) => Promise<Grant>;
}

/** A token that ends so soon is renewed before it is used. */
const ENDING_MS = 30_000;
/** A token that was renewed so lately is not renewed again: a server could ask for that all day. */
const RENEWED_MS_MIN = 30_000;
/** Tokens that are remembered, so that they are masked. */
const KNOWN_MAX = 64;

/** Whether the configuration has credentials of its own: then there is no token. */
export function hasOwnCredentials({ headers = {} }: UrlServer): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
}

/** The token of one server, for one gate. */
export function serverAuthorization(parts: ServerAuthorizationParts): RemoteAuthorization {
  const { server, desk } = parts;
  const url = new URL(server.url);
  const masks = createTokenMasks();
  const at: Renewing = { ...parts, unsaved: undefined, dead: new Set(), renewed: new Map() };
  const now = async (): Promise<Grant | undefined> => {
    const grant = await currentGrant(at);
    if (grant !== undefined) masks.learn(grantSecrets(server.name, grant));
    return grant;
  };
  const ofCaller = (caller?: AuthorizationCaller): RemoteAuthorization => ({
    async header(to) {
      if (to.origin !== url.origin) return undefined;
      const grant = await now();
      if (grant === undefined) return undefined;
      const usable =
        isEnding(grant) && isRenewable(at, grant) ? await renewedEarly(at, grant) : grant;
      masks.learn(grantSecrets(server.name, usable));
      return headerOf(usable);
    },
    refused: (refusal) =>
      refusal.status === 401
        ? afterRefusal(at, refusal, now)
        : Promise.resolve(
            lacking(server, refusal, (scopes, command) =>
              caller === undefined ? "" : (desk?.ask(scopes, command, caller) ?? ""),
            ),
          ),
    masker: () => masks.masker(),
    as: ofCaller,
  });
  return ofCaller();
}

const headerOf = ({ accessToken }: Grant): string => `Bearer ${accessToken}`;

const isEnding = ({ expiresAtMs = Infinity }: Grant, withinMs = ENDING_MS): boolean =>
  expiresAtMs - withinMs < systemClock.now();

interface Renewing extends ServerAuthorizationParts {
  /** A grant that the vault did not take, and the token that it came of. */
  unsaved: { readonly from: string; readonly grant: Grant } | undefined;
  /** Refresh tokens that do not count any more. */
  readonly dead: Set<string>;
  /** When a token was renewed, by the clock that nobody sets. */
  readonly renewed: Map<string, number>;
}

function isRenewable({ dead, renewed }: Renewing, { accessToken, refreshToken }: Grant): boolean {
  const sinceMs = systemClock.monotonic() - (renewed.get(accessToken) ?? -Infinity);
  return refreshToken !== undefined && !dead.has(refreshToken) && sinceMs > RENEWED_MS_MIN;
}

/** @throws ConsentError where the vault may not be used. */
async function currentGrant(at: Renewing): Promise<Grant | undefined> {
  const { server, homeKeys, unsaved } = at;
  const secrets = await homeKeys.soundVault?.();
  const grant = grantIn(secrets ?? [], server.name);
  // What somebody signed in for is another server's, where the address changed since.
  if (grant === undefined || grant.url !== new URL(server.url).href) return undefined;
  return unsaved?.from === grant.accessToken ? unsaved.grant : grant;
}

/** Where it cannot be renewed, the old one is good for as long as it lasts. */
async function renewedEarly(at: Renewing, grant: Grant): Promise<Grant> {
  try {
    return await renewOnce(at, grant);
  } catch (error) {
    if (isEnding(grant, 0)) throw error;
    return grant;
  }
}

async function afterRefusal(
  at: Renewing,
  { sent }: AuthorizationRefusal,
  now: () => Promise<Grant | undefined>,
): Promise<AuthorizationAnswer> {
  const { server, homeKeys } = at;
  const grant = await now();
  if (homeKeys.soundVault === undefined)
    return needed(server, "this home has no keys to keep a token with (acp init)");
  if (grant === undefined) return needed(server, "nobody has signed in for this address");
  // Somebody signed in, or renewed it, in the meantime.
  if (headerOf(grant) !== sent) return "again";
  if (!isRenewable(at, grant)) return needed(server, "it does not take the token that it gave");
  await renewOnce(at, grant);
  return "again";
}

function needed({ name }: UrlServer, why: string): Exclude<AuthorizationAnswer, string> {
  return {
    code: "authorization_needed",
    message: `Server "${name}" wants a person to sign in, because ${why}; nothing was done. A person runs, in a terminal: acp mcp login ${name}`,
  };
}

/** What a shell takes as it is, within single quotes. */
const PLAIN_SCOPE = /^[A-Za-z0-9:._/+@=,*~%-]{1,128}$/u;

function lacking(
  { name }: UrlServer,
  { challenge }: AuthorizationRefusal,
  ask: (scopes: readonly string[], command: string) => string,
): AuthorizationAnswer {
  const asked = readChallenge(challenge);
  if (asked?.error !== "insufficient_scope") return "pass";
  const scopes = (asked.scopes ?? []).filter((scope) => PLAIN_SCOPE.test(scope)).slice(0, 16);
  const option = scopes.length === 0 ? "" : ` --scope '${scopes.join(" ")}'`;
  const command = `acp mcp login ${name}${option}`;
  return {
    code: "authorization_scope",
    message: `Server "${name}" wants more rights than the token has; nothing was done.${ask(scopes, command)} If they agree, a person runs, in a terminal: ${command}`,
  };
}

/** Renews a token, unless somebody else did: one of all processes of the home at a time. */
async function renewOnce(at: Renewing, grant: Grant): Promise<Grant> {
  const { home, server, signal } = at;
  const key = [home.dir, server.name, grant.accessToken].join("\n");
  const next = await sharedRenewal(key, signal, () => renewLocked(at, grant));
  at.renewed.set(next.accessToken, systemClock.monotonic());
  return next;
}

function renewLocked(at: Renewing, grant: Grant): Promise<Grant> {
  const { home, server } = at;
  return whileRenewing(home, server.name, async () => {
    const now = await currentGrant(at);
    if (now === undefined || now.refreshToken === undefined || at.dead.has(now.refreshToken))
      throw ended(server);
    if (now.accessToken !== grant.accessToken) return now;
    const next = await renewNow(at, now, now.refreshToken);
    if (next !== now) await save(at, now, next);
    return next;
  });
}

/** One that lost the race, against a version without this lock or another machine, is no loss. */
async function renewNow(at: Renewing, now: Grant, refreshToken: string): Promise<Grant> {
  const { signal, server } = at;
  const renew = at.renew ?? (await import("@acp/proxy-mcp/oauth")).renew;
  try {
    return await renew(now, { signal });
  } catch (error) {
    if (!isConsentError(error, "authorization_denied")) throw error;
    const again = await currentGrant(at);
    if (again !== undefined && again.accessToken !== now.accessToken) return again;
    at.dead.add(refreshToken);
    throw ended(server);
  }
}

const ended = (server: UrlServer): ConsentError =>
  new ConsentError("authorization_needed", needed(server, "its sign-in has ended").message);

/**
 * Whoever cannot save it uses it until the process ends: the token before counts no more.
 *
 * @throws ConsentError `authorization_needed` where somebody signed out meanwhile.
 */
async function save(at: Renewing, from: Grant, grant: Grant): Promise<void> {
  const { home, homeKeys, server, log, notices } = at;
  const { unsaved } = at;
  // Of which the vault knows nothing, where the last one could not be saved either.
  const kept = unsaved?.grant.accessToken === from.accessToken ? unsaved.from : from.accessToken;
  at.unsaved = { from: kept, grant };
  const signedOut = ended(server);
  try {
    const keys = await homeKeys.ring?.fresh();
    if (keys === undefined) throw new ConsentError("key_locked", "the home has no keys");
    const above = (await homeKeys.noted?.newest())?.get("vault")?.counter ?? 0;
    const mark = await changeVaultFile(home, keys, {
      above,
      change(secrets) {
        const now = grantIn(secrets, server.name);
        if (now === undefined) throw signedOut;
        return now.accessToken === kept ? withGrant(secrets, server.name, grant) : secrets;
      },
    });
    const event = { change: "set", secret: grantName(server.name) } as const;
    await log.append([vaultChangedEvent(mark, event, { clock: systemClock, ids: randomIds })]);
  } catch (error) {
    if (error === signedOut) {
      at.unsaved = undefined;
      throw error;
    }
    notices.tell(
      "server_authorization",
      `The token of server "${server.name}" was renewed and could not be saved: ${asError(error).message}; if this process ends, a person has to sign in again`,
    );
  }
}

interface TokenMasks {
  learn(secrets: readonly Secret[]): void;
  masker(): Masker | undefined;
}

/** Every token that was sent in this session, also one that ended since. */
function createTokenMasks(): TokenMasks {
  const known = new Map<string, Secret>();
  let last: readonly string[] = [];
  let masker: Masker | undefined;
  return {
    learn(secrets) {
      const values = secrets.map((secret) => revealSecret(secret));
      if (values.every((value) => known.has(value))) return;
      for (const [index, secret] of secrets.entries()) known.set(values[index] ?? "", secret);
      for (const value of [...known.keys()].slice(0, Math.max(0, known.size - KNOWN_MAX)))
        if (!values.includes(value)) known.delete(value);
      last = values;
      masker = undefined;
    },
    masker() {
      if (last.length === 0) return undefined;
      return (masker ??= createMasker([...known.values()]));
    },
  };
}
