/** `acp mcp login` and `logout`: a person at a terminal signs in to a server at an address. */
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { BY_HAND, oauthDouble } from "../../proxy-mcp/test/support/oauth-double.js";
import { acpHere } from "./acp-here.js";
import { oauthWorld, signedInWorld } from "./oauth-world.js";

describe("acp mcp status", () => {
  it("says of each server at an address whether somebody is signed in, and shows no token", async () => {
    await using world = await signedInWorld();
    const { double, home } = world;
    const seen: string[] = [];
    const remote = async (): Promise<unknown> => {
      const [json, text] = [
        await acpHere(["mcp", "status", "--json"], { home }),
        await acpHere(["mcp", "status"], { home }),
      ];
      seen.push(json.stdout, json.stderr, text.stdout, text.stderr);
      return {
        ...(JSON.parse(json.stdout) as { remote: readonly object[] }).remote[0],
        text: text.stdout,
      };
    };
    expect(await remote()).toMatchObject({
      server: "web",
      state: "signed_in",
      issuer: double.issuer.origin,
      resource: double.url,
      scopes: ["read"],
      expires: expect.stringMatching(/^20/u),
      renewed: true,
      run: null,
      text: expect.stringMatching(/signed in at .* until .*renewed by itself, for read/u),
    });
    // A token moves to no other address.
    await world.configure(`${double.url}/other`);
    const nobody = {
      state: "none",
      run: "acp mcp login web",
      text: expect.stringContaining("acp mcp login web"),
    };
    expect(await remote()).toMatchObject(nobody);
    await world.configure(double.url, '      headers: { authorization: "x" }\n');
    expect(await remote()).toMatchObject({ state: "header", run: null });
    await world.configure(double.url);
    double.lie(({ place }) =>
      place === "token" ? { refresh_token: undefined, expires_in: 0 } : undefined,
    );
    expect(await world.person(["mcp", "login", "web"], double)).toMatchObject({ code: 0 });
    expect(await remote()).toMatchObject({
      state: "ended",
      renewed: false,
      run: "acp mcp login web",
      text: expect.stringContaining("the sign-in has ended: acp mcp login web"),
    });
    await rm(join(home, "keys", "unlock.key"));
    expect(await remote()).toMatchObject({
      state: "unknown",
      problem: "home_invalid",
    });
    for (const secret of double.secrets.keys()) expect(seen.join("")).not.toContain(secret);
  });
});

