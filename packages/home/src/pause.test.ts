import { mkdir, stat, symlink, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { scratchDirectory } from "../test/support.js";
import { type HomePaths, homePaths } from "./paths.js";
import { clearPause, readPause, setPause } from "./pause.js";

const NOW = Date.UTC(2026, 0, 15, 10, 30);

async function home(): Promise<HomePaths> {
  return homePaths(await scratchDirectory());
}

describe("readPause()", () => {
  it("knows no pause where none was set", async () => {
    expect(readPause(await home(), NOW)).toBeUndefined();
  });

  it("names the end of a pause and forgets it then", async () => {
    const at = await home();
    await setPause(at, NOW + 60_000);
    expect(readPause(at, NOW)).toBe("all questions are paused until 2026-01-15T10:31:00.000Z");
    expect(readPause(at, NOW + 59_999)).toBeDefined();
    expect(readPause(at, NOW + 60_000)).toBeUndefined();
  });

  it("holds a pause without an end until it is cleared", async () => {
    const at = await home();
    await setPause(at, "until-off");
    expect(readPause(at, Number.MAX_SAFE_INTEGER)).toBe(
      "all questions are paused until `acp pause --off`",
    );
    expect(await clearPause(at)).toBe(true);
    expect(readPause(at, NOW)).toBeUndefined();
  });

  it.each([
    "",
    "{",
    "null",
    "[]",
    "{}",
    '{"version":"1"}',
    '{"version":"1","until":null}',
    '{"version":"1","until":0}',
    '{"version":"1","until":""}',
    '{"version":"1","until":"yesterday"}',
    '{"version":"1","until":"2000-01-01"}',
    '{"version":"2","until":"2000-01-01T00:00:00.000Z"}',
  ])("takes %j for a pause", async (text) => {
    const at = await home();
    await writeFile(at.pausePath, text);
    expect(readPause(at, NOW)).toContain("cannot be read");
  });

  it("takes what cannot be read for a pause", async () => {
    const directory = await home();
    await mkdir(directory.pausePath);
    expect(readPause(directory, NOW)).toContain("cannot be read");
    const loop = await home();
    await symlink(loop.pausePath, loop.pausePath);
    expect(readPause(loop, NOW)).toContain("cannot be read");
  });
});

describe("setPause()", () => {
  it("replaces a pause and keeps the file private", async () => {
    const at = await home();
    await setPause(at, "until-off");
    await setPause(at, NOW + 1);
    expect(readPause(at, NOW + 1)).toBeUndefined();
    expect((await stat(at.pausePath)).mode & 0o777).toBe(0o600);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, 0.5, 1e15, 8.64e15 + 1, -1e14])(
    "refuses %d, which is no time it could keep",
    async (end) => {
      await expect(setPause(await home(), end)).rejects.toMatchObject({ code: "options_invalid" });
    },
  );
});

describe("clearPause()", () => {
  it("says where none was set, and fails where the pause goes on", async () => {
    const at = await home();
    expect(await clearPause(at)).toBe(false);
    await mkdir(at.pausePath);
    await expect(clearPause(at)).rejects.toMatchObject({ code: "home_invalid" });
  });
});
