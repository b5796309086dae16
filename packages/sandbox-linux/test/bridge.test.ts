/**
 * The MCP bridge and the other two programs that an agent finds inside, as real processes against a
 * gate that does what no gate should.
 */
import { randomBytes } from "node:crypto";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import {
  type Bridge,
  gate,
  insideFile,
  later,
  started,
  startedBridge,
  until,
} from "./bridge-kit.js";

const ASKED = "CONNECT mcp.acp.internal:1 HTTP/1.1\r\nHost: mcp.acp.internal:1\r\n\r\n";
const OK = "HTTP/1.1 200 Connection Established\r\n\r\n";
const MIB = 1_048_576;

interface Opened {
  readonly bridge: Bridge;
  readonly socket: Socket;
  /** What the gate was sent after the CONNECT. */
  readonly got: () => Buffer;
}

/** A bridge whose gate has said yes. */
async function opened(isRead = true): Promise<Opened> {
  const chunks: Buffer[] = [];
  const all = (): Buffer => Buffer.concat(chunks);
  const { port, connection } = await gate((socket) =>
    socket.on("data", (chunk: Buffer) => chunks.push(chunk)),
  );
  const bridge = isRead
    ? startedBridge(port)
    : started(insideFile("acp-mcp-bridge"), { ACP_PROXY_PORT: String(port) });
  const socket = await connection(0);
  await until(() => all().length >= ASKED.length, "for the CONNECT");
  expect(all().toString()).toBe(ASKED);
  socket.write(OK);
  return { bridge, socket, got: () => all().subarray(ASKED.length) };
}

/** Whether a number that has begun to grow stands still. */
function stands(value: () => number): () => boolean {
  let [last, sinceMs] = [0, performance.now()];
  return () => {
    if (value() !== last) [last, sinceMs] = [value(), performance.now()];
    return last > 0 && performance.now() - sinceMs > 500;
  };
}

/** So much in pieces of 1 MiB; tells how many bytes were taken. */
function source(bytes: number): { readonly stream: Readable; readonly taken: () => number } {
  let taken = 0;
  const chunks = function* (): Generator<Buffer> {
    for (; taken < bytes; taken += MIB) yield Buffer.alloc(MIB, 1);
  };
  return { stream: Readable.from(chunks()), taken: () => taken };
}

