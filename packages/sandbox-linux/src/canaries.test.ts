import { createSocket } from "node:dgram";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, type NetConnectOpts } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type OpenCanaries, openCanaries } from "./canaries.js";

const NONCE = "0123456789abcdef0123456789abcdef";
let directory: string;
let canaries: OpenCanaries;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "acp-canaries-"));
  canaries = await openCanaries(directory, NONCE);
});
afterEach(async () => {
  await canaries[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

async function visit(place: NetConnectOpts, text: string): Promise<void> {
  const socket = connect(place);
  socket.end(text);
  socket.resume();
  await once(socket, "close");
}

describe("openCanaries()", () => {
  it("sees the nonce at each place", async () => {
    const { tcpPort, udpPort, path, abstract } = canaries.places;
    expect(await canaries.reached()).toEqual(new Set());
    await visit({ port: tcpPort, host: "127.0.0.1" }, NONCE);
    expect(await canaries.reached()).toEqual(new Set(["tcp"]));
    await visit({ path }, NONCE);
    await visit({ path: `\0${abstract}` }, NONCE);
    const udp = createSocket("udp4");
    await new Promise((resolve) => udp.send(NONCE, udpPort, "127.0.0.1", resolve));
    udp.close();
    expect(await canaries.reached()).toEqual(
      new Set(["tcp", "pathSocket", "abstractSocket", "udp"]),
    );
  });

  it("says so where a directory's path is too long for a socket", async () => {
    const error = {
      code: "sandbox_failed",
      message: expect.stringContaining("too long for a socket") as unknown,
    };
    await expect(openCanaries(join(directory, "x".repeat(100)), NONCE)).rejects.toMatchObject(
      error,
    );
  });

  it("takes a stranger's knock for nothing", async () => {
    const { tcpPort, path } = canaries.places;
    await visit({ port: tcpPort, host: "127.0.0.1" }, "GET / HTTP/1.1\r\n\r\n");
    await visit({ path }, "x".repeat(100_000));
    expect(await canaries.reached()).toEqual(new Set());
  });

  it("closes while somebody is still there", async () => {
    const socket = connect({ path: canaries.places.path });
    await once(socket, "connect");
    socket.on("error", () => {});
    await canaries[Symbol.asyncDispose]();
    if (!socket.destroyed) await once(socket, "close");
    await expect(visit({ path: canaries.places.path }, NONCE)).rejects.toMatchObject({
      code: "ENOENT",
    });
  });

  it("throws, and leaves nothing open, where the directory cannot be used", async () => {
    await expect(openCanaries(join(directory, "none"), NONCE)).rejects.toMatchObject({
      code: expect.stringMatching(/^E/u),
    });
  });
});
