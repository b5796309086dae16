/** Servers at an address that are slow, or break off where it matters. */
import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { remoteUpstream } from "../src/remote/remote-upstream.js";
import { ALLOW_ALL, proxied } from "./support/proxied.js";
import { INIT, opened } from "./support/remote-client.js";
import { echoServer, events, json, webServer } from "./support/web-server.js";

describe("a remote server", () => {
  it("that took a request and does not give the rest of its answer leaves it unknown", async () => {
    let isOver = false;
    await using server = await webServer(
      echoServer(({ headers, message }, response) => {
        const isRest = headers["last-event-id"] !== undefined;
        if (isRest && isOver) response.destroy();
        else if (isRest) json(response, 401, {}, { "www-authenticate": "Bearer" });
        else if (message.method !== "vendor/x") return false;
        else {
          events(response);
          response.end("retry: 1\nid: e1\ndata:\n\n");
        }
        return true;
      }),
    );
    const needed = { code: "authorization_needed", message: "sign in; nothing was done" };
    const { client, proxy } = proxied({
      policy: ALLOW_ALL,
      upstreams: [
        {
          name: "web",
          url: server.url,
          authorization: {
            header: () => Promise.resolve("Bearer a"),
            refused: () => Promise.resolve(needed),
            masker: () => undefined,
          },
        },
      ],
    });
    await client.request("init", "initialize", INIT);
    for (const id of [1, 2]) {
      const { error } = await client.request(id, "vendor/x");
      expect(error).toMatchObject({
        message: expect.stringContaining("whether the request took effect is not known"),
        data: { code: "server_unavailable" },
      });
      expect(error?.message).not.toContain("nothing was done");
      isOver = true;
    }
    await proxy.close();
  });

  it("whose answer is too long is not read to its end", async () => {
    const part = Buffer.alloc(64 * 1024, "x");
    const said = { parts: 0, all: 1_000 };
    await using server = await webServer(
      echoServer(({ message }, response) => {
        if (message.method !== "vendor/x") return false;
        response.writeHead(200, { "content-type": "application/json" });
        const more = function* (): Generator<Buffer> {
          for (; said.parts < said.all; said.parts++) yield part;
        };
        Readable.from(more()).pipe(response);
        return true;
      }),
    );
    const { client, proxy } = proxied({
      policy: ALLOW_ALL,
      upstreams: [{ name: "web", url: server.url, limits: { messageBytesMax: 10_000 } }],
    });
    await client.request("init", "initialize", INIT);
    expect((await client.request(1, "vendor/x")).error?.data).toEqual({ code: "answer_too_large" });
    expect(said.parts).toBeLessThan(said.all);
    await proxy.close();
  });

  it("that gives an answer to what nobody asked ends the request that it gave it for", async () => {
    const odd: Readonly<Record<string, (id: unknown) => unknown>> = {
      "vendor/other": () => ({ jsonrpc: "2.0", id: "nobody's", result: {} }),
      "vendor/text": (id) => ({ jsonrpc: "2.0", id: String(id), result: {} }),
      "vendor/null": () => ({ jsonrpc: "2.0", id: null, error: { code: -1, message: "no" } }),
      "vendor/asks": (id) => ({ jsonrpc: "2.0", id, method: "ping" }),
      "vendor/none": () => ({}),
    };
    const open: ServerResponse[] = [];
    await using server = await webServer(
      echoServer(({ headers, message }, response) => {
        const [method = "", how] = message.method?.split(":") ?? [];
        const answer = odd[method];
        if (answer === undefined || headers["last-event-id"] !== undefined) return false;
        if (how === "body") json(response, 200, answer(message.id));
        else {
          open.push(response);
          events(response);
          // It stays open.
          response.write(`data: ${JSON.stringify(answer(message.id))}\n\n`);
        }
        return true;
      }),
    );
    await using at = await opened(server.url);
    let id = 0;
    const asked = [
      ...Object.keys(odd).map((method) => `${method}:body`),
      ...["vendor/other", "vendor/text", "vendor/null"].map((method) => `${method}:stream`),
    ];
    for (const method of asked)
      expect([method, (await at.client.request(++id, method)).error]).toMatchObject([
        method,
        {
          message: expect.stringContaining("whether the request took effect is not known"),
          data: { code: "answer_unreadable" },
        },
      ]);
    expect(open.length).toBe(3);
    expect(await at.client.call(99, "echo", {})).toMatchObject({ result: { content: [{}] } });
  });

  it("that answers one request in the stream of another has answered it", async () => {
    let first: { readonly id: unknown; readonly response: ServerResponse } | undefined;
    await using server = await webServer(
      echoServer(({ message }, response) => {
        const answer = (id: unknown): string =>
          `data: ${JSON.stringify({ jsonrpc: "2.0", id, result: { of: id } })}\n\n`;
        if (message.method === "vendor/one") {
          first = { id: message.id, response };
          events(response);
        } else if (message.method === "vendor/two") {
          events(response);
          response.end(answer(first?.id) + answer(message.id));
        } else return false;
        return true;
      }),
    );
    await using at = await opened(server.url);
    const one = at.client.request(1, "vendor/one");
    await expect.poll(() => first).toBeDefined();
    const two = at.client.request(2, "vendor/two");
    expect((await two).result).toEqual({ of: 2 });
    expect((await one).result).toEqual({ of: 1 });
  });

  it("is listened to again after trouble, and not where it has no such stream", async () => {
    let opens = 0;
    await using server = await webServer(
      echoServer(({ method }, response) => {
        if (method !== "GET") return false;
        const n = ++opens;
        if (n === 1) {
          events(response);
          response.end("retry: 50\n\n");
        } else if (n === 2) response.destroy();
        else if (n < 5) response.writeHead(n === 3 ? 503 : 401).end();
        else if (n > 5) return false;
        else {
          events(response);
          response.end('data: {"jsonrpc":"2.0","method":"notifications/late"}\n\n');
        }
        return true;
      }),
    );
    await using at = await opened(server.url);
    await at.client.find(({ method }) => method === "notifications/late");
    expect(at.logs.filter((line) => line.includes("not heard for now"))).toHaveLength(1);
    await expect.poll(() => opens).toBe(6);
  });

  it("is not asked for the rest of an answer that was taken back", async () => {
    let isClosed = false;
    await using server = await webServer(
      echoServer(({ method, headers, message }, response) => {
        if (message.id === 1) {
          events(response);
          response.end("retry: 1\nid: e1\ndata:\n\n");
          return true;
        }
        if (method !== "GET" || headers["last-event-id"] === undefined) return false;
        response.on("close", () => (isClosed = true));
        events(response);
        return true;
      }),
    );
    await using at = await opened(server.url);
    at.client.send({ id: 1, method: "vendor/x" });
    await expect
      .poll(() => server.asked.some(({ headers }) => headers["last-event-id"] === "e1"))
      .toBe(true);
    at.client.send({ method: "notifications/cancelled", params: { requestId: 1 } });
    await expect.poll(() => isClosed).toBe(true);
  });

  it("that is slow to take note of notifications is not given more than a few", async () => {
    const held: ServerResponse[] = [];
    await using server = await webServer((_asked, response) => held.push(response));
    const { stdin, kill } = await remoteUpstream({ name: "web", url: server.url }).start();
    const text = "x".repeat(3 * 1024 * 1024);
    const line = `${JSON.stringify({ jsonrpc: "2.0", method: "notifications/vendor", params: { text } })}\n`;
    let taken = 0;
    for (let n = 0; n < 10; n++) stdin.write(line, () => taken++);
    for (let n = 1; n <= 10; n++) {
      await expect.poll(() => held.length).toBeGreaterThan(0);
      // The next one, and one more.
      expect(taken).toBeLessThanOrEqual(n + 2);
      held.shift()?.writeHead(202).end();
    }
    await expect.poll(() => taken).toBe(10);
    kill();
  });
});

