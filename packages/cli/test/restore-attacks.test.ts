/** Restores and moves that somebody would use against the home, or that were killed. */
import { mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileClaims, fileGrants } from "@acp/home";
import { expect, it, describe, afterAll } from "vitest";
import { beginStaging, leftStagings } from "../src/backup/staging.js";
import { say, world } from "./backup-world.js";
import type { BackupWorld } from "./backup-world.js";
import { codesOf, removeTemplate } from "./doctor-world.js";
import { GRANT } from "./rollback-world.js";

afterAll(removeTemplate);

const PAUSE = (until: string, agent?: string): string =>
  JSON.stringify({ version: "1", until, ...(agent !== undefined && { agent }) });
const write = (path: string, text: string): Promise<void> => writeFile(path, text, { mode: 0o600 });

/** A home with a backup. */
async function backedUp(before: (at: BackupWorld) => Promise<unknown>): Promise<BackupWorld> {
  const at = await world();
  await before(at);
  expect(await at.acp("backup", at.file)).toMatchObject({ code: 0 });
  return at;
}

/** What a restore would bring back, as it shows it. */
async function shown({ acp, file }: BackupWorld): Promise<readonly object[]> {
  const { stdout } = await acp("restore", file, "--dry-run", "--json");
  return JSON.parse(stdout).came_back;
}

describe("several restores at once", () => {
  const busy = { code: 1, stderr: expect.stringContaining("[home_busy]") };

  it.each([
    ["in place of the home", (at: BackupWorld) => at.acp("restore", at.file, "--yes")],
    [
      "in a new place",
      (at: BackupWorld) => at.acp("restore", at.file, "--yes", "--to", `${at.dir}-new`),
    ],
  ] as const)("%s leave whole homes, and nothing half made", async (where, restore) => {
    const at = await backedUp(() => Promise.resolve());
    const ends = await Promise.all([1, 2, 3].map(() => restore(at)));
    const done = ends.filter(({ code }) => code === 0);
    expect(done.length).toBeGreaterThan(0);
    for (const end of ends) if (end.code !== 0) expect(end).toMatchObject(busy);
    const names = await readdir(dirname(at.dir));
    expect(names.filter((name) => name.startsWith(".acp-") || name.includes("swap"))).toEqual([]);
    const homes = names.filter((name) => name.startsWith(basename(at.dir)));
    // Each restore in place keeps the home that was there.
    expect(homes).toHaveLength(where === "in a new place" ? 2 : 1 + done.length);
    for (const name of homes) {
      const { stdout } = await say(["doctor", "--json", "--home", join(dirname(at.dir), name)]);
      expect(JSON.parse(stdout)).toMatchObject({ ok: true });
    }
  });
});

describe("acp restore shows", () => {
  const AGENT = `paused-agents/${"0a".repeat(32)}.json`;

  it("the pause of an agent that would end", async () => {
    const at = await backedUp(() => Promise.resolve());
    await mkdir(at.home.pausedAgentsDir, { mode: 0o700 });
    await write(join(at.dir, AGENT), PAUSE("off", "loud"));
    expect(await shown(at)).toMatchObject([{ kind: "pause_ends", id: "loud" }]);
    // A pause that nobody can read is one.
    await write(join(at.dir, AGENT), "{");
    expect(await shown(at)).toMatchObject([{ kind: "pause_ends", id: AGENT }]);
  });

  it("a pause that would end earlier, and none that ends as it would or has ended", async () => {
    const soon = new Date(Date.now() + 60_000).toISOString();
    const at = await backedUp(({ home }) => write(home.pausePath, PAUSE(soon)));
    expect(await shown(at)).toEqual([]);
    await write(at.home.pausePath, PAUSE("off"));
    expect(await shown(at)).toMatchObject([{ kind: "pause_ends" }]);
    await write(at.home.pausePath, PAUSE("2020-01-01T00:00:00.000Z"));
    expect(await shown(at)).toEqual([]);
  });

  it("that what opened the private key then would open it again, and the checkpoint key of then", async () => {
    const at = await backedUp(() => Promise.resolve());
    const { privateKeyPath, keysDir } = at.home;
    await write(privateKeyPath, `${await readFile(privateKeyPath, "utf8")}\n`);
    expect(await shown(at)).toMatchObject([{ kind: "unlock" }]);
    await write(join(keysDir, "checkpoint.key"), "another\n");
    expect(await shown(at)).toMatchObject([{ kind: "unlock" }, { kind: "checkpoint_key" }]);
  });
});

