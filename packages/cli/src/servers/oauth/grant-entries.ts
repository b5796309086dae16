/**
 * Grant entries: what somebody signed in for, as secrets of the vault. Each token is a secret of its
 * own, so that it is masked wherever it turns up. They are bound to no server and no host: no
 * placeholder puts one anywhere. Format: spec/mcp-proxy.md §19.
 */
import { revealSecret, Secret } from "@acp/core/vault";
import type { Grant } from "@acp/proxy-mcp/oauth";

const PARTS = {
  access: "accessToken",
  refresh: "refreshToken",
  client: "clientSecret",
} as const;

/** The name of what is known of a grant; the names of its secrets begin so. */
export function grantName(server: string): string {
  return `oauth.${server}`;
}

/** The grant of a server; `undefined` where nobody signed in, or what is there is none. */
export function grantIn(secrets: readonly Secret[], server: string): Grant | undefined {
  const valueOf = (name: string): string | undefined => {
    const secret = secrets.find((each) => each.name === name);
    return secret === undefined ? undefined : revealSecret(secret);
  };
  const known = readKnown(valueOf(grantName(server)));
  const accessToken = valueOf(`${grantName(server)}.access`);
  if (known === undefined || accessToken === undefined) return undefined;
  const refreshToken = valueOf(`${grantName(server)}.refresh`);
  const clientSecret = valueOf(`${grantName(server)}.client`);
  return {
    ...known,
    accessToken,
    ...(refreshToken !== undefined && { refreshToken }),
    ...(clientSecret !== undefined && { clientSecret }),
  };
}

/** The secrets with another grant of a server, or with none. */
export function withGrant(
  secrets: readonly Secret[],
  server: string,
  grant: Grant | undefined,
): readonly Secret[] {
  const base = grantName(server);
  const own = [base, ...Object.keys(PARTS).map((part) => `${base}.${part}`)];
  const left = secrets.filter(({ name }) => !own.includes(name));
  if (grant === undefined) return left;
  const { accessToken: _a, refreshToken: _r, clientSecret: _c, ...known } = grant;
  return [
    ...left,
    new Secret({ name: base, value: JSON.stringify(known) }),
    ...grantSecrets(server, grant),
  ];
}

/** What of a grant must not be seen. */
export function grantSecrets(server: string, grant: Grant): readonly Secret[] {
  return Object.entries(PARTS).flatMap(([part, key]) => {
    const value = grant[key];
    return value === undefined ? [] : [new Secret({ name: `${grantName(server)}.${part}`, value })];
  });
}

type Known = Omit<Grant, "accessToken" | "refreshToken" | "clientSecret">;

/** Sealed by this home's key, so by this code, or by a person who named a secret so. */
function readKnown(text: string | undefined): Known | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text ?? "");
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const member = (key: string): unknown => Reflect.get(value, key);
  const word = (key: string): string | undefined => {
    const found = member(key);
    return typeof found === "string" ? found : undefined;
  };
  const [url, resource, issuer, tokenEndpoint, clientId] = [
    "url",
    "resource",
    "issuer",
    "tokenEndpoint",
    "clientId",
  ].map(word);
  const method = METHODS.find((each) => each === member("clientMethod"));
  const [revocationEndpoint, expiresAtMs, scopes] = [
    word("revocationEndpoint"),
    member("expiresAtMs"),
    member("scopes"),
  ];
  if (
    url === undefined ||
    resource === undefined ||
    issuer === undefined ||
    tokenEndpoint === undefined ||
    clientId === undefined ||
    method === undefined
  )
    return undefined;
  return {
    url,
    resource,
    issuer,
    tokenEndpoint,
    clientId,
    clientMethod: method,
    ...(revocationEndpoint !== undefined && { revocationEndpoint }),
    ...(typeof expiresAtMs === "number" && { expiresAtMs }),
    ...(Array.isArray(scopes) && {
      scopes: scopes.filter((scope): scope is string => typeof scope === "string"),
    }),
  };
}

const METHODS = ["none", "client_secret_basic", "client_secret_post"] as const;
