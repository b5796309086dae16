/** Signing in to a server at an address that lies. Format: spec/mcp-proxy.md §19. */
import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { renew } from "../src/oauth.js";
import { oauthDouble } from "./support/oauth-double.js";
import type { Lie, OAuthDouble, Told } from "./support/oauth-double.js";
import { codeOf, signal, signedIn } from "./support/signed-in.js";
import { json } from "./support/web-server.js";

/** Only in one place. */
const at =
  (place: Told["place"], lie: (told: Told) => ReturnType<Lie>): Lie =>
  (told) =>
    told.place === place ? lie(told) : undefined;

const redirectTo = (place: Told["place"]): Lie =>
  at(place, ({ response, double }) => {
    response.writeHead(307, { location: `${double.stranger.origin}/here` }).end();
    return true;
  });

const challenge = (value: (double: OAuthDouble) => string): Lie =>
  at("mcp", ({ response, double }) => {
    json(response, 401, {}, { "www-authenticate": value(double) });
    return true;
  });

/** Sends the browser back with other parameters. */
const back = (change: (params: URLSearchParams, told: Told) => void): Lie =>
  at("authorize", (told) => {
    const to = new URL(String(told.honest["back"]));
    change(to.searchParams, told);
    told.response.writeHead(302, { location: to.href }).end();
    return true;
  });

const jwt = (claims: object): string =>
  ["{}", JSON.stringify(claims), "x"]
    .map((part) => Buffer.from(part).toString("base64url"))
    .join(".");

const huge = (response: ServerResponse): true => {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(`{"issuer":"${"a".repeat(300_000)}"}`);
  return true;
};

const ASKED = "authorization_refused";

