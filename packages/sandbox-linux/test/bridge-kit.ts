/** The bridge as its client starts it, and a gate on loopback that does what the test says. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { afterEach } from "vitest";

/** A path in `inside/`. */
export const insideFile = (name: string): string =>
  fileURLToPath(new URL(`../inside/${name}`, import.meta.url));

const closers: (() => unknown)[] = [];
/** Runs after the test, the last one first. */
export function later(close: () => unknown): void {
  closers.push(close);
}
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const PATIENCE_MS = 120_000;

/** Waits until something is so. */
export async function until(isSo: () => boolean, what: string): Promise<void> {
  const endMs = performance.now() + PATIENCE_MS;
  while (!isSo()) {
    if (performance.now() > endMs) throw new Error(`waited too long ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

export interface Bridge {
  readonly child: ChildProcessWithoutNullStreams;
  /** What came on stdout; nothing is read before `read()`. */
  readonly stdout: () => Buffer;
  readonly stderr: () => string;
  read(): void;
  readonly exit: Promise<number | null>;
}

/** Starts a program with no more environment than is given and the way to Node. */
export function started(
  program: string,
  env: Readonly<Record<string, string>> = {},
  args: readonly string[] = [],
): Bridge {
  const child = spawn(program, args, {
    env: { PATH: `${process.execPath.replace(/\/[^/]*$/, "")}:/usr/bin:/bin`, ...env },
  });
  later(() => child.kill("SIGKILL"));
  const [out, err]: [Buffer[], Buffer[]] = [[], []];
  child.stdin.on("error", () => {});
  child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
  const exit = new Promise<number | null>((resolve) =>
    child.once("close", (code) => resolve(code)),
  );
  return {
    child,
    stdout: () => Buffer.concat(out),
    stderr: () => Buffer.concat(err).toString(),
    read: () => void child.stdout.on("data", (chunk: Buffer) => out.push(chunk)),
    exit,
  };
}

/** A bridge whose output is read from the start. */
export function startedBridge(
  port: number,
  program: string = insideFile("acp-mcp-bridge"),
): Bridge {
  const bridge = started(program, { ACP_PROXY_PORT: String(port) });
  bridge.read();
  return bridge;
}

export interface FakeGate {
  readonly port: number;
  /** The nth connection, once it is there. */
  connection(index: number): Promise<Socket>;
}

/**
 * Listens on loopback; each connection can be half-closed, and is read from where the test reads
 * it.
 */
export async function gate(onConnection: (socket: Socket) => void = () => {}): Promise<FakeGate> {
  const sockets: Socket[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => {});
    sockets.push(socket);
    onConnection(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  later(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("unreachable");
  return {
    port: address.port,
    async connection(index) {
      await until(() => sockets.length > index, `for connection ${index}`);
      const socket = sockets[index];
      if (socket === undefined) throw new Error("unreachable");
      return socket;
    },
  };
}
