import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "@acp/core";
import { openHome, setPause } from "@acp/home";
import { openHostPorts } from "./host-ports.js";
import { makePortGuard } from "./port-guard.js";

async function listen(server: Server): Promise<number> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  const place = server.address();
  if (place === null || typeof place === "string") throw new Error("no port");
  return place.port;
}

/** Whether a byte comes back before the connection ends. */
function isAnswered(socket: Socket): Promise<boolean> {
  return new Promise((resolve) => {
    socket.once("data", () => resolve(true)).once("close", () => resolve(false));
    socket.write("a");
  });
}

describe("openHostPorts()", () => {
  it("carries bytes both ways, to the end, and cuts them in a pause", async () => {
    const directory = await mkdtemp(join(tmpdir(), "acp-ports-"));
    onTestFinished(() => rm(directory, { recursive: true, force: true }));
    const home = await openHome(directory);
    const echo = createServer((socket) => socket.on("error", () => undefined).pipe(socket));
    const port = await listen(echo);
    const open = openHostPorts([port], {
      home,
      agentId: "agent",
      clock: systemClock,
      guard: makePortGuard([]),
      refused: () => undefined,
    });
    onTestFinished(() => open.close());
    const inside = createServer((socket) => open.takers.get(port)?.(socket));
    const front = await listen(inside);
    const reach = async (): Promise<Socket> => {
      const socket = connect(front, "127.0.0.1");
      await once(socket, "connect");
      return socket.on("error", () => undefined);
    };
    const first = await reach();
    const text = "x".repeat(1_000_000);
    let got = "";
    first.setEncoding("utf8").on("data", (chunk: string) => (got += chunk));
    first.end(text);
    await once(first, "close");
    expect(got.length).toBe(text.length);

    const many = await Promise.all(Array.from({ length: 300 }, () => reach()));
    const answers = await Promise.all(many.map(isAnswered));
    expect(answers.filter((each) => each)).toHaveLength(256);
    for (const socket of many) socket.destroy();
    await expect.poll(async () => isAnswered(await reach())).toBe(true);

    const second = await reach();
    second.write("a");
    await once(second, "data");
    // Listened for before: the pause may be seen while it is still being written.
    const cut = once(second, "close");
    await setPause(home, "until-off");
    await cut;
    const third = await reach();
    third.resume();
    await once(third, "close");
    expect(third.bytesRead).toBe(0);
  });
});