/** What a server or its authorization server may say, and how the sign-in ends. */
const LIES: readonly (readonly [string, Lie, RegExp | string])[] = [
  [
    "describes another resource",
    at("resource-metadata", () => ({ resource: "https://mcp.example.com/mcp" })),
    /describes "https:\/\/mcp\.example/u,
  ],
  [
    "describes its whole origin at a place that one of several could have",
    (told) =>
      at("resource-metadata", ({ double }) => ({ resource: double.resource.origin }))(told) ??
      challenge((double) => `Bearer resource_metadata="${double.url}/description"`)(told),
    "and not",
  ],
  ...[
    ["what is below it", (url: string) => `${url}/below`],
    ["what is beside it", (url: string) => url.slice(0, -1)],
    ["a longer name", (url: string) => `${url}x`],
    ["its origin with a query", (url: string) => `${new URL(url).origin}/?x`],
    ["its origin with a fragment", (url: string) => `${new URL(url).origin}/#x`],
    ["its origin with a user", (url: string) => url.replace("//", "//ada@").slice(0, -4)],
    ["another scheme", (url: string) => new URL(url).origin.replace("http:", "https:")],
    ["another port", (url: string) => `${new URL(url).protocol}//127.0.0.1:1`],
    ["a host that begins so", (url: string) => new URL(url).origin.replace(/:\d+$/u, ".nip.io")],
    ["a host that another reads there", (url: string) => `${new URL(url).origin}@evil.example`],
  ].map(([what, resource]): (typeof LIES)[number] => [
    `describes ${what as string}`,
    at("resource-metadata", ({ double }) => ({
      resource: (resource as (url: string) => string)(double.url),
    })),
    "and not",
  ]),
  [
    "describes itself with a fragment",
    at("resource-metadata", ({ double }) => ({ resource: `${double.url}#x` })),
    "and not",
  ],
  [
    "names another origin for its description",
    challenge(
      (double) =>
        `Bearer resource_metadata="${double.stranger.origin}/.well-known/oauth-protected-resource"`,
    ),
    "another origin",
  ],
  [
    "names a description in the cloud's metadata",
    challenge(() => 'Bearer resource_metadata="http://169.254.169.254/latest"'),
    "another origin",
  ],
  [
    "has no authorization server",
    at("resource-metadata", () => ({ authorization_servers: [] })),
    "names no authorization server",
  ],
  [
    "has an authorization server in a private network",
    at("resource-metadata", () => ({ authorization_servers: ["https://10.0.0.1"] })),
    "private",
  ],
  [
    "has an authorization server at the cloud's metadata",
    at("resource-metadata", () => ({ authorization_servers: ["https://169.254.169.254"] })),
    "reserved",
  ],
  [
    "has an authorization server without TLS elsewhere",
    at("resource-metadata", () => ({ authorization_servers: ["http://192.0.2.1"] })),
    "Cannot use http://192.0.2.1",
  ],
  [
    "has an authorization server in a file",
    at("resource-metadata", () => ({ authorization_servers: ["file:///etc/passwd"] })),
    "https://",
  ],
  [
    "wants its token in the address",
    at("resource-metadata", () => ({ bearer_methods_supported: ["query"] })),
    "no token in a header",
  ],
  ["redirects its description", redirectTo("resource-metadata"), "redirects are not followed"],
  [
    "describes itself without end",
    at("resource-metadata", ({ response }) => huge(response)),
    "more than 131072 bytes",
  ],
  [
    "describes itself in no JSON",
    at("resource-metadata", ({ response }) => (json(response, 200, "[1,"), true)),
    "not in order",
  ],
  [
    "another issuer",
    at("issuer-metadata", ({ double }) => ({ issuer: double.stranger.origin })),
    "not in order",
  ],
  ["no issuer", at("issuer-metadata", () => ({ issuer: 7 })), "not in order"],
  [
    "issuer that describes itself without end",
    at("issuer-metadata", ({ response }) => huge(response)),
    "more than 131072 bytes",
  ],
  [
    "issuer that redirects its description",
    redirectTo("issuer-metadata"),
    "redirects are not followed",
  ],
  [
    "issuer without S256",
    at("issuer-metadata", () => ({ code_challenge_methods_supported: ["plain"] })),
    "PKCE",
  ],
  [
    "issuer that does not speak of PKCE",
    at("issuer-metadata", () => ({ code_challenge_methods_supported: undefined })),
    "PKCE",
  ],
  [
    "token endpoint in a private network",
    at("issuer-metadata", () => ({ token_endpoint: "https://192.168.0.1/token" })),
    "private",
  ],
  [
    "token endpoint without TLS",
    at("issuer-metadata", () => ({ token_endpoint: "http://203.0.113.1/token" })),
    "Cannot use http://203.0.113.1/token",
  ],
  [
    "sign-in page that is a script",
    at("issuer-metadata", () => ({ authorization_endpoint: "javascript:alert(1)" })),
    "https://",
  ],
  [
    "registration in a private network",
    at("issuer-metadata", () => ({ registration_endpoint: "https://172.16.0.1/r" })),
    "private",
  ],
  [
    "issuer with no codes",
    at("issuer-metadata", () => ({ response_types_supported: ["token"] })),
    "no authorization codes",
  ],
  [
    "registration with another redirect",
    at("register", ({ double }) => ({ redirect_uris: [`${double.stranger.origin}/cb`] })),
    "another address to come back to",
  ],
  ["registration that redirects", redirectTo("register"), "redirects are not followed"],
  [
    "registration with a client ID of lines",
    at("register", () => ({ client_id: "a\r\nx-evil: 1" })),
    "client ID that is none",
  ],
  [
    "registration with keys",
    at("register", () => ({
      token_endpoint_auth_method: "private_key_jwt",
      client_secret: "a-secret-of-ten",
      client_secret_expires_at: 0,
    })),
    "prove itself",
  ],
  [
    "answer of another issuer (mix-up)",
    back((params, { double }) => params.set("iss", double.stranger.origin)),
    "not in order",
  ],
  ["answer without its issuer (mix-up)", back((params) => params.delete("iss")), "not in order"],
  ["answer without a code", back((params) => params.delete("code")), "not in order"],
  [
    "answer with a token in it",
    back((params) => params.set("token", "a-token-0123456789")),
    "not in order",
  ],
  ["token of another type", at("token", () => ({ token_type: "mac" })), "not in order"],
  ["token of type DPoP", at("token", () => ({ token_type: "DPoP" })), "other than Bearer"],
  [
    "token that writes headers",
    at("token", () => ({ access_token: "abcdefgh\r\nx-evil: 1" })),
    "no header can have",
  ],
  [
    "token too short to be masked",
    at("token", () => ({ access_token: "short" })),
    "no header can have",
  ],
  [
    "token for elsewhere",
    at("token", () => ({ access_token: jwt({ aud: "https://graph.example.com" }) })),
    "another resource",
  ],
  ["more scopes than asked for", at("token", () => ({ scope: "read admin" })), "more scopes"],
  ["token endpoint that redirects", redirectTo("token"), "redirects are not followed"],
  [
    "token endpoint without end",
    at("token", ({ response }) => huge(response)),
    "more than 131072 bytes",
  ],
  ["no token", at("token", () => ({ access_token: undefined })), "not in order"],
  ["a life that is no number", at("token", () => ({ expires_in: "soon" })), "not in order"],
];

