import { lstat, mkdir, readFile, readdir, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scratchDirectory } from "../test/support.js";
import { createFileAtomic, writeFileAtomic } from "./atomic.js";

describe("writeFileAtomic()", () => {
  it("writes a private file and leaves nothing else behind", async () => {
    const directory = await scratchDirectory();
    const path = join(directory, "a");
    await writeFile(path, "old", { mode: 0o666 });
    await writeFileAtomic(path, "new");
    expect(await readFile(path, "utf8")).toBe("new");
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readdir(directory)).toEqual(["a"]);
  });

  it("shows a reader the old text or the new one, never a part", async () => {
    const path = join(await scratchDirectory(), "a");
    const texts = ["a", "b"].map((letter) => letter.repeat(1_000_000));
    await writeFileAtomic(path, texts[0] ?? "");
    const write = async (): Promise<void> => {
      for (let round = 0; round < 30; round++) await writeFileAtomic(path, texts[round % 2] ?? "");
    };
    const read = async (): Promise<void> => {
      for (let round = 0; round < 60; round++)
        expect(texts.includes(await readFile(path, "utf8"))).toBe(true);
    };
    await Promise.all([write(), read()]);
  });

  it("replaces a symbolic link and leaves its target alone", async () => {
    const directory = await scratchDirectory();
    const [target, path] = [join(directory, "target"), join(directory, "link")];
    await writeFile(target, "target");
    await symlink(target, path);
    await writeFileAtomic(path, "new");
    expect(await readFile(target, "utf8")).toBe("target");
    expect((await lstat(path)).isSymbolicLink()).toBe(false);
  });

  it("fails with its own error and leaves nothing behind", async () => {
    const directory = await scratchDirectory();
    await expect(writeFileAtomic(join(directory, "none", "a"), "x")).rejects.toMatchObject({
      code: "home_invalid",
      message: expect.stringContaining("ENOENT"),
    });
    await mkdir(join(directory, "sub"));
    await expect(writeFileAtomic(join(directory, "sub"), "x")).rejects.toMatchObject({
      code: "home_invalid",
    });
    expect(await readdir(directory)).toEqual(["sub"]);
  });
});

describe("createFileAtomic()", () => {
  it("writes a private file once and never replaces one", async () => {
    const directory = await scratchDirectory();
    const path = join(directory, "a");
    expect(await createFileAtomic(path, "first")).toBe(true);
    expect(await createFileAtomic(path, "second")).toBe(false);
    expect(await readFile(path, "utf8")).toBe("first");
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readdir(directory)).toEqual(["a"]);
  });

  it("takes a dangling symbolic link for something that exists", async () => {
    const directory = await scratchDirectory();
    await symlink(join(directory, "elsewhere"), join(directory, "a"));
    expect(await createFileAtomic(join(directory, "a"), "x")).toBe(false);
    expect(await readdir(directory)).toEqual(["a"]);
  });

  it("lets exactly one of many win", async () => {
    const path = join(await scratchDirectory(), "a");
    const won = await Promise.all(
      Array.from({ length: 10 }, (_, number) => createFileAtomic(path, String(number))),
    );
    expect(won.filter(Boolean)).toHaveLength(1);
    expect(await readFile(path, "utf8")).toBe(String(won.indexOf(true)));
  });
});
