import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scratchDirectory, scratchLog } from "../test/support.js";
import { runWriter } from "../test/writer-process.js";
import { lockWriter } from "./lock.js";

describe("lockWriter()", () => {
  it("lets one in, names the owner to others, and lets the next in after release()", async () => {
    const path = await scratchLog();
    const lock = await lockWriter(path);
    await expect(lockWriter(path)).rejects.toMatchObject({
      code: "audit_busy",
      message: `Cannot open audit log ${JSON.stringify(path)}: process ${process.pid} is writing it; end that process first`,
    });
    await lock.release();
    await (await lockWriter(path)).release();
    expect(await readdir(join(path, ".."))).toEqual([]);
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
    expect(taken).toBeGreaterThanOrEqual(1);
  });

  it("takes over from a process that was killed, and clears its socket away", async () => {
    const path = await scratchLog();
    const { pid } = await runWriter([path, 1_000_000], { onLine: (_line, child) => child.kill("SIGKILL") });
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
    await expect(lockWriter(path)).rejects.toMatchObject({ code: "audit_failed", message: expect.stringContaining("too long") });
  });
});
