import { once } from "node:events";
import { readdir, writeFile } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { scratchDirectory, scratchLog } from "../test/support.js";
import { runWriter } from "../test/writer-process.js";
import { lockWriter } from "./lock.js";

/** The socket of another process, which does with those who ask what the test says. */
async function fakeOther(
  path: string,
  answer: (socket: Socket) => void,
): Promise<{ asked(): number; leave(): void }> {
  let asked = 0;
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    asked += 1;
    sockets.push(socket.on("error", () => {}));
    answer(socket);
  });
  await new Promise<void>((resolve) => server.listen(`${path}.lock.4711.0123abcd`, resolve));
  const leave = (): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(leave);
  return { asked: () => asked, leave };
}

describe("lockWriter()", () => {
  it("lets one in, names the owner to others, and lets the next in after release()", async () => {
    const path = await scratchLog();
    const lock = await lockWriter(path);
    await expect(lockWriter(path)).rejects.toMatchObject({
      code: "audit_busy",
      message: `Cannot open audit log ${JSON.stringify(path)}: process ${process.pid} is writing to it; end that process first`,
    });
    await lock.release();
    await (await lockWriter(path)).release();
    expect(await readdir(join(path, ".."))).toEqual([]);
  });

  it("says that it is the owner to whoever asks", async () => {
    const path = await scratchLog();
    const lock = await lockWriter(path);
    const [name = ""] = await readdir(join(path, ".."));
    const said: string[] = [];
    const socket = connect(join(path, "..", name)).setEncoding("utf8");
    socket.on("data", (text: string) => said.push(text));
    await once(socket, "close");
    expect(said).toEqual(["held"]);
    await lock.release();
  });

  it("refuses at once where somebody says that it is the owner", async () => {
    const path = await scratchLog();
    const other = await fakeOther(path, (socket) => socket.end("held"));
    await expect(lockWriter(path)).rejects.toMatchObject({
      code: "audit_busy",
      message: expect.stringContaining("process 4711 "),
    });
    expect(other.asked()).toBe(1);
  });

  it("looks again while others only want to be the owner, and becomes it when they have gone", async () => {
    const path = await scratchLog();
    const other = await fakeOther(path, (socket) => {
      socket.end();
      if (other.asked() === 3) other.leave();
    });
    await (await lockWriter(path)).release();
    expect(other.asked()).toBe(3);
  });

  it("takes one that lives and says nothing for the owner", async () => {
    const path = await scratchLog();
    const other = await fakeOther(path, () => {});
    await expect(lockWriter(path)).rejects.toMatchObject({ code: "audit_busy" });
    expect(other.asked()).toBe(1);
  });

  it("keeps another process out", async () => {
    const path = await scratchLog();
    const lock = await lockWriter(path);
    expect((await runWriter([path])).lines).toEqual(["busy"]);
    await lock.release();
  });

  it("never lets two in at once, however many start together", async () => {
    const path = await scratchLog();
    let holders = 0;
    let most = 0;
    let taken = 0;
    const contend = async (): Promise<void> => {
      const lock = await lockWriter(path).catch(() => undefined);
      if (lock === undefined) return;
      most = Math.max(most, ++holders);
      taken += 1;
      await new Promise((resolve) => setImmediate(resolve));
      holders -= 1;
      await lock.release();
    };
    for (let round = 0; round < 10; round++) await Promise.all(Array.from({ length: 8 }, contend));
    expect(most).toBe(1);
    expect(taken).toBeGreaterThanOrEqual(10);
  });

  it("takes over from a process that was killed, and clears its socket away", async () => {
    const path = await scratchLog();
    const { pid } = await runWriter([path, 1_000_000], {
      onLine: (_line, child) => child.kill("SIGKILL"),
    });
    const left = (await readdir(join(path, ".."))).filter((name) => name.includes(".lock."));
    expect(left).toEqual([expect.stringContaining(`.lock.${pid}.`)]);
    await (await lockWriter(path)).release();
    expect((await readdir(join(path, ".."))).filter((name) => name.includes(".lock."))).toEqual([]);
  });

  it("leaves other files alone, also where their names start alike", async () => {
    const path = await scratchLog();
    const names = ["audit.jsonl.lock.1.notes", "audit.jsonl.locked", "other.jsonl.lock.1.00000000"];
    for (const name of names) await writeFile(join(path, "..", name), "");
    await (await lockWriter(path)).release();
    expect((await readdir(join(path, ".."))).sort()).toEqual(names.sort());
  });

  it("refuses a path that is too long for a socket, rather than lock another name", async () => {
    const path = join(await scratchDirectory(), `${"x".repeat(100)}.jsonl`);
    await expect(lockWriter(path)).rejects.toMatchObject({
      code: "audit_failed",
      message: expect.stringContaining("too long"),
    });
  });
});
