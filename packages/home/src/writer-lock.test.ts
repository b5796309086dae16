import { mkdir, readdir } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import { describe, expect, it, onTestFinished } from "vitest";
import { scratchDirectory } from "../test/support.js";
import { holdWriter, whileWriting } from "./writer-lock.js";

describe("whileWriting()", () => {
  it("runs one after the other, and leaves nothing behind", async () => {
    const dir = await scratchDirectory();
    let running = 0;
    let most = 0;
    const wanting = new Set<number>();
    const change = async (): Promise<void> => {
      most = Math.max(most, ++running);
      wanting.add((await readdir(dir)).length);
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
      running--;
    };
    await Promise.all(Array.from({ length: 8 }, () => whileWriting(dir, change)));
    expect(most).toBe(1);
    // Those of one process do not get in each other's way.
    expect(wanting).toEqual(new Set([1]));
    expect(await readdir(dir)).toEqual([]);
  });

  it("is free again after a change that failed", async () => {
    const dir = await scratchDirectory();
    await expect(whileWriting(dir, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(await whileWriting(dir, () => Promise.resolve(1))).toBe(1);
  });

  it("removes what a killed process left over", async () => {
    const dir = await scratchDirectory();
    const path = join(dir, "writer.lock.0123456789abcdef");
    const code = `require("node:net").createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, "SIGKILL"))`;
    spawnSync(process.execPath, ["-e", code]);
    expect(await readdir(dir)).toHaveLength(1);
    expect(await whileWriting(dir, () => readdir(dir))).toHaveLength(1);
    expect(await readdir(dir)).toEqual([]);
  });

  it("gives up on a live one that does not end, with an error of its own", async () => {
    const dir = await scratchDirectory();
    const server = createServer();
    await new Promise<void>((resolve) =>
      server.listen(join(dir, "writer.lock.0123456789abcdef"), resolve),
    );
    onTestFinished(() => void server.close());
    await expect(holdWriter(dir, 3)).rejects.toMatchObject({ code: "home_busy" });
  });

  it("refuses a path that is too long for a lock", async () => {
    const dir = join(await scratchDirectory(), "x".repeat(90));
    await mkdir(dir);
    await expect(whileWriting(dir, () => Promise.resolve())).rejects.toMatchObject({
      code: "home_invalid",
    });
  });
});
