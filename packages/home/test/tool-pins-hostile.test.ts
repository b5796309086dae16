/** What may stand in the place of the pins: whatever it is, it is never taken for no pins at all. */
import { spawnSync } from "node:child_process";
import { chmod, lstat, mkdir, readFile, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fileToolPins, homePaths } from "../src/index.js";
import type { HomePaths, ServerPins } from "../src/index.js";
import { scratchDirectory } from "./support.js";

const hash = (digit: string): string => `sha256:${digit.repeat(64)}`;
const SERVER: ServerPins = {
  id: hash("1"),
  server: "files",
  pins: [{ kind: "tool", name: "read", pin: hash("2"), atMs: 1, by: "first" }],
};
const OTHER: ServerPins = { ...SERVER, id: hash("3") };

async function pinned(): Promise<HomePaths> {
  const home = homePaths(await scratchDirectory());
  await fileToolPins(home).change(() => ({ next: [SERVER], answer: undefined }));
  return home;
}

const PLACES: readonly (readonly [string, (home: HomePaths) => Promise<unknown>])[] = [
  [
    "a link to a file that looks right",
    async ({ dir, toolPinsPath }) => {
      const target = join(dir, "elsewhere.json");
      await writeFile(target, JSON.stringify({ version: "1", servers: [] }), { mode: 0o600 });
      await symlink(target, toolPinsPath);
    },
  ],
  ["a link to nothing", ({ toolPinsPath }) => symlink("/nonexistent/pins", toolPinsPath)],
  ["a folder", ({ toolPinsPath }) => mkdir(toolPinsPath)],
  [
    "a pipe that nobody writes into",
    async ({ toolPinsPath }) => void spawnSync("mkfifo", ["-m", "600", toolPinsPath]),
  ],
  ["an empty file", ({ toolPinsPath }) => writeFile(toolPinsPath, "", { mode: 0o600 })],
];

describe("fileToolPins()", () => {
  it.each(PLACES)("takes %s for an error, and writes nothing there", async (_, put) => {
    const home = homePaths(await scratchDirectory());
    await put(home);
    const before = await lstat(home.toolPinsPath);
    const pins = fileToolPins(home);
    await expect(pins.read()).rejects.toMatchObject({ code: "home_invalid" });
    await expect(
      pins.change((all) => ({ next: [...all, OTHER], answer: undefined })),
    ).rejects.toMatchObject({ code: "home_invalid" });
    expect((await lstat(home.toolPinsPath)).ino).toBe(before.ino);
  });

  it.each([0o620, 0o602, 0o660, 0o606])(
    "takes a file that others may write (%o) for an error",
    async (mode) => {
      const home = await pinned();
      await chmod(home.toolPinsPath, mode);
      await expect(fileToolPins(home).read()).rejects.toMatchObject({ code: "home_invalid" });
    },
  );

  it("takes a file that was cut off anywhere for an error", async () => {
    const home = await pinned();
    const text = await readFile(home.toolPinsPath, "utf8");
    for (const length of [1, 20, text.length >> 1, text.trimEnd().length - 1]) {
      await writeFile(home.toolPinsPath, text, { mode: 0o600 });
      await truncate(home.toolPinsPath, length);
      await expect(fileToolPins(home).read()).rejects.toMatchObject({ code: "home_invalid" });
    }
  });

  it("keeps what several add at once", async () => {
    const home = await pinned();
    const added = ["4", "5", "6", "7", "8"].map((digit) => ({ ...SERVER, id: hash(digit) }));
    await Promise.all(
      added.map((server) =>
        fileToolPins(home).change((all) => ({ next: [...all, server], answer: undefined })),
      ),
    );
    expect(await fileToolPins(home).read()).toHaveLength(6);
  });
});
