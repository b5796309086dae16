import { existsSync } from "node:fs";
import { mkdir, mkdtemp, realpath, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { readInPlace } from "./config-place.js";
import type { ConfigPlace } from "./config-place.js";

async function scratch(parent = tmpdir()): Promise<string> {
  const path = await realpath(await mkdtemp(join(parent, "acp-place-")));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

async function world(): Promise<{ readonly at: string; place(file: string): ConfigPlace }> {
  const at = await scratch();
  await mkdir(join(at, "home", "a"), { recursive: true });
  await mkdir(join(at, "home", "b"));
  const place = (file: string): ConfigPlace => ({
    file,
    homeDir: join(at, "home"),
    io: { cwd: join(at, "work"), env: { TMPDIR: join(at, "own") } },
    config: undefined,
  });
  return { at, place };
}

async function written(file: string): Promise<string> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, "x");
  return file;
}

const why = async (place: ConfigPlace): Promise<string | undefined> =>
  (await readInPlace(place, async () => undefined)).why;

describe("a configuration", () => {
  it("counts in the home, and not where a client has its temporary files", async () => {
    const { at, place } = await world();
    expect(await why(place(await written(join(at, "home/config.yml"))))).toBeUndefined();
    expect(await why(place(await written(join(at, "own/config.yml"))))).toContain(
      `it lies in ${join(at, "own")}`,
    );
    expect(await why(place(join(at, "home/gone.yml")))).toBe("it cannot be looked at");
  });

  it.skipIf(!existsSync("/dev/shm"))("counts in no directory that is everybody's", async () => {
    const { place } = await world();
    const file = await written(join(await scratch("/dev/shm"), "config.yml"));
    expect(await why(place(file))).toContain("it lies in /dev/shm");
  });

  it("is read where it was looked at, and does not count if it lies elsewhere by then", async () => {
    const { at, place } = await world();
    for (const name of ["a", "b"]) await written(join(at, "home", name, "config.yml"));
    await symlink(join(at, "home/a"), join(at, "link"));
    const { found, why: reason } = await readInPlace(
      place(join(at, "link/config.yml")),
      async (real) => {
        await symlink(join(at, "home/b"), join(at, "next"));
        await rename(join(at, "next"), join(at, "link"));
        return real;
      },
    );
    expect(found).toBe(join(at, "home/a/config.yml"));
    expect(reason).toBe("it was moved while it was read");
  });
});