describe("a sign-in at a server that lies", () => {
  it.each(LIES)("(%s) ends in an error, and nothing is leaked", async (_what, lie, why) => {
    await using double = await oauthDouble(lie);
    const ended = await codeOf(signedIn(double));
    expect(ended).toMatch(why);
    expect(ended.startsWith(`${ASKED}: `)).toBe(true);
    expect([...double.secrets.keys()].filter((secret) => ended.includes(secret))).toEqual([]);
    expect(double.leaks()).toEqual([]);
    expect(double.stranger.asked).toEqual([]);
  });

  it.each([
    ["a refusal", back((params) => (params.delete("code"), params.set("error", "access_denied")))],
    ["a code of another client", back((params) => params.set("code", "code-of-somebody-else"))],
    [
      "an error that is text to show",
      at("token", ({ response, honest }) => {
        json(response, 400, { error: `no\r\nAuthorization: ${String(honest["access_token"])}` });
        return true;
      }),
    ],
  ] as const)("(%s) is denied, in our words", async (_what, lie) => {
    await using double = await oauthDouble(lie);
    const ended = await codeOf(signedIn(double));
    expect(ended).toMatch(/^authorization_denied: [^\r\n<]*$/u);
    expect([...double.secrets.keys()].filter((secret) => ended.includes(secret))).toEqual([]);
    expect(double.leaks()).toEqual([]);
  });

  it("(one that never answers) is given up", async () => {
    await using double = await oauthDouble(at("issuer-metadata", () => true));
    const ended = await codeOf(signedIn(double, { requestMsMax: 50 }));
    expect(ended).toMatch(/^authorization_unavailable: .*did not answer within/u);
  });

  it.each([
    ["its origin", (origin: string) => origin],
    ["its origin with a slash", (origin: string) => `${origin}/`],
  ])("(that describes %s) gets a token for that, and no other server does", async (_, named) => {
    await using double = await oauthDouble(
      at("resource-metadata", ({ double: { resource } }) => ({ resource: named(resource.origin) })),
    );
    const shown: string[] = [];
    const grant = await signedIn(double, {
      show({ address, resource }) {
        shown.push(resource);
        void double.browse(address).catch(() => {});
      },
    });
    const { resource } = double;
    expect([grant.resource, shown]).toEqual([named(resource.origin), [named(resource.origin)]]);
    expect(double.leaks()).toEqual([]);
  });

  it("(that describes its origin) is refused a token of another one", async () => {
    await using double = await oauthDouble(
      (told) =>
        at("resource-metadata", ({ double: { resource } }) => ({ resource: resource.origin }))(
          told,
        ) ?? at("token", () => ({ access_token: jwt({ aud: ["https://a.example"] }) }))(told),
    );
    expect(await codeOf(signedIn(double))).toContain("for another resource");
  });

  it("(fewer scopes than asked for) gets what was granted", async () => {
    await using double = await oauthDouble(at("token", () => ({ scope: "read" })));
    expect((await signedIn(double, { moreScopes: ["write"] })).scopes).toEqual(["read"]);
  });
});

describe("renew() at a server that lies", () => {
  it.each([
    ["more scopes", at("token", () => ({ scope: "read admin" })), ASKED],
    [
      "a token for elsewhere",
      at("token", () => ({ access_token: jwt({ aud: ["https://a.example"] }) })),
      ASKED,
    ],
    ["another type", at("token", () => ({ token_type: "dpop" })), ASKED],
    ["a redirect", redirectTo("token"), ASKED],
    ["without end", at("token", ({ response }) => huge(response)), ASKED],
  ] as const)("(%s) keeps nothing of it, and leaks nothing", async (_what, lie, code) => {
    await using double = await oauthDouble();
    const grant = await signedIn(double);
    double.lie(lie);
    expect(await codeOf(renew(grant, { signal }))).toMatch(new RegExp(`^${code}: `, "u"));
    expect(double.leaks()).toEqual([]);
    expect(double.stranger.asked).toEqual([]);
  });

  it("goes where the sign-in was, whatever the server says by now", async () => {
    await using double = await oauthDouble();
    const grant = await signedIn(double);
    const before = double.resource.asked.length;
    double.lie(
      at("issuer-metadata", () => ({ token_endpoint: `${double.stranger.origin}/token` })),
    );
    await renew(grant, { signal });
    expect(double.resource.asked).toHaveLength(before);
    expect(double.stranger.asked).toEqual([]);
  });
});
