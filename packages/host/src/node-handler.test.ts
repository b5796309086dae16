import { once } from "node:events";
import { type IncomingMessage, type Server, createServer, request as ask } from "node:http";
import { connect as connectHttp2, createServer as createHttp2Server } from "node:http2";
import { type Socket, connect } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type FetchHandler, toNodeHandler } from "./node-handler.js";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

async function serve(handler: FetchHandler): Promise<number> {
  const server: Server = createServer(toNodeHandler(handler));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  open.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

async function get(
  port: number,
  path: string,
  headers: Record<string, string> = {},
): Promise<{ status: number | undefined; text: string }> {
  const outgoing = ask({ host: "127.0.0.1", port, path, headers }).end();
  const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
  let text = "";
  for await (const chunk of incoming) text += String(chunk);
  return { status: incoming.statusCode, text };
}

const wait = (what: () => boolean): Promise<void> =>
  vi.waitFor(() => expect(what()).toBe(true), { timeout: 120_000, interval: 5 });

describe("toNodeHandler()", () => {
  it("hands on method, path, query, headers and body", async () => {
    const port = await serve(async (request) => {
      const { pathname, search } = new URL(request.url);
      return Response.json({
        method: request.method,
        pathname,
        search,
        host: request.headers.get("host"),
        body: await request.text(),
      });
    });
    expect(
      JSON.parse((await get(port, "/api/history?limit=5", { host: "localhost:8789" })).text),
    ).toEqual({
      method: "GET",
      pathname: "/api/history",
      search: "?limit=5",
      host: "localhost:8789",
      body: "",
    });
    const posted = ask({ host: "127.0.0.1", port, path: "/x", method: "POST" }).end("hello");
    const [incoming] = (await once(posted, "response")) as [IncomingMessage];
    let text = "";
    for await (const chunk of incoming) text += String(chunk);
    expect(JSON.parse(text)).toMatchObject({ method: "POST", body: "hello" });
  });

  it.each(["//evil.example/x", "http://evil.example/x", "HTTPS://evil.example/x"])(
    "reads no host from the path %s",
    async (path) => {
      const port = await serve(
        async (request) =>
          new Response(`${new URL(request.url).host} ${request.headers.get("host") ?? ""}`),
      );
      expect((await get(port, path, { host: "localhost:8789" })).text).toBe(
        "host.invalid localhost:8789",
      );
    },
  );

  it("names no host of its own where the request names none", async () => {
    const port = await serve(
      async (request) =>
        new Response(`${new URL(request.url).host} ${String(request.headers.get("host"))}`),
    );
    const socket: Socket = connect(port, "127.0.0.1");
    socket.write("GET / HTTP/1.0\r\n\r\n");
    let text = "";
    for await (const chunk of socket) text += String(chunk);
    expect(text).toMatch(/host\.invalid null$/);
  });

  it("hands a stream on piece by piece, and ends it when its reader leaves", async () => {
    let isCancelled = false;
    let write: (text: string) => void = () => undefined;
    const body = new ReadableStream({
      start(controller) {
        write = (text) => controller.enqueue(new TextEncoder().encode(text));
      },
      cancel: () => void (isCancelled = true),
    });
    const port = await serve(
      async () => new Response(body, { headers: { "content-type": "text/event-stream" } }),
    );
    const outgoing = ask({ host: "127.0.0.1", port }).end();
    outgoing.on("error", () => undefined);
    write("one");
    const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
    expect(String((await once(incoming, "data"))[0])).toBe("one");
    write("two");
    expect(String((await once(incoming, "data"))[0])).toBe("two");
    outgoing.destroy();
    await wait(() => isCancelled);
  });

  it("takes no more of a stream than its reader does", async () => {
    let pulled = 0;
    const body = new ReadableStream(
      {
        pull(controller) {
          pulled++;
          controller.enqueue(new Uint8Array(64 * 1024));
        },
      },
      { highWaterMark: 0 },
    );
    const port = await serve(async () => new Response(body));
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => undefined);
    socket.pause();
    socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
    await wait(() => pulled > 0);
    // What the two kernels' buffers hold is taken; then it stands still.
    let before = -1;
    await wait(() => {
      const isStill = before === pulled;
      before = pulled;
      return isStill;
    });
    expect(pulled).toBeLessThan(1_000);
    socket.destroy();
  });

  it("ends a response that came after its reader left", async () => {
    let isCancelled = false;
    let answer: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => (answer = resolve));
    let isAsked = false;
    const port = await serve(async () => {
      isAsked = true;
      await asked;
      return new Response(new ReadableStream({ cancel: () => void (isCancelled = true) }));
    });
    const outgoing = ask({ host: "127.0.0.1", port }).end();
    outgoing.on("error", () => undefined);
    await wait(() => isAsked);
    const left = new Promise((resolve) => outgoing.on("close", resolve));
    outgoing.destroy();
    await left;
    answer();
    await wait(() => isCancelled);
  });

  it("answers who sends too much, and reads no more of it", async () => {
    const port = await serve(async () => new Response("enough", { status: 413 }));
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => undefined);
    socket.write("POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 100000000\r\n\r\nxxxx");
    let text = "";
    socket.on("data", (chunk) => (text += String(chunk)));
    await wait(() => text.includes("enough"));
    expect(text).toMatch(/^HTTP\/1\.1 413 [\s\S]*connection: close/i);
    socket.destroy();
  });

  it("answers 400 to a method that no request can have", async () => {
    const port = await serve(async () => new Response("no"));
    const socket = connect(port, "127.0.0.1");
    socket.write("TRACE / HTTP/1.1\r\nhost: x\r\n\r\n");
    let text = "";
    for await (const chunk of socket) text += String(chunk);
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
  });

  it("closes the connection where the handler fails", async () => {
    const port = await serve(async () => Promise.reject(new Error("no")));
    await expect(get(port, "/")).rejects.toThrow("socket hang up");
  });

  it("reads the authority of HTTP/2", async () => {
    const listener = toNodeHandler(async (request) => new Response(request.headers.get("host")));
    const server = createHttp2Server((incoming, outgoing) =>
      listener(incoming as never, outgoing as never),
    );
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const client = connectHttp2(
      `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`,
    );
    const stream = client.request({ ":path": "/", ":authority": "localhost:8789" });
    let text = "";
    for await (const chunk of stream) text += String(chunk);
    expect(text).toBe("localhost:8789");
    client.close();
    server.close();
    await once(server, "close");
  });

  it("answers HEAD without a body", async () => {
    const headers = { "x-mark": "1" };
    const port = await serve(async () => new Response("text", { status: 404, headers }));
    const response = await fetch(`http://127.0.0.1:${port}/`, { method: "HEAD" });
    const text = await response.text();
    expect([response.status, response.headers.get("x-mark"), text]).toEqual([404, "1", ""]);
  });

  it("takes an asterisk for a path", async () => {
    const port = await serve(async (request) => new Response(new URL(request.url).pathname));
    const socket = connect(port, "127.0.0.1");
    socket.write("OPTIONS * HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    let text = "";
    for await (const chunk of socket) text += String(chunk);
    expect(text).toMatch(/^HTTP\/1\.1 200 [\s\S]*\/\*/);
  });

  it("refuses a request whose body a parser before it has read", async () => {
    const listener = toNodeHandler(async () => new Response("no"));
    const server = createServer((incoming, outgoing) => {
      incoming.resume().on("end", () => listener(incoming, outgoing));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    open.push(async () => void server.close());
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const response = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: "x" });
    const text = await response.text();
    expect([response.status, text]).toEqual([500, "mount this handler before body parsers\n"]);
  });

  it("lets a client that sends too much hear about it", async () => {
    const port = await serve(async () => new Response(null, { status: 413 }));
    const body = new Uint8Array(8 * 1024 * 1024);
    const response = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body });
    expect(response.status).toBe(413);
  });
});