describe("acp restore keeps used what was used since", () => {
  const CLAIM = '{"key":"used:gr_1:0","end_ms":9000000000000,"ttl_ms":7000000000000}\n';
  const claims = ({ dir }: BackupWorld): string => join(dir, "claims", "claims.jsonl");
  const used = async (at: BackupWorld, text: string): Promise<void> => {
    await mkdir(dirname(claims(at)), { recursive: true, mode: 0o700 });
    await write(claims(at), text);
  };
  const counted = { ...GRANT, uses: 2, usesLeft: 2 };

  it.each([[[]], [["--without-logs"]]])("with %j", async (args) => {
    const at = await backedUp(({ home }) => fileGrants(home.grantsPath).put(counted));
    await used(at, CLAIM);
    expect(await at.acp("restore", at.file, "--yes", ...args)).toMatchObject({ code: 0 });
    expect(await fileClaims(dirname(claims(at))).isClaimed("used:gr_1:0")).toBe(true);
    expect(await fileGrants(at.home.grantsPath).list()).toMatchObject([{ id: "gr_1" }]);
  });

  it("and ends counted grants where nobody can tell", async () => {
    const at = await backedUp(async ({ home }) => {
      await fileGrants(home.grantsPath).put(counted);
      await fileGrants(home.grantsPath).put({ ...GRANT, id: "gr_2" });
    });
    await used(at, "hello\n");
    expect(await at.acp("restore", at.file, "--yes")).toMatchObject({ code: 0 });
    expect(await fileGrants(at.home.grantsPath).list()).toMatchObject([{ id: "gr_2" }]);
  });
});

describe("acp restore refuses", () => {
  it("to take the place of a folder that is no home", async () => {
    const at = await backedUp(() => Promise.resolve());
    await rm(at.dir, { recursive: true });
    await mkdir(at.dir, { mode: 0o700 });
    await write(join(at.dir, "thesis.txt"), "years");
    expect(await at.acp("restore", at.file, "--yes")).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("is no home of acp"),
    });
    expect(await readdir(at.dir)).toEqual(["thesis.txt"]);
    await rm(join(at.dir, "thesis.txt"));
    expect(await at.acp("restore", at.file, "--yes")).toMatchObject({ code: 0 });
  });
});

describe("acp backup refuses a place in the home", () => {
  it.each([
    ["by its path", "x.backup"],
    ["below a name of dots", "..x/x.backup"],
    ["through a link", "../link/x.backup"],
  ])("%s", async (_name, path) => {
    const { dir, acp } = await world();
    await mkdir(join(dir, "..x"));
    await symlink(dir, join(dir, "../link"));
    expect(await acp("backup", join(dir, path))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("it is in the home"),
    });
    expect(await readdir(join(dir, "..x"))).toEqual([]);
  });
});

describe("what a killed restore leaves", () => {
  /** As a process leaves it that is gone. */
  async function left(at: BackupWorld, change: object = {}): Promise<string> {
    const { dir } = await beginStaging({ kind: "restore", home: at.dir, target: at.dir });
    const note = JSON.parse(await readFile(`${dir}.json`, "utf8"));
    await write(`${dir}.json`, JSON.stringify({ ...note, pid: 2 ** 30, ...change }));
    await mkdir(dir, { mode: 0o700 });
    await write(join(dir, "private.key"), "secret");
    return dir;
  }
  const beside = ({ dir }: BackupWorld): Promise<readonly string[]> => readdir(dirname(dir));

  it("is found and removed by acp doctor --fix", async () => {
    const at = await world();
    await left(at);
    expect(codesOf(await at.examine())).toEqual(["restore_left"]);
    const { all, mended } = await at.fix();
    expect([codesOf(all), mended.map(({ is_done }) => is_done)]).toEqual([[], [true]]);
    expect(await beside(at)).toEqual(["h"]);
  });

  it("goes with the next restore", async () => {
    const at = await backedUp(() => Promise.resolve());
    await left(at);
    expect(await at.acp("restore", at.file, "--yes")).toMatchObject({ code: 0 });
    expect((await beside(at)).filter((name) => name.startsWith(".acp-"))).toEqual([]);
  });

  it("stays where a process may still make it, where it is of another home, and where nothing says whose it is", async () => {
    const at = await world();
    const kept = [
      await left(at, { pid: process.pid }),
      await left(at, { home: "/other", target: "/other" }),
      await left(at, { version: "2" }),
      await left(at, { pid: 0 }),
    ];
    const bare = join(dirname(at.dir), ".acp-01234567");
    await mkdir(bare);
    expect(await leftStagings(at.dir)).toEqual([]);
    expect(codesOf(await at.examine())).toEqual([]);
    await at.fix();
    const names = await beside(at);
    for (const path of [...kept, bare]) expect(names).toContain(path.split("/").at(-1));
  });

  it("is not followed where somebody put a link in its place", async () => {
    const at = await world();
    const dir = await left(at);
    await rm(dir, { recursive: true });
    await symlink(at.dir, dir);
    await at.fix();
    expect(await readdir(at.dir)).toContain("policy.yml");
    expect(await leftStagings(at.dir)).toEqual([]);
  });
});
