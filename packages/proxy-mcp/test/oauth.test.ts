/** Signing in to a server at an address. Format: spec/mcp-proxy.md §19. */
import { request } from "node:http";
import { describe, expect, it } from "vitest";
import { renew, revoke } from "../src/oauth.js";
import { BY_HAND, DOCUMENT, oauthDouble } from "./support/oauth-double.js";
import { codeOf, signal, signedIn } from "./support/signed-in.js";

describe("signIn()", () => {
  it("gets a token for the server, which renews and ends", async () => {
    await using double = await oauthDouble();
    const grant = await signedIn(double);
    expect(grant).toMatchObject({ resource: double.url, scopes: ["read"], clientMethod: "none" });
    const again = await renew(grant, { signal });
    expect(again.accessToken).not.toBe(grant.accessToken);
    expect(again.refreshToken).not.toBe(grant.refreshToken);
    // The one before was used.
    expect(await codeOf(renew(grant, { signal }))).toMatch(
      /^authorization_denied: .*invalid_grant/u,
    );
    expect(await revoke(again, { signal })).toBe(true);
    const told = double.issuer.asked.filter(({ url }) => url === "/revoke");
    expect(told).toHaveLength(2);
    expect(double.leaks()).toEqual([]);
  });

  it("asks as OAuth 2.1 and MCP want it: PKCE, state, and the resource on both requests", async () => {
    await using double = await oauthDouble();
    await signedIn(double, { moreScopes: ["write"] });
    const at = (path: string) => double.issuer.asked.find(({ url }) => url.startsWith(path));
    const asked = new URL(at("/authorize")?.url ?? "", double.issuer.origin).searchParams;
    expect(Object.fromEntries(asked)).toMatchObject({
      response_type: "code",
      code_challenge_method: "S256",
      resource: double.url,
      scope: "read write",
    });
    expect(asked.get("redirect_uri")).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{32}$/u);
    const token = new URLSearchParams(at("/token")?.body);
    expect(token.get("resource")).toBe(double.url);
    expect(token.get("code_verifier")).toMatch(/^[\w-]{43,}$/u);
    expect(JSON.parse(at("/register")?.body ?? "")).toMatchObject({
      application_type: "native",
      redirect_uris: [asked.get("redirect_uri")],
    });
  });

  it("uses a client that was registered by hand, whose secret goes to the token endpoint alone", async () => {
    await using double = await oauthDouble();
    const asked: string[] = [];
    const secret = ({ href }: URL): string => (asked.push(href), BY_HAND.secret);
    const grant = await signedIn(double, { client: { clientId: BY_HAND.id, secret } });
    expect(grant.clientMethod).toBe("client_secret_basic");
    expect(asked).toEqual([`${double.issuer.origin}/token`]);
    expect(double.issuer.asked.some(({ url }) => url === "/register")).toBe(false);
    expect(double.leaks()).toEqual([]);
  });

  it("uses a client whose ID is the address of its metadata document, where that is taken", async () => {
    await using double = await oauthDouble(({ place }) =>
      place === "issuer-metadata" ? { client_id_metadata_document_supported: true } : undefined,
    );
    const grant = await signedIn(double, { client: { clientId: DOCUMENT } });
    expect(grant).toMatchObject({ clientId: DOCUMENT, clientMethod: "none" });
    const asked = double.issuer.asked.map(({ url }) => url);
    expect(asked.some((url) => url === "/register")).toBe(false);
    const authorize = asked.find((url) => url.startsWith("/authorize")) ?? "";
    const params = new URL(authorize, double.issuer.origin).searchParams;
    // The document is for the authorization server to fetch, and names the redirect without its port.
    expect(params.get("client_id")).toBe(DOCUMENT);
    expect(params.get("redirect_uri")).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/u);
    expect((await renew(grant, { signal })).clientId).toBe(DOCUMENT);
    expect(
      await codeOf(signedIn(double, { client: { clientId: DOCUMENT, secret: () => "s" } })),
    ).toBe(
      "authorization_refused: Cannot sign in: a client whose ID is the address of its metadata document has no secret",
    );
    double.lie(() => undefined);
    expect(await codeOf(signedIn(double, { client: { clientId: DOCUMENT } }))).toContain(
      "takes no address as a client ID",
    );
    expect(double.leaks()).toEqual([]);
  });

  it("waits for the answer with its own state, whatever else comes, and takes one", async () => {
    await using double = await oauthDouble();
    const statuses: number[] = [];
    const get = async (url: URL | string, host?: string): Promise<void> => {
      statuses.push(await statusOf(url, host));
    };
    await signedIn(double, {
      show: ({ address }) =>
        void (async () => {
          const to = new URL(new URL(address).searchParams.get("redirect_uri") ?? "");
          const state = new URL(address).searchParams.get("state") ?? "";
          const other = new URL(to);
          other.search = "?code=stolen&state=other";
          await get(other);
          await get(new URL("/callback?code=x", to));
          const twice = new URL(to);
          twice.search = `?code=x&state=${state}&state=other`;
          await get(twice);
          await get(`${to.href}?code=x&state=${state}`, "evil.example");
          await double.browse(address);
          await get(`${to.href}?code=x&state=${state}`).catch(() => statuses.push(0));
        })(),
    });
    expect(statuses.slice(0, 4)).toEqual([400, 404, 400, 404]);
    expect(double.leaks()).toEqual([]);
  });

  it("ends where nobody signs in, or it is stopped", async () => {
    await using double = await oauthDouble();
    expect(await codeOf(signedIn(double, { waitMs: 20, show: () => {} }))).toMatch(
      /^part_timeout/u,
    );
    const stop = new AbortController();
    const stopped = signedIn(double, { signal: stop.signal, show: () => stop.abort() });
    expect(await codeOf(stopped)).toMatch(/^aborted/u);
  });
});

function statusOf(url: URL | string, host?: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers: host === undefined ? {} : { host }, agent: false });
    sent.on("error", reject).on("response", (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.end();
  });
}
