import { mkdtempSync, rmSync } from "node:fs";
import { type Socket, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createSessionIo } from "./io.js";
import type { SessionIo } from "./io.js";
import { ROOM_BYTES, createFrameReader, roomIn } from "./wire.js";

/** A session on a real connection, and what its client was given as room. */
async function openSession(): Promise<AsyncDisposable & { session: SessionIo; given(): number }> {
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
  const socket = await attended;
  const session = createSessionIo(socket, {
    protocol: [1, 1],
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
});
