import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { trySocketLock } from "./socket-lock.js";

const prefix = "thing.lock.";

async function scratch(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "acp-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** The socket of another live process. */
async function other(path: string, answer: (socket: Socket) => void): Promise<void> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket.on("error", () => {}));
    answer(socket);
  });
  server.listen(path);
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
}

describe("trySocketLock()", () => {
  it("gives the lock to one, names it to others, and leaves nothing behind", async () => {
    const directory = await scratch();
    const lock = await trySocketLock({ directory, prefix });
    const busy = { isHeld: false, pid: String(process.pid), isHolder: true };
    expect(await trySocketLock({ directory, prefix })).toEqual(busy);
    expect(lock.isHeld).toBe(true);
    if (lock.isHeld) await lock.release();
    expect(await readdir(directory)).toEqual([]);
  });

  it("does not mix locks of other names", async () => {
    const directory = await scratch();
    const one = await trySocketLock({ directory, prefix });
    const two = await trySocketLock({ directory, prefix: "other.lock." });
    expect([one.isHeld, two.isHeld]).toEqual([true, true]);
    for (const lock of [one, two]) if (lock.isHeld) await lock.release();
  });

  it("steps back from another that only wants it", async () => {
    const directory = await scratch();
    await other(join(directory, `${prefix}4711.0123abcd`), (socket) => socket.end());
    const busy = { isHeld: false, pid: "4711", isHolder: false };
    expect(await trySocketLock({ directory, prefix })).toEqual(busy);
    expect(await readdir(directory)).toHaveLength(1);
  });

  it("takes a live process that says nothing for the holder", async () => {
    const directory = await scratch();
    await other(join(directory, `${prefix}4711.0123abcd`), () => {});
    const busy = { isHeld: false, pid: "4711", isHolder: true };
    expect(await trySocketLock({ directory, prefix, answerMsMax: 20 })).toEqual(busy);
  });

  it.each(["4711.0123abcd", "0123456789abcdef"])("removes a killed process's %s", async (name) => {
    const directory = await scratch();
    const path = JSON.stringify(join(directory, prefix + name));
    const code = `require("node:net").createServer().listen(${path}, () => process.kill(process.pid, "SIGKILL"))`;
    spawnSync(process.execPath, ["-e", code]);
    expect(await readdir(directory)).toHaveLength(1);
    const lock = await trySocketLock({ directory, prefix, answerMsMax: 0 });
    expect(lock.isHeld).toBe(true);
    if (lock.isHeld) await lock.release();
    expect(await readdir(directory)).toEqual([]);
  });

  it("refuses a path that is too long for a socket", async () => {
    const directory = join(await scratch(), "x".repeat(100));
    await expect(trySocketLock({ directory, prefix })).rejects.toThrow("too long for a lock");
  });
});
