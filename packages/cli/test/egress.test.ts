/**
 * Egress, whole: the policy that `acp init` writes, the built `acp proxy http`, and a server
 * outside that hears what gets out.
 */
import { readFile } from "node:fs/promises";
import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { acp, scratch } from "./harness.js";
import { answerNext, attachSilent, httpWorld, startProxy } from "./http-world.js";
import type { HttpWorld, RunningProxy } from "./http-world.js";

const SECRET = "s3cr3t";

/** A world whose policy is the one that `acp init` writes. */
async function shippedWorld(): Promise<HttpWorld> {
  await using made = await scratch();
  const home = join(made.path, "h");
  await acp(["init", "--home", home, "--key-file", join(made.path, "key")]);
  return await httpWorld({ policy: await readFile(join(home, "policy.yml"), "utf8") });
}

interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Its status, and what the proxy says of a no. */
const outcomeOf = ({ statusCode = 0, headers }: IncomingMessage): string =>
  `${statusCode} ${String(headers["proxy-status"] ?? "")}`;

/** One request through the proxy: its status, and what the proxy says of a no. */
function send(
  { port }: RunningProxy,
  url: string,
  { method = "GET", headers = {}, body }: Sent = {},
): Promise<string> {
  const isTunnel = method === "CONNECT";
  return new Promise((resolve, reject) => {
    const { host } = new URL(url);
    const path = isTunnel ? host : url;
    const sent = request({ host: "127.0.0.1", port, method, path, headers: { host, ...headers } });
    sent.on("connect", (answer, socket) => {
      socket.destroy();
      resolve(outcomeOf(answer));
    });
    sent.on("response", (answer) => {
      void text(answer).then(() => resolve(outcomeOf(answer)), reject);
    });
    sent.on("error", reject).end(body);
  });
}

describe("after acp init, through acp proxy http", () => {
  it("nothing leaves unasked, whatever carries it", async () => {
    await using world = await shippedWorld();
    const proxy = await startProxy(world.home);
    const leaks: readonly (readonly [string, Sent?])[] = [
      [`${world.origin}/?k=${SECRET}`],
      [`${world.origin}/${SECRET}`],
      [`${world.origin}/`, { headers: { "x-note": SECRET } }],
      [`${world.origin}/`, { headers: { cookie: `k=${SECRET}` } }],
      [`${world.origin}/`, { headers: { "user-agent": SECRET } }],
      [`${world.origin}/`, { headers: { "content-length": String(SECRET.length) }, body: SECRET }],
      [`${world.origin}/${SECRET}`, { method: "HEAD" }],
      [`${world.origin}/`, { method: "POST", body: SECRET }],
      [`${world.origin}/`, { method: "OPTIONS", headers: { "x-note": SECRET } }],
      [`${world.origin}/`, { method: "CONNECT" }],
      [`http://${SECRET}.leak.invalid/`],
      [`http://${SECRET}.leak.invalid:443/`, { method: "CONNECT" }],
    ];
    for (const [url, sent] of leaks)
      expect(`${sent?.method ?? "GET"} ${url} ${await send(proxy, url, sent)}`).toContain(
        "403 acp; ",
      );
    expect(world.reached).toEqual([]);
  });

  it("a yes covers what reads from the host for a while: one question instead of one a request", async () => {
    await using world = await shippedWorld();
    const proxy = await startProxy(world.home);
    await using _silent = await attachSilent(world.home);
    const [first] = await Promise.all([
      send(proxy, `${world.origin}/1`),
      answerNext(world.home, ["--approve", "--offer", "host"]),
    ]);
    expect(first).toMatch(/^200/);
    for (let page = 2; page <= 5; page++)
      expect(await send(proxy, `${world.origin}/${page}`)).toMatch(/^200/);
    expect(await send(proxy, `${world.origin}/6`, { method: "HEAD" })).toMatch(/^200/);
    const reached = world.reached.length;
    const others = [
      send(proxy, `${world.origin}/`, { method: "POST", body: "x" }),
      send(proxy, `${world.origin}/`, { method: "CONNECT" }),
    ];
    for (const _ of others) await answerNext(world.home, ["--deny"]);
    for (const answer of await Promise.all(others)) expect(answer).toContain("403 acp; ");
    expect([reached, world.reached.length]).toEqual([6, 6]);
  });
});
