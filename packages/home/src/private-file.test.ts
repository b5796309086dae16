import { chmod, mkdir, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scratchDirectory } from "../test/support.js";
import { makePrivateDirectory, readPrivateFile } from "./private-file.js";

describe("readPrivateFile()", () => {
  it("reads a file of mode 0600 or less, and no other", async () => {
    const path = join(await scratchDirectory(), "a");
    await writeFile(path, "text", { mode: 0o600 });
    expect(await readPrivateFile(path, 10)).toBe("text");
    await expect(readPrivateFile(path, 3)).rejects.toMatchObject({ code: "home_invalid" });
    for (const mode of [0o601, 0o604, 0o610, 0o640, 0o660]) {
      await chmod(path, mode);
      await expect(readPrivateFile(path, 10)).rejects.toMatchObject({ code: "home_invalid" });
    }
  });

  it("follows no link", async () => {
    const directory = await scratchDirectory();
    await writeFile(join(directory, "a"), "text", { mode: 0o600 });
    await symlink(join(directory, "a"), join(directory, "b"));
    await expect(readPrivateFile(join(directory, "b"), 10)).rejects.toMatchObject({
      code: "home_invalid",
    });
  });
});

describe("makePrivateDirectory()", () => {
  it("makes one of mode 0700, takes one that is there, and refuses what others may enter", async () => {
    const path = join(await scratchDirectory(), "keys");
    await makePrivateDirectory(path);
    expect((await stat(path)).mode & 0o777).toBe(0o700);
    await makePrivateDirectory(path);
    await chmod(path, 0o701);
    await expect(makePrivateDirectory(path)).rejects.toMatchObject({ code: "home_invalid" });
  });

  it("refuses a file, a link and a place that is not there", async () => {
    const directory = await scratchDirectory();
    await writeFile(join(directory, "file"), "");
    await mkdir(join(directory, "real"), { mode: 0o700 });
    await symlink(join(directory, "real"), join(directory, "link"));
    for (const name of ["file", "link", "none/keys"])
      await expect(makePrivateDirectory(join(directory, name))).rejects.toMatchObject({
        code: "home_invalid",
      });
  });
});
