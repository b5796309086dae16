import { EventEmitter, once } from "node:events";
import { createServer, type IncomingHttpHeaders, request } from "node:http";
import {
  type AddressInfo,
  connect,
  createServer as createRawServer,
  type Server,
  type Socket,
} from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { memoryAuditSink } from "@acp/audit";
import { createConsentGate, makeResponse } from "@acp/core";
import { parsePolicy } from "@acp/core/policy";
import type { Channel, Decision } from "@acp/core";
import { createGatedProxy } from "./proxy.js";
import { isPublic } from "./reach.js";

const policy = parsePolicy({
  version: "1",
  default: "deny",
  rules: [
    { match: { kind: "http", host: "127.0.0.1", method: "GET" }, action: "allow" },
    { match: { kind: "http", host: "127.0.0.1", method: "POST" }, action: "ask" },
  ],
});

/** A person who always says the same. */
const always = (decision: Decision): Channel => ({
  name: "test",
  async deliver(question, session) {
    await session.submit(makeResponse(question, { decision, nowMs: Date.now(), channel: "test" }));
  },
});

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

interface Setup extends AsyncDisposable {
  readonly reached: readonly string[];
  readonly events: () => readonly string[];
  readonly send: (
    method: string,
    url?: string,
    body?: string,
  ) => Promise<{ readonly status: number | undefined; readonly body: string }>;
}

