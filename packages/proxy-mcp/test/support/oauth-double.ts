/**
 * An MCP server with its authorization server, faithful to the RFCs, and a stranger. Each keeps all
 * that it was sent. A test makes it lie in one place. Sources: RFC 6749, 6750, 7009, 7591, 7636,
 * 8414, 8707, 9207, 9728.
 */
import { createHash, randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import { echoServer, json, webServer } from "./web-server.js";
import type { Asked, WebServer } from "./web-server.js";

/** Where a lie can be told. */
export type Place =
  | "mcp"
  | "resource-metadata"
  | "issuer-metadata"
  | "register"
  | "authorize"
  | "token"
  | "revoke";

/** What is known when a lie is told. */
export interface Told {
  readonly place: Place;
  readonly asked: Asked;
  readonly response: ServerResponse;
  readonly double: OAuthDouble;
  /** What an honest server would answer, where that is JSON. */
  readonly honest: Readonly<Record<string, unknown>>;
}

/** A lie: whether it answered; an object is the honest answer with other members. */
export type Lie = (told: Told) => boolean | Readonly<Record<string, unknown>> | undefined;

/** The double. */
export interface OAuthDouble extends AsyncDisposable {
  readonly url: string;
  readonly resource: WebServer;
  readonly issuer: WebServer;
  readonly stranger: WebServer;
  /** Everything that must not be seen, by what it is. */
  readonly secrets: Map<string, "access" | "refresh" | "code" | "client">;
  /** Refresh tokens that were used. */
  readonly used: Set<string>;
  /** Tokens end from now on. */
  expire(): void;
  /** From now on. */
  lie(lie: Lie | undefined): void;
  /** What was sent to somebody it is not for. */
  leaks(): readonly string[];
  /** What a person's browser does with an address; returns the status of the last page. */
  browse(address: string): Promise<number>;
}

interface Token {
  readonly resource: string;
  readonly scopes: readonly string[];
  readonly refresh: string;
  isOver: boolean;
}

interface Code {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly challenge: string;
  readonly resource: string;
  readonly scopes: readonly string[];
}

const fresh = (kind: string): string => `${kind}-${randomBytes(18).toString("base64url")}`;

/** What an honest issuer takes for a client that was registered by hand. */
export const BY_HAND = { id: "by-hand", secret: "by-hand-secret-0123" };
/** The address of a client's metadata document, which an issuer takes that says so. */
export const DOCUMENT = "https://client.example/acp.json";

/** Opens it. */
export async function oauthDouble(first?: Lie): Promise<OAuthDouble> {
  let lie = first;
  const secrets: OAuthDouble["secrets"] = new Map([[BY_HAND.secret, "client"]]);
  const tokens = new Map<string, Token>();
  const codes = new Map<string, Code>();
  const clients = new Map<string, readonly string[]>();
  const used = new Set<string>();
  const tell = (place: Place, asked: Asked, response: ServerResponse, honest = {}): boolean => {
    const told = lie?.({ place, asked, response, double, honest });
    if (typeof told === "object")
      json(response, place === "register" ? 201 : 200, { ...honest, ...told });
    return told !== undefined && told !== false;
  };
  const answer = (
    place: Place,
    asked: Asked,
    response: ServerResponse,
    honest: object,
    status = 200,
  ): void => {
    if (!tell(place, asked, response, honest)) json(response, status, honest);
  };

  const echo = echoServer(() => false);
  const resource = await webServer((asked, response) => {
    const isWellKnown = asked.url.startsWith("/.well-known/oauth-protected-resource/mcp");
    // One that somebody may name who has no more than a path of the host.
    if (isWellKnown || asked.url === "/mcp/description")
      return answer("resource-metadata", asked, response, {
        resource: `${resource.origin}/mcp`,
        authorization_servers: [issuer.origin],
        scopes_supported: ["read"],
        bearer_methods_supported: ["header"],
      });
    if (asked.url !== "/mcp") return void response.writeHead(404).end();
    if (tell("mcp", asked, response)) return;
    const token = tokens.get((asked.headers.authorization ?? "").replace(/^Bearer /u, ""));
    const metadata = `resource_metadata="${resource.origin}/.well-known/oauth-protected-resource/mcp"`;
    if (token === undefined || token.isOver || !resource.url.startsWith(token.resource))
      return json(response, 401, {}, { "www-authenticate": `Bearer ${metadata}, scope="read"` });
    if (asked.message.params?.name === "write" && !token.scopes.includes("write"))
      return json(
        response,
        403,
        {},
        {
          "www-authenticate": `Bearer error="insufficient_scope", scope="write", ${metadata}`,
        },
      );
    return void echo(asked, response);
  });

  const give = (scopes: readonly string[], audience: string): object => {
    const [access, refresh] = [fresh("access"), fresh("refresh")];
    secrets.set(access, "access").set(refresh, "refresh");
    tokens.set(access, { resource: audience, scopes, refresh, isOver: false });
    return {
      access_token: access,
      token_type: "Bearer",
      expires_in: 3600,
      refresh_token: refresh,
      scope: scopes.join(" "),
    };
  };
  const no = (response: ServerResponse, error: string, status = 400): void =>
    json(response, status, { error, error_description: "x\r\nx-evil: 1 <script>" });

  const authorize = (asked: Asked, response: ServerResponse): void => {
    const params = new URL(asked.url, issuer.origin).searchParams;
    const get = (name: string): string => params.get(name) ?? "";
    const uris = clients.get(get("client_id"));
    const isKnown =
      uris?.includes(get("redirect_uri")) === true ||
      [BY_HAND.id, DOCUMENT].includes(get("client_id"));
    if (!isKnown || get("code_challenge_method") !== "S256" || get("resource") === "")
      return no(response, "invalid_request");
    const code = fresh("code");
    secrets.set(code, "code");
    codes.set(code, {
      clientId: get("client_id"),
      redirectUri: get("redirect_uri"),
      challenge: get("code_challenge"),
      resource: get("resource"),
      scopes: get("scope").split(" ").filter(Boolean),
    });
    const back = new URL(get("redirect_uri"));
    back.searchParams.set("code", code);
    back.searchParams.set("state", get("state"));
    back.searchParams.set("iss", issuer.origin);
    if (tell("authorize", asked, response, { back: back.href })) return;
    response.writeHead(302, { location: back.href }).end();
  };

  const token = (asked: Asked, response: ServerResponse): void => {
    const params = new URLSearchParams(asked.body);
    const get = (name: string): string => params.get(name) ?? "";
    if (get("grant_type") === "refresh_token") {
      const old = [...tokens.values()].find(({ refresh }) => refresh === get("refresh_token"));
      if (old === undefined || used.has(old.refresh) || old.resource !== get("resource"))
        return no(response, "invalid_grant");
      used.add(old.refresh);
      old.isOver = true;
      return answer("token", asked, response, give(old.scopes, old.resource));
    }
    const code = codes.get(get("code"));
    codes.delete(get("code"));
    const isClient =
      code?.clientId === BY_HAND.id
        ? decoded(asked.headers.authorization) === `${BY_HAND.id}:${BY_HAND.secret}`
        : get("client_id") === code?.clientId;
    const verifier = createHash("sha256").update(get("code_verifier")).digest("base64url");
    if (
      code === undefined ||
      !isClient ||
      code.challenge !== verifier ||
      code.redirectUri !== get("redirect_uri") ||
      code.resource !== get("resource")
    )
      return no(response, "invalid_grant");
    return answer("token", asked, response, give(code.scopes, code.resource));
  };

  const issuer = await webServer((asked, response) => {
    const { pathname } = new URL(asked.url, "http://x");
    if (pathname === "/.well-known/oauth-authorization-server")
      return answer("issuer-metadata", asked, response, metadataOf(issuer.origin));
    if (pathname === "/register") {
      const id = fresh("client");
      const wanted = JSON.parse(asked.body) as { readonly redirect_uris: readonly string[] };
      clients.set(id, wanted.redirect_uris);
      return answer("register", asked, response, { ...wanted, client_id: id }, 201);
    }
    if (pathname === "/authorize") return authorize(asked, response);
    if (pathname === "/token") return token(asked, response);
    if (pathname !== "/revoke") return void response.writeHead(404).end();
    const named = new URLSearchParams(asked.body).get("token");
    for (const [access, each] of tokens)
      if (access === named || each.refresh === named) each.isOver = true;
    if (!tell("revoke", asked, response)) response.writeHead(200).end();
    return undefined;
  });
  const stranger = await webServer((_asked, response) => json(response, 200, {}));

  const double: OAuthDouble = {
    url: resource.url,
    resource,
    issuer,
    stranger,
    secrets,
    used,
    expire: () => {
      for (const each of tokens.values()) each.isOver = true;
    },
    lie: (next) => void (lie = next),
    leaks: () => leaksOf({ resource, issuer, stranger, secrets }),
    browse,
    async [Symbol.asyncDispose]() {
      for (const server of [resource, issuer, stranger]) await server[Symbol.asyncDispose]();
    },
  };
  return double;
}

const metadataOf = (origin: string): object => ({
  issuer: origin,
  authorization_endpoint: `${origin}/authorize`,
  token_endpoint: `${origin}/token`,
  registration_endpoint: `${origin}/register`,
  revocation_endpoint: `${origin}/revoke`,
  response_types_supported: ["code"],
  grant_types_supported: ["authorization_code", "refresh_token"],
  code_challenge_methods_supported: ["S256"],
  token_endpoint_auth_methods_supported: ["none", "client_secret_basic"],
  authorization_response_iss_parameter_supported: true,
});

type Servers = Pick<OAuthDouble, "resource" | "issuer" | "stranger" | "secrets">;

/** Each secret has places where it belongs; everywhere else it was leaked. */
function leaksOf({ resource, issuer, stranger, secrets }: Servers): readonly string[] {
  const places: readonly (readonly [string, WebServer])[] = [
    ["resource", resource],
    ["issuer", issuer],
    ["stranger", stranger],
  ];
  return places.flatMap(([name, { asked }]) =>
    asked.flatMap(({ method, url, headers, body }) => {
      const text = `${url}\n${JSON.stringify(headers)}\n${body}\n${decoded(headers.authorization)}`;
      return [...secrets].flatMap(([secret, kind]) =>
        text.includes(secret) && !belongs(kind, name, { url, text: headers.authorization ?? "" })
          ? [`${kind} to ${name}: ${method} ${url}`]
          : [],
      );
    }),
  );
}

/** Of a client that proves itself (RFC 6749 §2.3.1). */
const decoded = (authorization = ""): string =>
  authorization.startsWith("Basic ")
    ? decodeURIComponent(Buffer.from(authorization.slice(6), "base64").toString())
    : "";

function belongs(
  kind: string,
  server: string,
  { url, text }: { readonly url: string; readonly text: string },
): boolean {
  if (kind === "access" && server === "resource") return url === "/mcp" && text !== "";
  return server === "issuer" && ["/token", "/revoke"].includes(url);
}

export async function browse(address: string): Promise<number> {
  let next: string | null = address;
  let status = 0;
  for (let hops = 0; next !== null && hops < 5; hops++) {
    const response: Response = await fetch(next, { redirect: "manual" });
    await response.arrayBuffer();
    ({ status } = response);
    const location = response.headers.get("location");
    next = location === null ? null : new URL(location, next).href;
  }
  return status;
}
