import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { checkHostPorts, makePortGuard } from "./port-guard.js";

/** A process of that name, listening; on a free port where none is given. */
async function named(name: string, port = 0, host = "127.0.0.1"): Promise<number> {
  const program = `require("node:net").createServer().listen(${port}, "${host}", function () { console.log(this.address().port); })`;
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
      await expect(checkHostPorts([port], makePortGuard([]))).rejects.toMatchObject({
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
      await expect(checkHostPorts([port], makePortGuard(own))).rejects.toMatchObject({
        code: "options_invalid",
      });
  });

  it("takes other services, also those that do not listen yet", async () => {
    await expect(
      checkHostPorts([await named("postgres"), await named("mycap"), 5999], makePortGuard([])),
    ).resolves.toBeUndefined();
  });
});

describe.skipIf(process.platform !== "linux")("makePortGuard()", () => {
  it("refuses what takes a port after it was found harmless, and a stranger's listener beside it", async () => {
    const server = createServer();
    await once(server.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => void server.close());
    const place = server.address();
    const port = typeof place === "object" ? (place?.port ?? 0) : 0;
    const guard = makePortGuard([]);
    expect([await guard.whyNot(port), await guard.whyNot(port)]).toEqual([undefined, undefined]);
    await named("/usr/bin/acp.cjs", port, "127.0.0.9");
    expect(await guard.whyNot(port)).toContain("it is ACP's or a container engine's");
    server.close();
    await once(server, "close");
    expect(await guard.whyNot(port)).toContain("it is ACP's or a container engine's");
  });

  it.runIf(process.getuid?.() === 0)("refuses another user than the first who had it", async () => {
    const port = await named("service");
    const guard = makePortGuard([]);
    expect(await guard.whyNot(port)).toBeUndefined();
    // Not Node: another user may not enter where this one lies.
    const listen = `import socket, time\nat = socket.socket()\nat.bind(("127.0.0.9", ${port}))\nat.listen()\nprint("up", flush=True)\ntime.sleep(600)`;
    const other = spawn("/usr/bin/python3", ["-c", listen], {
      uid: 61_077,
      gid: 61_077,
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void other.kill("SIGKILL"));
    await once(other.stdout, "data");
    expect(await guard.whyNot(port)).toBe("user 61077 took it, who did not have it before");
  });

  it("answers a thousand at once", async () => {
    const port = await named("service");
    const guard = makePortGuard([]);
    const answers = await Promise.all(Array.from({ length: 1_000 }, () => guard.whyNot(port)));
    expect(new Set(answers)).toEqual(new Set([undefined]));
  });
});