async function setUp(decision: Decision): Promise<Setup> {
  const reached: string[] = [];
  const upstream = createServer((incoming, outgoing) => {
    void text(incoming).then((body) => {
      reached.push(`${incoming.method} ${incoming.url} ${body}`.trim());
      outgoing.end("from upstream");
    });
  });
  const upstreamPort = await listen(upstream);
  const audit = memoryAuditSink();
  const gate = createConsentGate({ policy, channel: always(decision), audit });
  const proxy = createGatedProxy(gate, {
    mayReach: (address) => address === "127.0.0.1" || isPublic(address),
  });
  const port = await listen(proxy);
  return {
    reached,
    events: () => audit.events().map(({ eventType }) => eventType),
    send: (method, url = `http://127.0.0.1:${upstreamPort}/items`, body = "") =>
      new Promise((resolve, reject) => {
        const sent = request(
          { host: "127.0.0.1", port, method, path: url, agent: false },
          (answer) => {
            text(answer).then(
              (received) => resolve({ status: answer.statusCode, body: received }),
              reject,
            );
          },
        );
        sent.on("error", reject).end(body);
      }),
    async [Symbol.asyncDispose]() {
      await gate.close();
      for (const server of [proxy, upstream]) await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe("createGatedProxy()", () => {
  it("forwards what the policy allows, and logs it", async () => {
    await using setup = await setUp("denied");
    expect(await setup.send("GET")).toEqual({ status: 200, body: "from upstream" });
    expect(setup.reached).toEqual(["GET /items"]);
    expect(setup.events()).toContain("tool_call_completed");
  });

  it("forwards with its body what a person approves", async () => {
    await using setup = await setUp("approved");
    expect((await setup.send("POST", undefined, "x=1")).status).toBe(200);
    expect(setup.reached).toEqual(["POST /items x=1"]);
  });

  it("answers 403 with the code when a person denies, and reaches nobody", async () => {
    await using setup = await setUp("denied");
    const { status, body } = await setup.send("POST");
    expect([status, JSON.parse(body).code]).toEqual([403, "consent_denied"]);
    expect(setup.reached).toEqual([]);
  });

  it("answers 403 with the code when the policy denies, and reaches nobody", async () => {
    await using setup = await setUp("approved");
    const { status, body } = await setup.send("DELETE");
    expect([status, JSON.parse(body).code]).toEqual([403, "policy_denied"]);
    expect(setup.reached).toEqual([]);
  });

  it("forwards nothing that has no single reading", async () => {
    await using setup = await setUp("approved");
    expect((await setup.send("GET", "/items")).status).toBe(502);
    expect(setup.reached).toEqual([]);
  });
});

/**
 * An upstream that answers in its own way, a proxy before it, and what clients of the proxy get.
 */
async function misbehaving(
  answer: (socket: Socket, requests: number) => void,
  mayReach?: (address: string) => boolean,
) {
  let heads = "";
  let requests = 0;
  const sockets = new Set<Socket>();
  const upstream = createRawServer((socket) => {
    sockets.add(socket.on("error", () => undefined));
    socket.on("data", (chunk) => {
      heads += chunk.toString("latin1");
      if (/\r\n\r\n/.test(heads)) answer(socket, (requests += 1));
    });
  });
  const upstreamPort = await listen(upstream);
  const audit = memoryAuditSink();
  const gate = createConsentGate({ policy, channel: always("approved"), audit });
  const proxy = createGatedProxy(gate, {
    mayReach: mayReach ?? ((address) => address === "127.0.0.1"),
  });
  const port = await listen(proxy);
  const url = `http://127.0.0.1:${upstreamPort}/items`;
  return {
    url,
    port,
    heads: () => heads,
    requests: () => requests,
    events: () => audit.events().map(({ eventType }) => eventType),
    outcomes: () =>
      audit
        .events()
        .flatMap(({ eventType, metadata }) =>
          eventType === "tool_call_completed" ? [metadata?.["outcome"]] : [],
        ),
    /**
     * What a client gets: the status and the body, or "cut" where the connection ends before the
     * body does.
     */
    async get(
      headers: Readonly<Record<string, string>> = {},
      path: string = url,
    ): Promise<readonly [number | undefined, string, IncomingHttpHeaders?]> {
      const sent = request({
        host: "127.0.0.1",
        port,
        method: "GET",
        path,
        headers,
        agent: false,
      }).end();
      const [got] = await once(sent, "response");
      return [got.statusCode, await text(got).catch(() => "cut"), got.headers];
    },
    /** Bytes sent to the proxy as they are, and all that comes back. */
    async raw(bytes: string): Promise<string> {
      const socket = connect(port, "127.0.0.1").setEncoding("latin1");
      socket.write(bytes);
      return text(socket);
    },
    async [Symbol.asyncDispose]() {
      await gate.close();
      for (const socket of sockets) socket.destroy();
      proxy.closeAllConnections();
      for (const server of [proxy, upstream]) await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** What the client is told where nothing came. */
const ANY_TEXT: string = expect.any(String);
const GOOD = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

describe("createGatedProxy() before an upstream that misbehaves", () => {
  it.each<readonly [string, string, readonly [number, string]]>([
    ["cuts its body", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", [200, "cut"]],
    [
      "cuts a chunk",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\nhalf",
      [200, "cut"],
    ],
    [
      "sends long trailers",
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Long: ${"x".repeat(100_000)}\r\n\r\n`,
      [200, "cut"],
    ],
    ["sends half a head", "HTTP/1.1 200 OK\r\nContent-Le", [502, ANY_TEXT]],
    ["says nothing", "", [502, ANY_TEXT]],
    ["speaks another protocol", "SSH-2.0-OpenSSH_9.2\r\n", [502, ANY_TEXT]],
    [
      "switches protocols",
      "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
      [502, ANY_TEXT],
    ],
  ])("that %s, tells the client and goes on serving", async (_, answer, want) => {
    await using setup = await misbehaving((socket, requests) =>
      socket.end(requests === 1 ? answer : GOOD, "latin1"),
    );
    expect((await setup.get()).slice(0, 2)).toEqual(want);
    expect((await setup.get()).slice(0, 2)).toEqual([200, "ok"]);
    expect(setup.outcomes()).toEqual(["failed", "performed"]);
  });

  it("goes on serving when the client leaves first", async () => {
    const arrivals = new EventEmitter();
    await using setup = await misbehaving(
      (socket, requests) => void (requests === 1 ? arrivals.emit("first") : socket.end(GOOD)),
    );
    const first = once(arrivals, "first");
    const leaving = connect(setup.port, "127.0.0.1");
    leaving.write(`GET ${setup.url} HTTP/1.1\r\nHost: x\r\n\r\n`);
    await first;
    leaving.destroy();
    expect((await setup.get()).slice(0, 2)).toEqual([200, "ok"]);
  });
});

describe("createGatedProxy() keeps to itself", () => {
  it("headers of the client's connection, and those of the upstream's", async () => {
    const answer =
      "HTTP/1.1 200 OK\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nProxy-Authenticate: Basic\r\nX-End: 2\r\nContent-Length: 2\r\n\r\nok";
    await using setup = await misbehaving((socket) => socket.end(answer));
    const mine = {
      "Proxy-Authorization": "Basic c2VjcmV0",
      Connection: "X-Mine, upgrade",
      Upgrade: "h2c",
      "X-Mine": "1",
      TE: "trailers",
      "X-End": "1",
    };
    const [status, , headers] = await setup.get(mine);
    expect(status).toBe(200);
    expect(setup.heads().toLowerCase()).toMatch(/x-end: 1/);
    expect(setup.heads().toLowerCase()).not.toMatch(/proxy-authorization|upgrade|h2c|x-mine|\bte:/);
    expect(headers).toMatchObject({ "x-end": "2" });
    expect(Object.keys(headers ?? {})).not.toEqual(expect.arrayContaining(["x-hop"]));
    expect(headers).not.toHaveProperty("proxy-authenticate");
  });

  it("no second request in the body of a first one", async () => {
    await using setup = await misbehaving((socket) => socket.end(GOOD));
    const hidden = "DELETE /items HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    const chunked = `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`;
    await setup.raw(
      `GET ${setup.url} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n${chunked}`,
    );
    expect(setup.heads()).toMatch(/^GET \/items HTTP\/1\.1\r\n[^]*transfer-encoding: chunked/i);
    expect(setup.heads()).toContain(chunked);
    const odd = await setup.raw(
      `GET ${setup.url} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\nConnection: close\r\n\r\n0\r\n\r\n`,
    );
    expect(odd).toMatch(/^HTTP\/1\.1 (?:400|502)/);
    expect(setup.requests()).toBe(1);
  });
});

describe("createGatedProxy() reaches nothing of this machine", () => {
  it.each([
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f.1",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "0.0.0.0",
    "169.254.169.254",
    "10.0.0.1",
    "localhost",
    "LOCALHOST.",
    "x.localhost",
  ])("not by %s, and asks nobody", async (host) => {
    await using setup = await misbehaving((socket) => socket.end(GOOD), isPublic);
    const [status] = await setup.get({}, `http://${host}:${new URL(setup.url).port}/items`);
    expect(status).toBe(502);
    expect([setup.requests(), setup.events()]).toEqual([0, []]);
  });
});
