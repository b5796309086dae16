/** Secrets in headers of plain HTTP, and who asks, over real sockets: agent, proxy, host. */
import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  request,
  type RequestListener,
  type Server,
} from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { createConsentGate, type GateOptions } from "@acp/core";
import { parsePolicy } from "@acp/core/policy";
import { createVault, Secret } from "@acp/core/vault";
import { type Script, scriptedChannel } from "@acp/testing";
import { afterEach, describe, expect, it } from "vitest";
import {
  createHttpConsentProxy,
  type HttpConsentProxy,
  type HttpConsentProxyOptions,
} from "../src/index.js";

const VALUE = "hunter2-hunter2";
const servers: Server[] = [];
const proxies: HttpConsentProxy[] = [];
afterEach(async () => {
  await Promise.all(proxies.splice(0).map((proxy) => proxy.close()));
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

async function host(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A server on a TCP port has an address of this shape.
  return (server.address() as AddressInfo).port;
}

interface Setup {
  readonly proxyPort: number;
  readonly agents: Set<string>;
}

async function proxied(
  port: number,
  {
    script = () => "approve",
    gate,
    proxy,
  }: {
    script?: Script;
    gate?: Partial<GateOptions>;
    proxy?: Partial<HttpConsentProxyOptions>;
  } = {},
): Promise<Setup> {
  const agents = new Set<string>();
  const made = createHttpConsentProxy({
    gate: createConsentGate({
      policy: parsePolicy({ version: "1", default: "ask" }),
      channel: scriptedChannel(script),
      vault: createVault([
        new Secret({ name: "TOKEN", value: VALUE, hosts: [`127.0.0.1:${port}`] }),
      ]),
      audit: {
        append: (events) => {
          for (const { agent } of events) agents.add(agent);
          return Promise.resolve({ seq: 0, hash: "sha256:0" });
        },
      },
      ...gate,
    }),
    agent: { id: "demo" },
    privateHosts: ["127.0.0.1"],
    ...proxy,
  });
  proxies.push(made);
  const { port: proxyPort } = await made.listen({ port: 0 });
  return { proxyPort, agents };
}

interface Answer {
  readonly response: IncomingMessage;
  readonly text: string;
  readonly hints: readonly string[];
}

async function get(
  proxyPort: number,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const sent = request({
    host: "127.0.0.1",
    port: proxyPort,
    path,
    headers: { host: new URL(path).host, ...headers },
    agent: false,
  });
  const hints: string[] = [];
  sent.on(
    "information",
    ({ rawHeaders }: { readonly rawHeaders: readonly string[] }) => void hints.push(...rawHeaders),
  );
  sent.end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { response, text: Buffer.concat(chunks).toString(), hints };
}

const codeOf = ({ text }: Answer): unknown =>
  (JSON.parse(text) as { readonly error: { readonly code: string } }).error.code;
const withSecret = {
  authorization: "Bearer {{secret:TOKEN}}",
  "accept-encoding": "gzip",
  range: "bytes=0-3",
};

describe("secrets in headers", () => {
  it("reach the host, and nothing of them comes back: not in the status, headers, hints, body or trailers", async () => {
    let seen: IncomingMessage["headers"] = {};
    const port = await host((incoming, outgoing) => {
      seen = incoming.headers;
      const echo = incoming.headers.authorization ?? "";
      outgoing.writeEarlyHints({ link: "</a.css>; rel=preload", "x-echo": echo });
      outgoing.writeHead(200, `OK ${echo}`, { "x-echo": echo, trailer: "x-last" });
      outgoing.write(`you sent ${echo.slice(0, 15)}`);
      setImmediate(() => {
        outgoing.addTrailers({ "x-last": echo });
        outgoing.end(`${echo.slice(15)}!`);
      });
    });
    const { proxyPort } = await proxied(port);
    const answer = await get(proxyPort, `http://127.0.0.1:${port}/`, withSecret);
    expect(seen).toMatchObject({ authorization: `Bearer ${VALUE}`, "accept-encoding": "identity" });
    expect(seen).not.toHaveProperty("range");
    expect(answer.text).toBe("you sent Bearer [secret TOKEN]!");
    expect(answer.response.statusMessage).toBe("OK Bearer [secret TOKEN]");
    expect(answer.response.headers["x-echo"]).toBe("Bearer [secret TOKEN]");
    expect(answer.response.trailers).toEqual({ "x-last": "Bearer [secret TOKEN]" });
    expect(answer.hints.join(" ")).toContain("[secret TOKEN]");
    expect(
      JSON.stringify([answer.hints, answer.response.rawHeaders, answer.response.rawTrailers]),
    ).not.toContain(VALUE);
  });

  it("change the length of a body, which is then sent in chunks", async () => {
    const port = await host((incoming, outgoing) => {
      const echo = incoming.headers.authorization ?? "";
      outgoing.writeHead(200, { "content-length": echo.length });
      outgoing.end(echo);
    });
    const { proxyPort } = await proxied(port);
    const { response, text } = await get(proxyPort, `http://127.0.0.1:${port}/`, withSecret);
    expect(text).toBe("Bearer [secret TOKEN]");
    expect(response.headers).not.toHaveProperty("content-length");
    expect(response.headers["transfer-encoding"]).toBe("chunked");
  });

  it("do not come back in an answer that is compressed all the same", async () => {
    const port = await host((incoming, outgoing) => {
      outgoing.writeHead(200, { "content-encoding": "gzip" });
      outgoing.end(gzipSync(incoming.headers.authorization ?? ""));
    });
    const { proxyPort } = await proxied(port);
    const answer = await get(proxyPort, `http://127.0.0.1:${port}/`, withSecret);
    expect([answer.response.statusCode, codeOf(answer)]).toEqual([502, "upstream_invalid"]);
    expect((await get(proxyPort, `http://127.0.0.1:${port}/`)).response.statusCode).toBe(200);
  });

  it("end nothing but their own answer where a trailer speaks of compression", async () => {
    const port = await host((_, outgoing) => {
      outgoing.writeHead(200, { trailer: "content-encoding" });
      outgoing.write("fine");
      outgoing.addTrailers({ "content-encoding": "gzip" });
      outgoing.end();
    });
    const { proxyPort } = await proxied(port);
    expect(await get(proxyPort, `http://127.0.0.1:${port}/`, withSecret)).toMatchObject({
      text: "fine",
    });
    expect((await get(proxyPort, `http://127.0.0.1:${port}/`)).text).toBe("fine");
  });

  it("go nowhere without consent, to no other host, and not unfilled", async () => {
    const seen: (string | undefined)[] = [];
    const port = await host(
      ({ headers }, outgoing) => void outgoing.end(seen.push(headers.authorization)),
    );
    const other = await host(
      ({ headers }, outgoing) => void outgoing.end(seen.push(headers.authorization)),
    );
    const denying = await proxied(port, { script: () => "deny" });
    expect(codeOf(await get(denying.proxyPort, `http://127.0.0.1:${port}/`, withSecret))).toBe(
      "consent_denied",
    );
    const { proxyPort } = await proxied(port);
    expect(codeOf(await get(proxyPort, `http://127.0.0.1:${other}/`, withSecret))).toBe(
      "vault_failed",
    );
    const unarmed = await proxied(port, {
      gate: { vault: { inject: (release) => Promise.resolve(release) } },
    });
    expect(codeOf(await get(unarmed.proxyPort, `http://127.0.0.1:${port}/`, withSecret))).toBe(
      "vault_failed",
    );
    expect(seen).toEqual([]);
  });
});

describe("who asks", () => {
  const TOKEN = "0123456789abcdef";
  const alice = { agent: { id: "alice" }, username: "alice", token: TOKEN };
  const credentials = {
    "proxy-authorization": `Basic ${Buffer.from(`alice:${TOKEN}`).toString("base64")}`,
  };

  it("is told by credentials, which the host never sees", async () => {
    const seen: IncomingMessage["headers"][] = [];
    const port = await host((incoming, outgoing) => {
      seen.push(incoming.headers);
      outgoing.end();
    });
    const { proxyPort, agents } = await proxied(port, {
      proxy: { agents: [alice], attribution: "x-agent-id" },
    });
    const url = `http://127.0.0.1:${port}/`;
    await get(proxyPort, url);
    await get(proxyPort, url, credentials);
    await get(proxyPort, url, { ...credentials, "x-agent-id": "demo" });
    expect(agents).toEqual(new Set(["demo", "alice", "alice/demo"]));
    const refused = await get(proxyPort, url, { "proxy-authorization": "Basic YWxpY2U6d3Jvbmc=" });
    expect([
      refused.response.statusCode,
      refused.response.headers["proxy-authenticate"],
      codeOf(refused),
    ]).toEqual([407, 'Basic realm="acp", charset="UTF-8"', "agent_unknown"]);
    expect(seen).toHaveLength(3);
    expect(
      seen
        .flatMap((headers) => Object.keys(headers))
        .filter((name) => /^proxy-|^x-agent/.test(name)),
    ).toEqual([]);
  });

  it("decides by its own policy where it has one", async () => {
    const port = await host((_, outgoing) => void outgoing.end("hello"));
    const gate = createConsentGate({
      policy: parsePolicy({ version: "1", default: "deny" }),
      channel: scriptedChannel([]),
      audit: { append: () => Promise.resolve({ seq: 0, hash: "sha256:0" }) },
    });
    const { proxyPort } = await proxied(port, { proxy: { agents: [{ ...alice, gate }] } });
    const url = `http://127.0.0.1:${port}/`;
    expect((await get(proxyPort, url)).text).toBe("hello");
    expect(codeOf(await get(proxyPort, url, credentials))).toBe("policy_denied");
  });
});

describe("addresses", () => {
  it("of this machine and of the proxy itself are refused unless they are named, and the next request is served", async () => {
    const port = await host((_, outgoing) => void outgoing.end("hello"));
    const { proxyPort } = await proxied(port, {
      proxy: {
        privateHosts: ["app.test"],
        resolve: (name) =>
          Promise.resolve(name === "mixed.test" ? ["8.8.8.8", "127.0.0.1"] : ["127.0.0.1"]),
      },
    });
    const refused = async (url: string): Promise<unknown> => codeOf(await get(proxyPort, url));
    expect(await refused(`http://127.0.0.1:${port}/`)).toBe("address_refused");
    expect(await refused(`http://2130706433:${port}/`)).toBe("address_refused");
    expect(await refused(`http://[::ffff:127.0.0.1]:${port}/`)).toBe("address_refused");
    expect(await refused(`http://other.test:${port}/`)).toBe("address_refused");
    expect(await refused(`http://mixed.test:${port}/`)).toBe("address_refused");
    expect(await refused(`http://app.test:${proxyPort}/`)).toBe("address_refused");
    expect((await get(proxyPort, `http://app.test:${port}/`)).text).toBe("hello");
  });
});
