import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "@acp/core";
import { openHome, setPause } from "@acp/home";
import { checkHostPorts, openHostPorts } from "./host-ports.js";

async function listen(server: Server): Promise<number> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  const place = server.address();
  if (place === null || typeof place === "string") throw new Error("no port");
  return place.port;
}

/** A process of that name, listening. */
async function named(name: string): Promise<number> {
  const program =
    'require("node:net").createServer().listen(0, "127.0.0.1", function () { console.log(this.address().port); })';
  const child = spawn(
    "bash",
    ["-c", 'exec -a "$0" "$1" -e "$2"', name, process.execPath, program],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  onTestFinished(() => void child.kill("SIGKILL"));
  const [chunk] = await once(child.stdout, "data");
  return Number(String(chunk));
}

describe.skipIf(process.platform !== "linux")("checkHostPorts()", () => {
  it.each(["dockerd", "/usr/bin/containerd", "podman", "/home/me/packages/cli/bin/acp.cjs"])(
    "refuses a port of %s",
    async (name) => {
      const port = await named(name);
      await expect(checkHostPorts([port], [])).rejects.toMatchObject({
        code: "options_invalid",
        message: expect.stringContaining(String(port)),
      });
    },
  );

  it("refuses ports of this home and of container engines, listening or not", async () => {
    for (const [port, own] of [
      [2375, []],
      [10_250, []],
      [8788, [8788]],
    ] as const)
      await expect(checkHostPorts([port], own)).rejects.toMatchObject({ code: "options_invalid" });
  });

  it("takes other services, also those that do not listen yet", async () => {
    await expect(
      checkHostPorts([await named("postgres"), await named("mycap"), 5999], []),
    ).resolves.toBeUndefined();
  });
});

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
    const open = openHostPorts([port], { home, agentId: "agent", clock: systemClock });
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
    await setPause(home, "until-off");
    await once(second, "close");
    const third = await reach();
    third.resume();
    await once(third, "close");
    expect(third.bytesRead).toBe(0);
  });
});
