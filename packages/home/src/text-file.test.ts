import { chmod, writeFile } from "node:fs/promises";
import { platform } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scratchDirectory } from "../test/support.js";
import { readOwnFile, readTextFile } from "./text-file.js";

describe("readOwnFile()", () => {
  it("gives the text and whether others may read it", async () => {
    const path = join(await scratchDirectory(), "a");
    await writeFile(path, "caf\u00e9", { mode: 0o600 });
    expect(await readOwnFile(path, 100)).toEqual({ text: "caf\u00e9", isPrivate: true });
    await chmod(path, 0o640);
    expect(await readOwnFile(path, 100)).toEqual({ text: "caf\u00e9", isPrivate: false });
  });
});

describe("readTextFile()", () => {
  it("takes exactly as many bytes as it is told", async () => {
    const path = join(await scratchDirectory(), "a");
    await writeFile(path, "12345");
    expect(await readTextFile(path, 5)).toBe("12345");
    await expect(readTextFile(path, 4)).rejects.toMatchObject({
      code: "home_invalid",
      message: expect.stringContaining("more than the maximum of 4"),
    });
  });

  it("refuses a file whose text is not as long as its size says: somebody is writing it", async ({
    skip,
  }) => {
    if (platform() !== "linux") skip("only Linux has such a file at hand");
    await expect(readTextFile("/proc/self/status", 100_000)).rejects.toMatchObject({
      message: expect.stringContaining("changed while it was read"),
    });
  });
});
