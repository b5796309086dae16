import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { manualClock } from "@acp/testing";
import { expect, it, onTestFinished } from "vitest";
import { createMcpListener } from "./listener.js";
import type { McpListenerOptions } from "./listener.js";

const HEAD = {
  authorization: "Bearer a",
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};

/** A listener whose only client has the token "a", and a way to reach it byte by byte. */
async function listening(options: Partial<McpListenerOptions> = {}) {
  const clock = manualClock();
  const ada = { agent: { id: "ada" }, key: "a" };
  const listener = createMcpListener({
    credentials: { find: (token) => (token === "a" ? ada : undefined), holds: () => true },
    serve: () => {},
    log: () => {},
    clock,
    ...options,
  });
  const port = await listener.listen(0);
  const sockets: Socket[] = [];
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await listener.close();
  });
  const open = (): Socket => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {});
    sockets.push(socket);
    return socket;
  };
  const request = (body: string, more: Readonly<Record<string, string>> = {}): string => {
    const headers = { host: `127.0.0.1:${port}`, ...HEAD, ...more };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    return `POST /mcp HTTP/1.1\r\n${lines.join("\r\n")}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  };
  const stateless = (method: string, params: object = {}): string => {
    const meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const body = { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: meta } };
    return request(JSON.stringify(body), {
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
    });
  };
  return { listener, clock, port, open, request, stateless };
}

it("close() does not wait for a client that does not read its answer", async () => {
  let isAnswered = false;
  const at = await listening({
    serve(connection) {
      connection.once("data", () => {
        const result = "x".repeat(19 * 1024 * 1024);
        connection.write(`{"jsonrpc":"2.0","id":"1","result":"${result}"}\n`);
        isAnswered = true;
      });
    },
  });
  const socket = at.open();
  socket.pause();
  socket.write(at.stateless("vendor/x"));
  await expect.poll(() => isAnswered).toBe(true);
  const closed = at.listener.close();
  await at.clock.advance(2_000);
  await closed;
});

it("a request that waits behind another one keeps its connection for as long as it takes", async () => {
  const asked: string[] = [];
  const answers: (() => void)[] = [];
  const at = await listening({
    serve(connection) {
      connection.on("data", (chunk: Buffer) => {
        for (const line of chunk.toString().trim().split("\n")) {
          const { id, method } = JSON.parse(line) as { id: string; method: string };
          asked.push(method);
          answers.push(() => connection.write(`{"jsonrpc":"2.0","id":"${id}","result":{}}\n`));
        }
      });
    },
  });
  const socket = at.open();
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
  socket.write(at.stateless("vendor/one") + at.stateless("vendor/two"));
  await expect.poll(() => asked).toEqual(["vendor/one", "vendor/two"]);
  answers[0]?.();
  const answered = (): number => text.split('"result":{}').length - 1;
  await expect.poll(answered).toBe(1);
  // Its "close" comes after the last byte.
  await new Promise((resolve) => setTimeout(resolve, 20));
  await at.clock.advance(600_000);
  answers[1]?.();
  await expect.poll(answered).toBe(2);
  const isEnded = async (): Promise<boolean> => {
    await at.clock.advance(70_000);
    return socket.destroyed;
  };
  await expect.poll(isEnded).toBe(true);
});

it("opens nothing for a client that left while its token was looked up", async () => {
  let find: () => void = () => {};
  let isServed = false;
  const at = await listening({
    credentials: {
      find: () =>
        new Promise((resolve) => {
          find = () => resolve({ agent: { id: "ada" }, key: "a" });
        }),
      holds: () => true,
    },
    serve: () => void (isServed = true),
  });
  let closed = 0;
  const attached = createServer((socket) => {
    socket.once("close", () => closed++);
    at.listener.attach(socket, () => at.port);
  });
  attached.listen(0, "127.0.0.1");
  await once(attached, "listening");
  onTestFinished(() => void attached.close());
  const socket = connect((attached.address() as AddressInfo).port, "127.0.0.1");
  const head = `GET /sse HTTP/1.1\r\nHost: 127.0.0.1:${at.port}\r\nAuthorization: Bearer a\r\n`;
  const idle = find;
  socket.write(`${head}Accept: text/event-stream\r\n\r\n`);
  await expect.poll(() => find === idle).toBe(false);
  socket.destroy();
  await expect.poll(() => closed).toBe(1);
  find();
  await new Promise((resolve) => setImmediate(resolve));
  expect(isServed).toBe(false);
});

it("takes back a request that waits behind another one when their connection breaks", async () => {
  const heard: string[] = [];
  const at = await listening({
    serve(connection) {
      connection.on(
        "data",
        (chunk: Buffer) => void heard.push(...(chunk.toString().match(/"method":"[^"]*"/gu) ?? [])),
      );
    },
  });
  const socket = at.open();
  socket.write(at.stateless("vendor/one") + at.stateless("vendor/two"));
  await expect.poll(() => heard).toHaveLength(2);
  socket.destroy();
  const cancelled = '"method":"notifications/cancelled"';
  await expect.poll(() => heard.slice(2)).toEqual([cancelled, cancelled]);
});

it("answers an agent whatever connections two others have, and no connection without a token", async () => {
  const at = await listening({
    connectionsMax: 4,
    credentials: {
      find: (token = "") => (token === "" ? undefined : { agent: { id: token }, key: token }),
      holds: () => true,
    },
    serve(connection) {
      connection.on("data", (chunk: Buffer) => {
        const { id, method } = JSON.parse(chunk.toString()) as { id: string; method: string };
        if (method === "vendor/quick")
          connection.write(`{"jsonrpc":"2.0","id":"${id}","result":{}}\n`);
      });
    },
  });
  /** The status, or nothing while it is not answered. */
  const ask = (token: string, method: string) => {
    const asked = { status: "" };
    const socket = at.open();
    socket.on("data", (chunk: Buffer) => (asked.status ||= chunk.toString().slice(9, 12)));
    socket.write(at.stateless(method).replace("Bearer a", `Bearer ${token}`));
    return asked;
  };
  const refusedOf = async (token: string) => {
    const asked = Array.from({ length: 3 }, () => ask(token, "vendor/slow"));
    await expect.poll(() => asked.some(({ status }) => status !== "")).toBe(true);
    return asked.map(({ status }) => status).filter((status) => status !== "");
  };
  at.open();
  expect(await refusedOf("ada")).toEqual(["429"]);
  const unknown = at.open();
  unknown.write("POST /mcp HTTP/1.1\r\n");
  await refusedOf("bob");
  const eve = ask("eve", "vendor/quick");
  await expect.poll(() => eve.status).toBe("200");
});

it("ends a connection over which another client asks while the first one's request is open", async () => {
  const served: string[] = [];
  const at = await listening({
    credentials: {
      find: (token) => ({ agent: { id: String(token) }, key: String(token) }),
      holds: () => true,
    },
    serve: (_, { key }) => void served.push(key),
  });
  const socket = at.open();
  const said: string[] = [];
  socket.on("data", (chunk: Buffer) => said.push(chunk.toString("utf8")));
  socket.write(at.stateless("tools/list"));
  await expect.poll(() => served).toEqual(["a"]);
  socket.write(at.stateless("tools/list").replace("Bearer a", "Bearer b"));
  // Without its end the other one would be served.
  await expect.poll(() => socket.destroyed || served.length > 1).toBe(true);
  expect([served, said]).toEqual([["a"], []]);
});
