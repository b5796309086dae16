import { mkdtempSync, rmSync } from "node:fs";
import { type Socket, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createSessionIo } from "./io.js";
import type { SessionIo } from "./io.js";
import { ROOM_BYTES, createFrameReader, roomIn } from "./wire.js";

interface Opened extends AsyncDisposable {
  readonly session: SessionIo;
  readonly client: Socket;
  readonly socket: Socket;
  given(): number;
}

/** A session on a real connection, and what its client was given as room. */
async function openSession({ isPaused = false } = {}): Promise<Opened> {
  const folder = mkdtempSync(join(tmpdir(), "acp-io-"));
  const path = join(folder, "s");
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const attended = new Promise<Socket>((resolve) => server.once("connection", resolve));
  let given = 0;
  const client = connect(path);
  const reader = createFrameReader(
    ({ kind, body }) => {
      if (kind === "room") given += roomIn(body);
    },
    () => client.destroy(),
  );
  client.on("data", (chunk: Buffer) => reader.push(chunk));
  if (isPaused) client.pause();
  const socket = await attended;
  const session = createSessionIo(socket, {
    protocol: [1, 1],
    version: "1.0.0",
    build: "",
    argv: [],
    cwd: "/",
    env: {},
    userHome: "/",
    pid: 1,
    ppid: 1,
    umask: 0,
  });
  return {
    session,
    client,
    socket,
    given: () => given,
    async [Symbol.asyncDispose]() {
      client.destroy();
      socket.destroy();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

describe("the input of a session", () => {
  it("is bounded by the room that its client has, where nobody reads it", async () => {
    await using opened = await openSession();
    expect(opened.session.input(Buffer.alloc(ROOM_BYTES, 0x20))).toBe(true);
    expect(opened.session.input(Buffer.alloc(1))).toBe(false);
    expect(opened.given()).toBe(0);
  });

  it("has room again for what was read", async () => {
    await using opened = await openSession();
    let read = 0;
    opened.session.io.stdin.on("data", (chunk: Buffer) => (read += chunk.length));
    for (let turn = 1; turn <= 3; turn += 1) {
      expect(opened.session.input(Buffer.alloc(ROOM_BYTES, 0x20))).toBe(true);
      await expect
        .poll(() => [read, opened.given()])
        .toEqual([turn * ROOM_BYTES, turn * ROOM_BYTES]);
    }
  });

  it("has no more room while its client does not read the answers", async () => {
    await using opened = await openSession({ isPaused: true });
    const { io } = opened.session;
    io.stdin.resume();
    const answers = io.stdout.write.bind(io.stdout);
    // More than a connection takes that nobody reads.
    for (let n = 0; n < 8; n++) answers(Buffer.alloc(ROOM_BYTES));
    expect(opened.session.input(Buffer.alloc(ROOM_BYTES, 0x20))).toBe(true);
    await new Promise((resolve) => setImmediate(resolve));
    expect(opened.session.input(Buffer.alloc(1))).toBe(false);
    opened.client.resume();
    await expect.poll(() => opened.given()).toBe(ROOM_BYTES);
  });

  it("is not held up by notices that nobody reads, which are left out", async () => {
    await using opened = await openSession({ isPaused: true });
    const { stderr } = opened.session.io;
    for (let n = 0; n < 64; n++) stderr.write(Buffer.alloc(ROOM_BYTES));
    expect(opened.socket.writableLength).toBeLessThan(3 * ROOM_BYTES);
  });
});
