import { type RequestListener, createServer } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { listen, stopServer } from "../test/receiver.js";
import { type Reply, createPost } from "./post.js";
import { readTarget } from "./target.js";

const stops: (() => Promise<void>)[] = [];
const never = new AbortController().signal;

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  stops.push(() => stopServer(server));
  return listen(server);
}

function send(
  url: string,
  { signal = never, addresses = ["127.0.0.1"], body = new TextEncoder().encode("{}") } = {},
): Promise<Reply> {
  return createPost(
    readTarget(url, ["receiver.test"]),
    undefined,
  )({ headers: { "webhook-id": "msg_1" }, body, addresses, signal });
}

describe("createPost()", () => {
  it("posts the very bytes, with their length and its headers, to path and query", async () => {
    const seen: unknown[] = [];
    const port = await serve((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const { host: _host, ...headers } = request.headers;
        seen.push(request.method, request.url, headers, Buffer.concat(chunks).toString("hex"));
        response.writeHead(202).end();
      });
    });
    const reply = await send(`http://127.0.0.1:${port}/acp/in?tenant=1`, {
      body: Uint8Array.of(0xff, 0x00, 0x7b),
    });
    expect(reply).toMatchObject({ status: 202, body: Buffer.alloc(0) });
    expect(seen).toEqual([
      "POST",
      "/acp/in?tenant=1",
      {
        "webhook-id": "msg_1",
        "content-type": "application/json; charset=utf-8",
        "content-length": "3",
        "accept-encoding": "identity",
        "user-agent": "acp-channel-webhook",
        connection: "close",
      },
      "ff007b",
    ]);
  });

  it("connects to the address that was checked, whatever the name means to the system", async () => {
    const port = await serve(
      (request, response) => void response.writeHead(200).end(request.headers.host),
    );
    // A name under .localhost, which the system's resolver may answer in its own way.
    const target = { ...readTarget(`http://localhost:${port}/`, []), host: "no-such-name.invalid" };
    const reply = await createPost(
      target,
      undefined,
    )({ headers: {}, body: new Uint8Array(0), addresses: ["127.0.0.1"], signal: never });
    expect(String(reply.body)).toBe(`no-such-name.invalid:${port}`);
  });

  it.each([301, 302, 303, 307, 308])(
    "follows no redirect (%i), and reads nothing of it",
    async (status) => {
      let hits = 0;
      const port = await serve((request, response) => {
        hits++;
        response
          .writeHead(request.url === "/" ? status : 200, { location: "/other" })
          .end("elsewhere");
      });
      expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({ status, body: undefined });
      expect(hits).toBe(1);
    },
  );

  it("reads a reply up to two MiB and no further, however long it goes on", async () => {
    const MIB = 1024 * 1024;
    const port = await serve((request, response) => {
      response.writeHead(200);
      if (request.url === "/fits") return void response.end(Buffer.alloc(2 * MIB));
      const more = (): boolean => response.write(Buffer.alloc(MIB));
      response.on("drain", more);
      more();
    });
    expect((await send(`http://127.0.0.1:${port}/fits`)).body).toHaveLength(2 * MIB);
    expect(await send(`http://127.0.0.1:${port}/endless`)).toMatchObject({
      status: 200,
      body: undefined,
    });
  });

  it("fails where a reply breaks off, where nobody listens, and where nothing that was said is HTTP", async () => {
    const port = await serve((request, response) => {
      if (request.url === "/garbage") return void request.socket.end("SSH-2.0-x\r\n");
      response.writeHead(200, { "content-length": "100" });
      response.write("half", () => response.destroy());
    });
    await expect(send(`http://127.0.0.1:${port}/half`)).rejects.toMatchObject({
      code: "ECONNRESET",
    });
    await expect(send(`http://127.0.0.1:${port}/garbage`)).rejects.toMatchObject({
      code: expect.stringMatching(/^HPE_/),
    });
    const closed = createServer();
    const free = await listen(closed);
    await stopServer(closed);
    await expect(send(`http://127.0.0.1:${free}/`)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  it("stops when it is told to, before and in the middle", async () => {
    let asked = (): void => undefined;
    const arrived = new Promise<void>((resolve) => (asked = resolve));
    const port = await serve(() => asked());
    const leaving = new AbortController();
    const waiting = send(`http://127.0.0.1:${port}/`, { signal: leaving.signal });
    await arrived;
    leaving.abort();
    await expect(waiting).rejects.toMatchObject({ name: "AbortError" });
    await expect(
      send(`http://127.0.0.1:${port}/`, { signal: leaving.signal }),
    ).rejects.toMatchObject({ name: "AbortError" });
  });
});