describe("acp mcp login", () => {
  it("keeps the token in the vault, shows it nowhere, and tells the log", async () => {
    await using double = await oauthDouble();
    await using world = await oauthWorld();
    await world.configure(double.url);
    const ended = await world.person(["mcp", "login", "web", "--json"], double);
    expect(JSON.parse(ended.stdout)).toMatchObject({
      server: "web",
      resource: double.url,
      issuer: double.issuer.origin,
      scopes: ["read"],
      renewed: true,
    });
    const list = await acpHere(["vault", "list", "--json"], { home: world.home });
    const names = ["oauth.web", "oauth.web.access", "oauth.web.refresh"];
    expect(JSON.parse(list.stdout).secrets).toEqual(
      names.map((name) => ({ name, servers: [], hosts: [] })),
    );
    const log = await readFile(join(world.home, "audit.jsonl"), "utf8");
    expect(log).toContain('"secret":"oauth.web"');
    const seen = `${ended.stdout}${ended.stderr}${list.stdout}${log}`;
    for (const secret of double.secrets.keys()) expect(seen).not.toContain(secret);
    expect(double.leaks()).toEqual([]);
  });

  it("is a person's at a terminal, for a server at an address", async () => {
    await using world = await oauthWorld();
    await world.configure("https://mcp.example.com/mcp");
    const notThere = await acpHere(["mcp", "login", "web"], { home: world.home });
    expect(notThere).toMatchObject({ code: 2, stderr: expect.stringContaining("not a terminal") });
    const other = await world.person(["mcp", "login", "files"]);
    expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining("those are web") });
    const late = await world.person(["mcp", "login", "web", "--timeout", "1e9"]);
    expect(late).toMatchObject({ code: 2, stderr: expect.stringContaining("from 10 to 3600") });
    const odd = await world.person(["mcp", "login", "web", "--scope", 'a"b']);
    expect(odd).toMatchObject({ code: 2, stderr: expect.stringContaining("word of ASCII") });
    await world.configure("https://mcp.example.com/mcp", '      headers: { authorization: "x" }\n');
    const own = await world.person(["mcp", "login", "web"]);
    expect(own).toMatchObject({ code: 2, stderr: expect.stringContaining("Authorization header") });
  });

  it("adds rights to those that were granted, and says what was not", async () => {
    await using world = await signedInWorld();
    const { double } = world;
    expect(await world.person(["mcp", "login", "web", "--scope", "write"], double)).toMatchObject({
      code: 0,
    });
    expect((await world.grant())?.scopes).toEqual(["read", "write"]);
    double.lie(({ place }) => (place === "token" ? { scope: "read" } : undefined));
    const { stderr } = await world.person(["mcp", "login", "web", "--scope", "admin"], double);
    expect(stderr).toContain("Not granted: admin");
  });

  it("gives the secret of a client to the hosts that it is bound to, and to no other", async () => {
    await using double = await oauthDouble();
    await using world = await oauthWorld();
    const { home } = world;
    const oauth = `      oauth: { client_id: ${BY_HAND.id}, client_secret: WEB_CLIENT, redirect_uri: "http://127.0.0.1/cb" }\n`;
    await world.configure(double.url, oauth);
    const set = (host: string) =>
      acpHere(["vault", "set", "WEB_CLIENT", "--host", host], { home, input: BY_HAND.secret });
    await set("auth.example.com");
    const { code, stderr } = await world.person(["mcp", "login", "web"], double);
    expect([code, stderr]).toEqual([1, expect.stringContaining("secret_refused")]);
    expect(double.issuer.asked.some(({ url }) => url.startsWith("/authorize"))).toBe(false);
    await set(new URL(double.issuer.origin).host);
    expect(await world.person(["mcp", "login", "web"], double)).toMatchObject({ code: 0 });
    expect(double.leaks()).toEqual([]);
    expect(double.stranger.asked).toEqual([]);
  });

  it("is told what is wrong with oauth in config.yml", async () => {
    await using world = await oauthWorld();
    for (const [more, why] of [
      ['{ client_secret: A, scopes: ["a b"] }', '"client_secret" works only with "client_id"'],
      ['{ client_id: a, redirect_uri: "http://example.com/cb" }', "http://127.0.0.1"],
      ['{ scopes: ["a b"] }', "a scope is a word of ASCII"],
    ] as const) {
      await world.configure("https://mcp.example.com/mcp", `      oauth: ${more}\n`);
      const { code, stderr } = await world.person(["mcp", "login", "web"]);
      expect([code, stderr]).toEqual([3, expect.stringContaining(why)]);
    }
    const both = `      headers: { Authorization: "a" }\n      oauth: { client_id: a }\n`;
    await world.configure("https://mcp.example.com/mcp", both);
    const { stderr } = await world.person(["mcp", "login", "web"]);
    expect(stderr).toContain("exclude each other");
  });
});

describe("acp mcp logout", () => {
  it("revokes the token, and forgets it in any case", async () => {
    await using world = await signedInWorld();
    const { double } = world;
    expect(await world.person(["mcp", "logout", "web", "--json"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('"revoked":true'),
    });
    expect(await world.grant()).toBeUndefined();
    expect(await world.person(["mcp", "logout", "web"])).toMatchObject({ code: 5 });
    await world.person(["mcp", "login", "web"], double);
    double.lie(({ place, response }) => {
      if (place !== "revoke") return undefined;
      response.writeHead(307, { location: `${double.stranger.origin}/r` }).end();
      return true;
    });
    const failed = await world.person(["mcp", "logout", "web"]);
    expect(failed).toMatchObject({ code: 0, stderr: expect.stringContaining("may still be good") });
    expect(await world.grant()).toBeUndefined();
    expect([double.leaks(), double.stranger.asked]).toEqual([[], []]);
  });
});