describe("acp-mcp-bridge", () => {
  it("copies bytes both ways, and ends when the client closed stdin and the gate said its last", async () => {
    const { bridge, socket, got } = await opened();
    const [question, answer] = [randomBytes(4 * MIB), randomBytes(4 * MIB)];
    bridge.child.stdin.end(question);
    socket.once("end", () => socket.end(answer));
    expect(await bridge.exit).toBe(0);
    expect([got().equals(question), bridge.stdout().equals(answer), bridge.stderr()]).toEqual([
      true,
      true,
      "",
    ]);
  });

  it("takes an answer that comes byte by byte, with what follows it", async () => {
    const { port, connection } = await gate();
    const bridge = startedBridge(port);
    const socket = (await connection(0)).setNoDelay(true);
    for (const byte of `${OK}first,`) {
      socket.write(byte);
      await new Promise((resolve) => setImmediate(resolve));
    }
    socket.end("second");
    expect(await bridge.exit).toBe(0);
    expect(bridge.stdout().toString()).toBe("first,second");
  });

  it("keeps nothing in memory: a client that reads nothing is waited for, and still heard", async () => {
    const { bridge, socket, got } = await opened(false);
    const { stream, taken } = source(64 * MIB);
    stream.pipe(socket);
    await until(stands(taken), "for the gate to be held up");
    expect(taken()).toBeLessThan(32 * MIB);
    bridge.child.stdin.write(Buffer.alloc(2 * MIB, 2));
    await until(() => got().length === 2 * MIB, "for what the client says meanwhile");
    let read = 0;
    bridge.child.stdout.on("data", (chunk: Buffer) => (read += chunk.length));
    expect(await bridge.exit).toBe(0);
    expect(read).toBe(64 * MIB);
  });

  it("keeps nothing in memory of what the client says to a gate that reads nothing", async () => {
    const { port, connection } = await gate();
    const bridge = startedBridge(port);
    const socket = await connection(0);
    socket.write(OK);
    const { stream, taken } = source(64 * MIB);
    stream.pipe(bridge.child.stdin);
    await until(stands(taken), "for the client to be held up");
    expect(taken()).toBeLessThan(32 * MIB);
    let read = 0;
    socket.on("data", (chunk: Buffer) => (read += chunk.length)).once("end", () => socket.end());
    expect(await bridge.exit).toBe(0);
    expect(read).toBe(64 * MIB + ASKED.length);
  });

  it("says so where the gate ends the session first", async () => {
    const { bridge, socket } = await opened();
    socket.end("last words");
    expect(await bridge.exit).toBe(0);
    expect([bridge.stdout().toString(), bridge.stderr()]).toEqual([
      "last words",
      "acp-mcp-bridge: the gate ended the session\n",
    ]);
  });

  it("says so where the connection breaks", async () => {
    const { bridge, socket, got } = await opened();
    bridge.child.stdin.write("x");
    await until(() => got().length === 1, "for a byte");
    socket.resetAndDestroy();
    expect(await bridge.exit).toBe(74);
    expect(bridge.stderr()).toBe("acp-mcp-bridge: the connection to the gate broke\n");
  });

  it("ends where nobody reads what it writes", async () => {
    const { bridge, socket } = await opened();
    bridge.child.stdout.destroy();
    socket.write("x");
    // Its first write may go into the pipe's buffer.
    const timer = setInterval(() => socket.writable && socket.write("x"), 20);
    later(() => clearInterval(timer));
    await until(() => bridge.child.exitCode !== null, "for its end");
    expect(bridge.child.exitCode).toBe(0);
  });

  it.each([
    [
      "refuses",
      `HTTP/1.1 403 Forbidden\r\n\r\n{"error":{"code":"service_refused","reason":"it is","remedy":"Do\\n\\u001b[2Jnot"}}`,
      "the proxy says service_refused; it is; Do [2Jnot",
    ],
    [
      "refuses without a reason",
      "HTTP/1.1 502 Bad Gateway\r\nx: y\r\n\r\n<html>",
      'the proxy answered "502 Bad Gateway"',
    ],
    ["is something else", "SSH-2.0-x\r\n\r\n", "it is no HTTP proxy"],
    ["says nothing", "", "it closed the connection"],
    ["stops in the middle", "HTTP/1.1 200 OK\r\n", "it closed the connection"],
    [
      "never ends its head",
      `HTTP/1.1 200 OK\r\n${"x: y\r\n".repeat(5_000)}`,
      "it is no HTTP proxy",
    ],
    [
      "answers with another number that begins alike",
      "HTTP/1.1 2000\r\n\r\n",
      "it is no HTTP proxy",
    ],
  ])("ends with 69 and one line where the other side %s", async (_, answer, why) => {
    const { port } = await gate((socket) => socket.once("data", () => socket.end(answer)));
    const bridge = startedBridge(port);
    expect(await bridge.exit).toBe(69);
    expect(bridge.stderr()).toBe(`acp-mcp-bridge: Cannot reach the gate at port ${port}: ${why}\n`);
    expect(bridge.stdout()).toHaveLength(0);
  });

  it("ends with 69 where nobody listens", async () => {
    const bridge = startedBridge(1);
    expect(await bridge.exit).toBe(69);
    expect(bridge.stderr()).toBe("acp-mcp-bridge: Cannot reach the gate at port 1: ECONNREFUSED\n");
  });

  it.each<[string, (port: number) => Readonly<Record<string, string>>]>([
    [
      "ACP_PROXY_PORT before HTTP_PROXY",
      (port) => ({ ACP_PROXY_PORT: String(port), HTTP_PROXY: "http://127.0.0.1:1" }),
    ],
    ["HTTP_PROXY", (port) => ({ HTTP_PROXY: `http://127.0.0.1:${port}` })],
    [
      "http_proxy with credentials",
      (port) => ({
        http_proxy: `http://agent:token@localhost:${port}/`,
        HTTP_PROXY: "http://127.0.0.1:1",
      }),
    ],
  ])("finds the port in %s", async (_, env) => {
    const { port, connection } = await gate();
    started(insideFile("acp-mcp-bridge"), env(port));
    await connection(0);
  });

  it("finds the port that the sandbox wrote beside it: clients pass few variables on", async () => {
    const dir = mkdtempSync(join(tmpdir(), "acp-bridge-"));
    later(() => rmSync(dir, { recursive: true }));
    for (const name of ["mcp-bridge.cjs", "acp-mcp-bridge"])
      copyFileSync(insideFile(name), join(dir, name));
    const { port, connection } = await gate();
    writeFileSync(join(dir, "proxy-port"), `${port}\n`);
    started(join(dir, "acp-mcp-bridge"), {});
    await connection(0);
  });

  it.each([
    {},
    { ACP_PROXY_PORT: "http" },
    { ACP_PROXY_PORT: "65536" },
    { HTTP_PROXY: "http://proxy.example.com:8788" },
    { HTTP_PROXY: "" },
  ])("ends with 78 where no port is known: %j", async (env) => {
    const bridge = started(insideFile("acp-mcp-bridge"), env);
    expect(await bridge.exit).toBe(78);
    expect(bridge.stderr()).toMatch(/^acp-mcp-bridge: Cannot reach the gate: [^\n]+\n$/);
  });

  it("leaves what the agent has Node load alone", async () => {
    const { port, connection } = await gate();
    started(insideFile("acp-mcp-bridge"), {
      ACP_PROXY_PORT: String(port),
      NODE_OPTIONS: "--import=/nonexistent/patch.mjs",
    });
    await connection(0);
  });
});

describe("acp", () => {
  it.each([
    [["mcp"], 'Start "acp-mcp-bridge" as the one MCP server instead'],
    [["approve"], "the gate is outside"],
    [[], "the gate is outside"],
  ])("%j says what to do instead, on one line, and runs nothing", async (args, text) => {
    const run = started(insideFile("acp"), {}, args);
    run.read();
    expect(await run.exit).toBe(69);
    expect(run.stderr()).toContain(text);
    expect(run.stderr()).toMatch(/^acp: [^\n]+\n$/);
    expect(run.stdout()).toHaveLength(0);
  });
});
