import { once } from "node:events";
import { connect, createServer } from "node:net";
import { describe, expect, test } from "vitest";
import { listenOnLoopback } from "./listen-on-loopback.js";

describe("listenOnLoopback", () => {
  test("gives the port that it found", async () => {
    const server = createServer((socket) => socket.end("here"));
    const port = await listenOnLoopback(server, 0);
    const socket = connect({ port, host: "127.0.0.1" });
    const [bytes] = await once(socket, "data");
    expect(String(bytes)).toBe("here");
    server.close();
  });

  test("says which port somebody else has", async () => {
    const [first, second] = [createServer(), createServer()];
    const port = await listenOnLoopback(first, 0);
    await expect(listenOnLoopback(second, port)).rejects.toMatchObject({
      code: "options_invalid",
      message: expect.stringContaining(`Cannot listen on 127.0.0.1 port ${port}: `),
    });
    first.close();
  });

  test("what goes wrong later ends nothing", async () => {
    const server = createServer();
    await listenOnLoopback(server, 0);
    expect(() => server.emit("error", new Error("EMFILE"))).not.toThrow();
    server.close();
  });
});