it("a notification that is never taken note of takes up no connection for good", async () => {
  let isClosed = false;
  await using server = await webServer((_asked, response) =>
    response.on("close", () => (isClosed = true)),
  );
  const { stdin, kill } = await remoteUpstream({ name: "web", url: server.url }).start();
  const timers = vi.spyOn(globalThis, "setTimeout");
  onTestFinished(() => timers.mockRestore());
  stdin.write('{"jsonrpc":"2.0","method":"notifications/vendor"}\n');
  const last = (): (() => void) | undefined =>
    timers.mock.calls.find(([, ms]) => ms === 60_000)?.[0];
  await expect.poll(() => server.asked.length > 0 && last() !== undefined).toBe(true);
  expect(isClosed).toBe(false);
  last()?.();
  await expect.poll(() => isClosed).toBe(true);
  kill();
});

describe("a server of before", () => {
  it("may answer before the POST has its response, which may say something else or never come", async () => {
    let stream: ServerResponse | undefined;
    await using server = await webServer(({ method, url, message }, response) => {
      if (url === "/mcp" && method === "POST") return response.writeHead(405).end();
      if (method === "GET") {
        stream = response;
        events(response);
        return response.write("event: endpoint\ndata: /post\n\n");
      }
      const result =
        message.method === "initialize" ? { ...INIT, serverInfo: INIT.clientInfo } : {};
      const answer = JSON.stringify({ jsonrpc: "2.0", id: message.id, result });
      if (message.id !== undefined) stream?.write(`data: ${answer}\n\n`);
      if (message.id === 1) return undefined;
      // Long after the answer was read.
      const status = message.id === 2 ? 500 : 202;
      return setTimeout(() => response.writeHead(status).end(), 50);
    });
    await using at = await opened(server.url);
    for (const id of [1, 2, 3])
      expect((await at.client.request(id, "vendor/x")).result).toEqual({});
    await expect.poll(() => at.logs.join()).toContain("HTTP 500");
    expect(at.client.lines.filter((line) => line.includes('"id":2,'))).toHaveLength(1);
  });
});
