/** What a gate does with the token of a server at an address. Format: spec/mcp-proxy.md §19. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Secret } from "@acp/core/vault";
import { changeVaultFile, homePaths } from "@acp/home";
import { renew } from "@acp/proxy-mcp/oauth";
import { ConsentError } from "@acp/core";
import { whileRenewing } from "../src/servers/oauth/renewal-lock.js";
import { withGrant } from "../src/servers/oauth/grant-entries.js";
import { INIT } from "../../proxy-mcp/test/support/remote-client.js";
import { oauthDouble } from "../../proxy-mcp/test/support/oauth-double.js";
import type { Lie } from "../../proxy-mcp/test/support/oauth-double.js";
import { events, json, webServer } from "../../proxy-mcp/test/support/web-server.js";
import { clientOf, oauthWorld, signedInWorld } from "./oauth-world.js";

const lieOf =
  (answer: (told: Parameters<Lie>[0]) => boolean): Lie =>
  (told) =>
    told.place === "mcp" && told.asked.message.method === "tools/call" ? answer(told) : undefined;

describe("the token of a server", () => {
  it("goes to the server with every request, and is renewed when it ends", async () => {
    await using world = await signedInWorld();
    const { double } = world;
    const { authorization, events: logged } = await world.authorization(double.url);
    await using at = await clientOf(double.url, authorization);
    expect(await at.client.call(1, "echo", {})).toMatchObject({
      result: { content: [{ text: "done" }] },
    });
    double.expire();
    const many = Array.from({ length: 20 }, (_, n) => at.client.call(`c${n}`, "echo", {}));
    for (const answer of await Promise.all(many)) expect(answer).toHaveProperty("result.content");
    expect(double.used.size).toBe(1);
    expect(logged).toEqual(["vault_changed"]);
    for (const { url, method, headers } of double.resource.asked)
      if (url === "/mcp" && method === "DELETE") expect(headers.authorization).toMatch(/^Bearer /u);
    expect(double.leaks()).toEqual([]);
  });

  it("is used by a client that initializes again on the connection on which it could not before", async () => {
    await using double = await oauthDouble();
    await using world = await oauthWorld();
    await world.configure(double.url);
    const { authorization } = await world.authorization(double.url);
    await using at = await clientOf(double.url, authorization, false);
    expect((await at.client.request("first", "initialize", INIT)).error).toMatchObject({
      message: expect.stringContaining("acp mcp login web"),
      data: { code: "authorization_needed" },
    });
    expect(await world.person(["mcp", "login", "web"], double)).toMatchObject({ code: 0 });
    expect((await at.client.request("again", "initialize", INIT)).result).toBeDefined();
    at.client.send({ method: "notifications/initialized" });
    expect(await at.client.call(1, "echo", {})).toMatchObject({
      result: { content: [{ text: "done" }] },
    });
  });

  it("is renewed by one of several at a time, and what another one got is used", async () => {
    await using world = await signedInWorld();
    const { double } = world;
    const gates = await Promise.all([1, 2, 3].map(() => world.authorization(double.url)));
    const clients = await Promise.all(
      gates.map(({ authorization }) => clientOf(double.url, authorization)),
    );
    double.expire();
    const answers = await Promise.all(clients.map(({ client }) => client.call(1, "echo", {})));
    for (const answer of answers) expect(answer).toHaveProperty("result.content");
    expect(double.used.size).toBe(1);
    for (const each of clients) await each[Symbol.asyncDispose]();
  });

  it("is not renewed again soon where that failed, and does not hold up another server's", async () => {
    await using world = await signedInWorld();
    const { double } = world;
    let tries = 0;
    let fail: (error: Error) => void = () => {};
    const slow = (): Promise<never> => {
      tries++;
      return new Promise((_, reject) => (fail = reject));
    };
    const parts = { renew: slow };
    const [one, two] = [
      await world.authorization(double.url, parts),
      await world.authorization(double.url, parts),
    ];
    double.expire();
    const sent = await one.authorization.header(new URL(double.url));
    const refused = { status: 401, challenge: undefined, sent } as const;
    const both = [one, two].map(({ authorization }) => authorization.refused(refused));
    const outcomes = Promise.allSettled(both);
    await expect.poll(() => tries).toBe(1);
    const home = homePaths(world.home);
    expect(await whileRenewing(home, "other", () => Promise.resolve("its turn"))).toBe("its turn");
    fail(new ConsentError("authorization_unavailable", "too slow"));
    const late = two.authorization.refused(refused);
    await expect(late).rejects.toMatchObject({ code: "authorization_unavailable" });
    for (const { status } of await outcomes) expect(status).toBe("rejected");
    expect(tries).toBe(1);
  });

  it("that is renewed while a person signs out is revoked, and not used any more", async () => {
    await using world = await signedInWorld();
    const { double } = world;
    let signedOut: Promise<unknown> = Promise.resolve();
    const { authorization } = await world.authorization(double.url, {
      async renew(grant, options) {
        const next = await renew(grant, options);
        signedOut = world.person(["mcp", "logout", "web"]);
        // Were it not to wait for this renewal, it would be over by then.
        await Promise.race([signedOut, new Promise((resolve) => setTimeout(resolve, 1_000))]);
        return next;
      },
    });
    double.expire();
    const sent = await authorization.header(new URL(double.url));
    await authorization.refused({ status: 401, challenge: undefined, sent }).catch(() => "again");
    expect(await signedOut).toMatchObject({ code: 0 });
    const renewed = [...double.secrets].findLast(([, kind]) => kind === "refresh")?.[0] ?? "";
    const revoked = double.issuer.asked.filter(({ url }) => url === "/revoke");
    expect(revoked.map(({ body }) => body).join()).toContain(renewed);
    expect(await authorization.header(new URL(double.url))).toBeUndefined();
  });

  it("that was removed from the vault while it was renewed is not used", async () => {
    await using world = await signedInWorld();
    const { double } = world;
    const { authorization, told } = await world.authorization(double.url, {
      async renew(grant, options) {
        const { keys } = await world.keys();
        const change = (now: readonly Secret[]) => withGrant(now, "web", undefined);
        if (keys !== undefined) await changeVaultFile(homePaths(world.home), keys, change);
        return renew(grant, options);
      },
    });
    double.expire();
    const sent = await authorization.header(new URL(double.url));
    const refused = authorization.refused({ status: 401, challenge: undefined, sent });
    await expect(refused).rejects.toMatchObject({ code: "authorization_needed" });
    expect(told).toEqual([]);
  });

  it("that somebody else renewed meanwhile is used: a lost race is no loss", async () => {
    await using world = await signedInWorld();
    const { double } = world;
    const { authorization } = await world.authorization(double.url, {
      async renew(grant, options) {
        // One that knows nothing of the lock was faster.
        const { soundVault, keys } = await world.keys();
        const faster = await renew(grant, options);
        const change = (): readonly Secret[] => withGrant(secrets, "web", faster);
        const secrets = (await soundVault?.()) ?? [];
        if (keys !== undefined) await changeVaultFile(homePaths(world.home), keys, change);
        return renew(grant, options);
      },
    });
    double.expire();
    await using at = await clientOf(double.url, authorization, false);
    expect(await at.client.request("init", "initialize", INIT)).toHaveProperty("result");
    expect(double.used.size).toBe(1);
  });

  it("is nobody's where the address is another one than somebody signed in for", async () => {
    await using world = await signedInWorld();
    const { double } = world;
    await using other = await webServer((_asked, response) => json(response, 401, {}));
    const { authorization } = await world.authorization(other.url);
    await using at = await clientOf(other.url, authorization, false);
    const { error } = await at.client.request("init", "initialize", INIT);
    expect(error).toMatchObject({
      message: expect.stringContaining("acp mcp login web"),
      data: { code: "authorization_needed" },
    });
    expect(other.asked.map(({ headers }) => headers.authorization)).toEqual([undefined]);
    expect(await authorization.header(new URL(other.url))).toBeUndefined();
    const own = await world.authorization(double.url);
    expect(await own.authorization.header(new URL(other.url))).toBeUndefined();
  });

  it("is masked in everything that the server says", async () => {
    await using world = await signedInWorld();
    const { double } = world;
    const token = (await world.grant())?.accessToken ?? "";
    const { authorization } = await world.authorization(double.url);
    await using at = await clientOf(double.url, authorization);
    const base64 = Buffer.from(token).toString("base64");
    const says: readonly ((told: Parameters<Lie>[0]) => void)[] = [
      ({ asked, response }) =>
        json(response, 200, {
          jsonrpc: "2.0",
          id: asked.message.id,
          result: { [token]: [token, base64] },
        }),
      ({ asked, response }) =>
        json(response, 200, {
          jsonrpc: "2.0",
          id: asked.message.id,
          error: { code: 1, message: token },
        }),
      ({ response }) =>
        json(response, 500, { jsonrpc: "2.0", id: 3, error: { code: 2, message: token } }),
      ({ asked, response }) => {
        events(response);
        response.write(
          `data: {"jsonrpc":"2.0","method":"notifications/x","params":{"t":"${token}"}}\n\n`,
        );
        response.write(
          `data: {"jsonrpc":"2.0","id":"r","method":"sampling/createMessage","params":{"t":"${base64}"}}\n\n`,
        );
        response.end(`data: {"jsonrpc":"2.0","id":${String(asked.message.id)},"result":{}}\n\n`);
      },
    ];
    for (const [n, say] of says.entries()) {
      double.lie(lieOf((told) => (say(told), true)));
      await at.client.call(n + 1, "echo", {});
    }
    const seen = at.client.lines.join("\n") + at.logs.join("\n");
    expect(seen).toContain("[secret oauth.web.access]");
    expect(seen).not.toContain(token);
    expect(seen).not.toContain(base64);
  });

  it("is not thrown about by a server that always says 401", async () => {
    await using world = await signedInWorld();
    const { double } = world;
    const { authorization } = await world.authorization(double.url);
    await using at = await clientOf(double.url, authorization);
    double.lie(
      lieOf(({ response }) => {
        const token = response.req.headers.authorization ?? "";
        json(
          response,
          401,
          { jsonrpc: "2.0", id: 1, result: {} },
          { "www-authenticate": `Bearer error="${token}"` },
        );
        return true;
      }),
    );
    for (let n = 0; n < 5; n++) {
      const { error } = await at.client.call(n, "echo", {});
      expect(error?.data).toEqual({ code: "authorization_needed" });
    }
    // One renewal, however often it is asked.
    expect(double.used.size).toBe(1);
    const calls = double.resource.asked.filter(({ message }) => message.method === "tools/call");
    expect(calls).toHaveLength(6);
    for (const secret of double.secrets.keys())
      expect(at.client.lines.join()).not.toContain(secret);
  });

  it("that lacks a right is told how to get it, without a word of the server's that a shell runs", async () => {
    await using world = await signedInWorld();
    const { double } = world;
    const { authorization } = await world.authorization(double.url);
    await using at = await clientOf(double.url, authorization);
    const { error } = await at.client.call(1, "write", {});
    expect(error).toMatchObject({
      message: expect.stringContaining("acp mcp login web --scope 'write'"),
      data: { code: "authorization_scope" },
    });
    double.lie(
      lieOf(({ response }) => {
        const scope = "a'$(rm) `x` ok;reboot b:c";
        json(
          response,
          403,
          {},
          { "www-authenticate": `Bearer error="insufficient_scope", scope="${scope}"` },
        );
        return true;
      }),
    );
    const { error: odd } = await at.client.call(2, "write", {});
    expect(odd?.message).toMatch(/login web --scope 'b:c'$/u);
    double.lie(lieOf(({ response }) => (json(response, 403, {}), true)));
    const { error: plain } = await at.client.call(3, "write", {});
    expect(plain?.data).toEqual({ code: "server_unavailable" });
    // No token was renewed or asked for.
    expect(double.used.size).toBe(0);
    double.lie(undefined);
    await world.person(["mcp", "login", "web", "--scope", "write"], double);
    expect(await at.client.call(4, "write", {})).toHaveProperty("result.content");
    expect(double.leaks()).toEqual([]);
  });

  it("whose sign-in has ended says so once and for all, until somebody signs in again", async () => {
    await using world = await signedInWorld();
    const { double } = world;
    const { authorization } = await world.authorization(double.url);
    await using at = await clientOf(double.url, authorization);
    double.expire();
    double.lie(({ place, response }) => {
      if (place !== "token") return undefined;
      json(response, 400, { error: "invalid_grant" });
      return true;
    });
    for (const n of [1, 2, 3]) {
      const { error } = await at.client.call(n, "echo", {});
      expect(error).toMatchObject({
        message: expect.stringContaining("acp mcp login web"),
        data: { code: "authorization_needed" },
      });
    }
    expect(
      double.issuer.asked.filter(({ body }) => body.includes("grant_type=refresh_token")),
    ).toHaveLength(1);
    double.lie(undefined);
    await world.person(["mcp", "login", "web"], double);
    expect(await at.client.call(4, "echo", {})).toHaveProperty("result.content");
  });

  it("that is renewed and cannot be saved is used all the same, and somebody is told", async () => {
    await using world = await signedInWorld();
    const { double } = world;
    const noted = { own: () => undefined, newest: () => Promise.reject(new Error("full")) };
    const { authorization, told } = await world.authorization(double.url, {
      homeKeys: { ...(await world.keys()), noted },
    });
    await using at = await clientOf(double.url, authorization);
    double.expire();
    expect(await at.client.call(1, "echo", {})).toHaveProperty("result.content");
    expect(told).toEqual([expect.stringContaining("could not be saved: full")]);
    expect(await at.client.call(2, "echo", {})).toHaveProperty("result.content");
  });

  it("of an older vault goes nowhere", async () => {
    await using world = await signedInWorld();
    const { double } = world;
    const vault = join(world.home, "vault.json");
    const before = await readFile(vault);
    await world.person(["mcp", "login", "web"], double);
    const { authorization } = await world.authorization(double.url);
    await writeFile(vault, before, { mode: 0o600 });
    await expect(authorization.header(new URL(double.url))).rejects.toMatchObject({
      code: "vault_invalid",
    });
    await using at = await clientOf(double.url, authorization, false);
    const { error } = await at.client.request("init", "initialize", INIT);
    expect(error?.data).toEqual({ code: "vault_invalid" });
  });
});
