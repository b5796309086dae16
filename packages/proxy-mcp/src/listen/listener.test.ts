import { once } from "node:events";
import { connect } from "node:net";
import type { Socket } from "node:net";
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
