import { connect } from "node:net";
import { createServer } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { listen, stopServer } from "../test/receiver.js";
import { type FetchHandler, toNodeHandler } from "./node-handler.js";

const stops: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

async function serve(handler: FetchHandler): Promise<number> {
  const server = createServer(toNodeHandler(handler));
  stops.push(() => stopServer(server));
  return listen(server);
}

/** What a server says to these very bytes. */
function raw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    socket.on("data", (chunk: Buffer) => (said += chunk.toString("latin1")));
    socket.on("close", () => resolve(said));
    socket.on("error", reject);
  });
}

const echo: FetchHandler = async (request) => {
  const { pathname, host } = new URL(request.url);
  return Response.json({ method: request.method, pathname, host, type: request.headers.get("content-type"), body: await request.text() });
};

describe("toNodeHandler()", () => {
  it("hands on method, path, headers and the very bytes, and writes the response out", async () => {
    const port = await serve(echo);
    const response = await fetch(`http://127.0.0.1:${port}/a/b?c=d`, { method: "POST", body: "grüße", headers: { "content-type": "x/y" } });
    expect(await response.json()).toEqual({ method: "POST", pathname: "/a/b", host: "localhost", type: "x/y", body: "grüße" });
  });

  it("answers HEAD without a body", async () => {
    const port = await serve(async () => new Response("text", { status: 404, headers: { "x-mark": "1" } }));
    const response = await fetch(`http://127.0.0.1:${port}/`, { method: "HEAD" });
    expect([response.status, response.headers.get("x-mark"), await response.text()]).toEqual([404, "1", ""]);
  });

  it.each([
    ["GET //evil.example/a HTTP/1.1", '"pathname":"/evil.example/a"'],
    ["GET http://evil.example/a HTTP/1.1", '"pathname":"/a"'],
    ["GET /a HTTP/1.1", '"host":"localhost"'],
    ["OPTIONS * HTTP/1.1", '"pathname":"/*"'],
  ])("trusts no host: %s", async (line, want) => {
    const port = await serve(echo);
    const said = await raw(port, `${line}\r\nhost: evil.example:99999\r\nconnection: close\r\n\r\n`);
    expect(said).toContain(want);
    expect(said).toContain('"host":"localhost"');
  });

  it("refuses what is no request, and lives on", async () => {
    const port = await serve(echo);
    expect(await raw(port, "TRACE / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 /);
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200);
  });

  it("does not wait for a body that nobody reads", async () => {
    const port = await serve(async () => new Response(null, { status: 413 }));
    const said = await raw(port, "POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 1000000\r\n\r\nstart");
    expect(said).toMatch(/^HTTP\/1\.1 413 /);
  });

  it("lets who sends too much hear about it", async () => {
    const port = await serve(async () => new Response(null, { status: 413 }));
    const response = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: new Uint8Array(8 * 1024 * 1024) });
    expect(response.status).toBe(413);
  });

  it("cuts the connection where the handler throws", async () => {
    const port = await serve(() => Promise.reject(new Error("broken")));
    expect(await raw(port, "GET / HTTP/1.1\r\nhost: x\r\n\r\n")).toBe("");
  });
});
