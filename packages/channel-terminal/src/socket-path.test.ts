import { spawnSync } from "node:child_process";
import { chmod, mkdir, stat, symlink, writeFile } from "node:fs/promises";
import { type Server, createServer } from "node:net";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { type TemporaryHome, temporaryHome } from "../test/temporary-home.js";
import { listenPrivately, probeSocket } from "./socket-path.js";

function close(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

/** A socket whose process died without taking it away. */
function leaveStaleSocket(path: string): void {
  const script = `require("net").createServer().listen(process.argv[1], () => process.kill(process.pid, "SIGKILL"))`;
  spawnSync(process.execPath, ["-e", script, path]);
}

const refusing = async (home: TemporaryHome, path = home.socketPath): Promise<unknown> => {
  try {
    await listenPrivately(createServer(), path);
    return undefined;
  } catch (error) {
    return error;
  }
};

describe("listenPrivately()", () => {
  it("makes a 0600 socket in a 0700 directory", async () => {
    await using home = await temporaryHome();
    const server = createServer();
    await listenPrivately(server, home.socketPath);
    expect((await stat(home.run)).mode & 0o777).toBe(0o700);
    expect((await stat(home.socketPath)).mode & 0o777).toBe(0o600);
    await close(server);
  });

  it("replaces what a dead process left", async () => {
    await using home = await temporaryHome();
    await mkdir(home.run, { mode: 0o700 });
    leaveStaleSocket(home.socketPath);
    expect(await probeSocket(home.socketPath)).toBe("stale");
    const server = createServer();
    await listenPrivately(server, home.socketPath);
    expect(await probeSocket(home.socketPath)).toBe("live");
    await close(server);
  });

  it("refuses a live socket, which stays", async () => {
    await using home = await temporaryHome();
    const server = createServer();
    await listenPrivately(server, home.socketPath);
    expect(await refusing(home)).toMatchObject({
      code: "channel_failed",
      message: expect.stringContaining("another gate listens there") as string,
    });
    expect(await probeSocket(home.socketPath)).toBe("live");
    await close(server);
  });

  it.each([0o755, 0o710, 0o701, 0o777])("refuses a directory of mode %o", async (mode) => {
    await using home = await temporaryHome();
    await mkdir(home.run);
    await chmod(home.run, mode);
    expect(await refusing(home)).toMatchObject({
      message: expect.stringContaining("other users can open its directory") as string,
    });
  });

  it("refuses a directory that is a link", async () => {
    await using home = await temporaryHome();
    await mkdir(join(home.path, "elsewhere"), { mode: 0o700 });
    await symlink(join(home.path, "elsewhere"), home.run);
    expect(await refusing(home)).toMatchObject({
      message: expect.stringContaining("its directory is not a directory") as string,
    });
  });

  it("refuses to replace a file that is no socket", async () => {
    await using home = await temporaryHome();
    await mkdir(home.run, { mode: 0o700 });
    await writeFile(home.socketPath, "precious");
    expect(await refusing(home)).toMatchObject({ code: "channel_failed" });
    expect((await stat(home.socketPath)).size).toBe(8);
  });

  it("refuses a path that a socket cannot have", async () => {
    await using home = await temporaryHome();
    const path = join(dirname(home.socketPath), `${"x".repeat(100)}.sock`);
    expect(await refusing(home, path)).toMatchObject({
      message: expect.stringContaining("at most 103 bytes") as string,
    });
  });
});
