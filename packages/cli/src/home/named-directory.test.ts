import { mkdtemp, readdir, rm, stat, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { namedDirectory } from "./named-directory.js";

async function scratch(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "acp-"));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

it("namedDirectory() makes a directory of that name that nobody else may enter", async () => {
  const home = await scratch();
  const path = await namedDirectory(home, "homes", "claude");
  expect(path).toBe(join(home, "homes", "claude"));
  expect((await stat(path)).mode & 0o777).toBe(0o700);
  expect(await namedDirectory(home, "homes", "claude")).toBe(path);
});

it("namedDirectory() refuses a link, which would lead out of the home", async () => {
  const [home, elsewhere] = [await scratch(), await scratch()];
  await namedDirectory(home, "homes", "other");
  await symlink(elsewhere, join(home, "homes", "claude"));
  const refused = namedDirectory(home, "homes", "claude");
  await expect(refused).rejects.toMatchObject({
    code: "home_invalid",
    message: expect.stringContaining("link"),
  });
  expect(await readdir(elsewhere)).toEqual([]);
});
