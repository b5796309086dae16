/** Servers that are reached by an address: Streamable HTTP, and the HTTP+SSE of before. */
import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { remoteUpstream } from "../src/remote/remote-upstream.js";
import { freePort, INIT, opened, SECRET } from "./support/remote-client.js";
import { echoServer, events, json, webServer } from "./support/web-server.js";
import type { Asked, WebServer } from "./support/web-server.js";

const posts = ({ asked }: WebServer): readonly Asked[] =>
  asked.filter(({ method }) => method === "POST");

describe("a remote server", () => {
  it("gets the bytes of the client, its session, its version and its credentials, and is told of the end", async () => {
    await using server = await webServer(echoServer(() => false));
    const odd = `{"id" : 7,"jsonrpc":"2.0","method":"vendor\\/x","params":{"n":1.0e+2,"s":"\\u0061"}}`;
    {
      await using at = await opened(server.url);
      at.client.raw(`${odd}\n`);
      await at.client.find(({ id }) => id === 7);
      await at.client.call(8, "echo", { a: 1 });
    }
    const sent = posts(server);
    expect(sent.map(({ body }) => body)).toContain(odd);
    for (const { headers, message } of sent) {
      const isFirst = message.method === "initialize";
      expect(headers).toMatchObject({
        authorization: SECRET,
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
      });
      expect(headers["mcp-session-id"]).toBe(isFirst ? undefined : "s-1");
      expect(headers["mcp-protocol-version"]).toBe(isFirst ? undefined : "2025-11-25");
    }
    expect(server.asked.filter(({ method }) => method === "DELETE")).toHaveLength(1);
  });

  it("may answer in a stream, with messages of its own before, in parts and over several lines", async () => {
    const answer = '{"jsonrpc":"2.0",\n"id":1,"result":{"n":1.0e+2}}';
    await using server = await webServer(
      echoServer(({ message }, response) => {
        if (message.id !== 1) return false;
        events(response);
        response.write(': hello\n\nevent: message\ndata: {"jsonrpc":"2.0","method":"notif');
        response.write('ications/vendor"}\n\ndata: no message\n\n');
        response.end(`id: 1\n${answer.replaceAll(/^/gmu, "data: ")}\n\n`);
        return true;
      }),
    );
    await using at = await opened(server.url);
    at.client.send({ id: 1, method: "vendor/x" });
    const { line } = await at.client.find(({ id }) => id === 1);
    expect(line).toBe(answer.replace("\n", " "));
    expect(at.client.lines.some((each) => each.includes("notifications/vendor"))).toBe(true);
    expect(at.client.lines.some((each) => each.includes("no message"))).toBe(false);
  });

  it("whose stream breaks is asked for the rest, from the last event on, and once more for each break", async () => {
    let resumed = 0;
    await using server = await webServer(
      echoServer(({ method, headers, message }, response) => {
        if (message.id === 1) {
          events(response);
          response.end("retry: 1\nid: e1\ndata:\n\n");
          return true;
        }
        if (method !== "GET" || headers["last-event-id"] === undefined) return false;
        events(response);
        if (++resumed === 1) response.end("id: e2\ndata:\n\n");
        else response.end('id: e3\ndata: {"jsonrpc":"2.0","id":1,"result":{"ok":true}}\n\n');
        return true;
      }),
    );
    await using at = await opened(server.url);
    expect((await at.client.request(1, "vendor/x")).result).toEqual({ ok: true });
    const ids = server.asked.flatMap(({ headers }) => headers["last-event-id"] ?? []);
    expect(ids).toEqual(["e1", "e2"]);
    expect(posts(server).filter(({ message }) => message.id === 1)).toHaveLength(1);
  });

  it("speaks by itself over a stream, which is opened again", async () => {
    let opens = 0;
    await using server = await webServer(
      echoServer(({ method }, response) => {
        if (method !== "GET") return false;
        events(response);
        const n = ++opens;
        response.write(
          `retry: 1\nid: n${n}\ndata: {"jsonrpc":"2.0","method":"notifications/n${n}"}\n\n`,
        );
        if (n < 3) response.end();
        return true;
      }),
    );
    await using at = await opened(server.url);
    await at.client.find(({ method }) => method === "notifications/n3");
    const ids = server.asked.map(({ headers }) => headers["last-event-id"]).filter(Boolean);
    expect(ids.slice(0, 2)).toEqual(["n1", "n2"]);
  });

  it("that always wants to be asked again is asked with a pause, and 64 requests at a time", async () => {
    let gets = 0;
    let atOnce = 0;
    let most = 0;
    const waiting: (() => void)[] = [];
    await using server = await webServer(
      echoServer(({ method, message }, response) => {
        if (method === "GET") {
          gets++;
          events(response);
          response.end("retry: 0\n\n");
          return true;
        }
        if (message.method !== "vendor/slow") return false;
        most = Math.max(most, ++atOnce);
        waiting.push(() => {
          atOnce--;
          json(response, 200, { jsonrpc: "2.0", id: message.id, result: {} });
        });
        return true;
      }),
    );
    await using at = await opened(server.url);
    const answers = Array.from({ length: 100 }, (_, n) =>
      at.client.request(`s${n}`, "vendor/slow"),
    );
    await expect.poll(() => waiting.length).toBe(64);
    at.client.send({ method: "notifications/vendor" });
    await expect
      .poll(() => posts(server).some(({ message }) => message.method === "notifications/vendor"))
      .toBe(true);
    await expect.poll(() => gets).toBeGreaterThan(2);
    for (let n = 0; n < 100; n++) {
      await expect.poll(() => waiting.length).toBeGreaterThan(0);
      waiting.shift()?.();
    }
    await Promise.all(answers);
    expect(most).toBe(64);
  });

  it("that never takes note of a notification is sent what comes after all the same", async () => {
    await using server = await webServer(
      // Left open.
      echoServer(({ message }) => message.method === "notifications/vendor"),
    );
    await using at = await opened(server.url);
    at.client.send({ method: "notifications/vendor" });
    expect((await at.client.request(1, "vendor/x")).result).toEqual({});
  });

  it("gets no credentials sent where it redirects", async () => {
    await using elsewhere = await webServer((_, response) => json(response, 200, {}));
    await using server = await webServer(
      echoServer(({ message }, response) => {
        if (message.id !== 1) return false;
        response.writeHead(307, { location: `${elsewhere.origin}/mcp` }).end();
        return true;
      }),
    );
    await using at = await opened(server.url);
    const { error } = await at.client.request(1, "vendor/x");
    expect(error?.message).toContain("redirects are not followed");
    expect(elsewhere.asked).toEqual([]);
  });

  it.each([
    [401, "it wants other credentials"],
    [403, "it wants other credentials"],
    [500, "HTTP 500"],
    [429, "HTTP 429"],
  ])("that answers %i is told of, without the credentials", async (status, text) => {
    await using server = await webServer(
      echoServer(({ message }, response) => {
        if (message.id !== 1) return false;
        response.writeHead(status, { "content-type": "text/html" }).end(`<h1>${SECRET}</h1>`);
        return true;
      }),
    );
    await using at = await opened(server.url);
    const { error } = await at.client.request(1, "vendor/x");
    expect(error?.message).toContain(text);
    expect([...at.client.lines, ...at.logs].join("\n")).not.toContain("s3cret");
  });

  it("may refuse with a message of its own, which is passed on", async () => {
    const refusal = '{"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"no","data":[1.0]}}';
    await using server = await webServer(
      echoServer(({ message }, response) => {
        if (message.id === 1) json(response, 400, refusal);
        return message.id === 1;
      }),
    );
    await using at = await opened(server.url);
    at.client.send({ id: 1, method: "vendor/x" });
    expect((await at.client.find(({ id }) => id === 1)).line).toBe(refusal);
  });

  it("that breaks off leaves the outcome unknown; one that is not there has done nothing", async () => {
    const server = await webServer(
      echoServer(({ message }, response) => {
        if (message.id === 1) response.destroy();
        return message.id === 1;
      }),
    );
    await using at = await opened(server.url);
    expect((await at.client.request(1, "vendor/x")).error?.message).toContain(
      "whether the request took effect is not known",
    );
    await server[Symbol.asyncDispose]();
    expect((await at.client.request(2, "vendor/x")).error?.message).toContain("nothing was done");
  });

  it("that ended its stream without an answer and without an event to go on from leaves it unknown", async () => {
    await using server = await webServer(
      echoServer(({ message }, response) => {
        if (message.id !== 1) return false;
        events(response);
        response.end();
        return true;
      }),
    );
    await using at = await opened(server.url);
    expect((await at.client.request(1, "vendor/x")).error?.message).toContain("not known");
  });

  it("that has ended the session is lost, and says so", async () => {
    let isOver = false;
    await using server = await webServer(
      echoServer((_, response) => {
        if (isOver)
          json(response, 404, { jsonrpc: "2.0", id: null, error: { code: 1, message: "x" } });
        return isOver;
      }),
    );
    await using at = await opened(server.url);
    isOver = true;
    const { error } = await at.client.request(1, "vendor/x");
    expect(error?.message).toContain("it has ended the session");
  });

  it.each([
    [
      "a body",
      (response: ServerResponse) =>
        json(response, 200, `{"id":1,"x":"${"a".repeat(11 * 1024 * 1024)}"}`),
    ],
    [
      "an event",
      (response: ServerResponse) => {
        events(response);
        response.end(`data: ${"a".repeat(11 * 1024 * 1024)}\n\n`);
      },
    ],
    ["no message", (response: ServerResponse) => json(response, 200, "[1,")],
  ])("whose answer is too long or none (%s) fails that request alone", async (_what, answer) => {
    await using server = await webServer(
      echoServer(({ message }, response) => {
        if (message.id === 1) answer(response);
        return message.id === 1;
      }),
    );
    await using at = await opened(server.url);
    expect((await at.client.request(1, "vendor/x")).error).toBeDefined();
    expect((await at.client.request(2, "vendor/y")).result).toEqual({});
  });

  it("with a session ID that no header can have is not used", async () => {
    await using server = await webServer(
      echoServer(({ message }, response) => {
        if (message.method !== "initialize") return false;
        json(
          response,
          200,
          { jsonrpc: "2.0", id: message.id, result: {} },
          { "mcp-session-id": "a b" },
        );
        return true;
      }),
    );
    await using at = await opened(server.url, false);
    const { error } = await at.client.request("init", "initialize", INIT);
    expect(error?.message).toContain("session ID is not one");
  });

  it("without sessions hears the method and the name in headers, as in the body", async () => {
    await using server = await webServer(echoServer(() => false));
    await using at = await opened(server.url, false);
    await at.client.call(
      1,
      "echo",
      { a: 1 },
      {
        _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" },
      },
    );
    const call = posts(server).find(({ message }) => message.id === 1);
    expect(call?.headers).toMatchObject({
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "echo",
    });
    expect(call?.message).toMatchObject({ method: "tools/call", params: { name: "echo" } });
  });

  it("that cannot be reached at all fails the start, and says why", async () => {
    const port = await freePort();
    await using at = await opened(`http://127.0.0.1:${port}/mcp`, false);
    const { error } = await at.client.request("init", "initialize", INIT);
    expect(error?.message).toMatch(/cannot be reached: .*ECONNREFUSED/u);
  });
});

describe("a server of before", () => {
  it("that names an address of another origin to post to gets nothing there", async () => {
    let tellStolen: (what: string) => void = () => {};
    const stolen = new Promise<string>((resolve) => (tellStolen = resolve));
    await using elsewhere = await webServer(({ body }, response) => {
      tellStolen(body);
      response.writeHead(202).end();
    });
    await using server = await webServer(({ method }, response) => {
      if (method !== "GET") return response.writeHead(405).end();
      events(response);
      return response.write(`event: endpoint\ndata: ${elsewhere.origin}/steal\n\n`);
    });
    await using at = await opened(server.url, false);
    const answered = at.client.request("init", "initialize", INIT);
    const told = await Promise.race([answered.then(({ error }) => error?.message), stolen]);
    expect(told).toContain("another origin");
    expect(elsewhere.asked).toEqual([]);
  });
});

it.each(["ftp://a/", "http://example.com/mcp", "http://127.0.0.1.evil.example/", "no address", ""])(
  "remoteUpstream() refuses %j",
  (url) => {
    expect(() => remoteUpstream({ name: "a", url })).toThrow("https://");
  },
);
