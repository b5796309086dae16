/**
 * Backups and restores that are killed between any two changes of the file system, and disks that
 * are full: what was there is whole, or what was to be is.
 */
import { spawnSync } from "node:child_process";
import { cp, lstat, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { verifyAuditLog } from "@acp/audit";
import { openHome } from "@acp/home";
import { afterAll, expect, it, onTestFinished } from "vitest";
import { eventsIn, folder, say, UNLOCK } from "./backup-world.js";
import { doctorWorld, removeTemplate } from "./doctor-world.js";
import { BIN } from "./harness.js";

afterAll(removeTemplate);

const KILL = fileURLToPath(new URL("kill-at.mjs", import.meta.url));

/** Runs `acp`, killed at a call; resolves with how many calls it made where it was not. */
function killedAt(
  at: number,
  argv: readonly string[],
): { readonly isKilled: boolean; readonly calls: number } {
  const { status, signal, stderr } = spawnSync(process.execPath, ["--import", KILL, BIN, ...argv], {
    env: {
      PATH: process.env["PATH"],
      HOME: process.env["HOME"],
      ACP_TEST_KILL_AT: String(at),
      ACP_TEST_CALLS: "1",
    },
    encoding: "utf8",
  });
  const calls = Number(/^calls (\d+)$/m.exec(stderr)?.[1] ?? "0");
  if (signal === null && status !== 0) throw new Error(stderr);
  return { isKilled: signal === "SIGKILL", calls };
}

/** Kills at every point, each time in a world of its own. */
async function atEveryPoint(
  run: (at: number) => Promise<{ readonly isKilled: boolean; readonly calls: number }>,
): Promise<number> {
  const { calls } = await run(0);
  expect(calls).toBeGreaterThan(3);
  let killed = 0;
  for (let at = 2; at <= 2 * calls + 1; at++) killed += (await run(at)).isKilled ? 1 : 0;
  return killed;
}

/** What restores and moves left in a folder. */
const stagingsIn = async (at: string): Promise<readonly string[]> =>
  (await readdir(at)).filter((name) => name.startsWith(".acp-"));

interface Made {
  readonly at: string;
  readonly dir: string;
  readonly file: string;
  readonly key: readonly string[];
}

async function made(): Promise<Made> {
  const { home } = await doctorWorld();
  const at = await folder();
  const keyFile = join(at, "k");
  await writeFile(keyFile, UNLOCK.kind === "key-file" ? UNLOCK.text : "", { mode: 0o600 });
  const key = ["--key-file", keyFile];
  return { at, dir: home.dir, file: join(at, "b"), key };
}

it("acp backup is there and complete, or not there, wherever it is killed", async () => {
  const { file, key, dir } = await made();
  let number = 0;
  const killed = await atEveryPoint(async (at) => {
    const name = `${file}${number++}`;
    const end = killedAt(at, ["backup", name, ...key, "--home", dir]);
    const isThere = (await readdir(join(file, ".."))).includes(name.split("/").at(-1) ?? "");
    if (isThere)
      expect((await say(["restore", name, "--dry-run", ...key, "--home", dir])).code).toBe(0);
    else expect(end.isKilled).toBe(true);
    return end;
  });
  expect(killed).toBeGreaterThan(5);
  await openHome(dir);
});

it("acp restore leaves the old home or the new one whole, wherever it is killed", async () => {
  const { dir, file, key, at } = await made();
  await say(["backup", file, ...key, "--home", dir]);
  const policy = join(dir, "policy.yml");
  const then = await readFile(policy, "utf8");
  await writeFile(policy, "version: '1'\n");
  const count = await eventsIn(dir);
  let [number, finished] = [0, 0];
  const killed = await atEveryPoint(async (point) => {
    const parent = join(at, String(number++));
    const own = join(parent, "h");
    await cp(dir, own, { recursive: true });
    const end = killedAt(point, ["restore", file, "--yes", ...key, "--home", own]);
    const isMissing = !(await readdir(parent)).includes("h");
    if (isMissing) {
      // Nobody takes it for a home that never was.
      expect(await say(["init", "--home", own])).toMatchObject({
        code: 3,
        stderr: expect.stringContaining("home_half_moved"),
      });
      expect(
        await say(["doctor", "--fix", "home_half_moved", "--yes", "--quick", "--home", own]),
      ).toMatchObject({ code: 0 });
      finished += 1;
    }
    await openHome(own);
    const isNew = (await readFile(join(own, "policy.yml"), "utf8")) === then;
    const { ok, events } = await verifyAuditLog(join(own, "audit.jsonl"));
    expect([ok, events]).toEqual([true, isNew ? count + 1 : count]);
    // And again, to the end.
    const again = await say(["restore", file, "--yes", ...key, "--home", own]);
    expect(again).toMatchObject({ code: 0 });
    expect(await stagingsIn(parent)).toEqual([]);
    return end;
  });
  expect([killed > 20, finished > 0]).toEqual([true, true]);
});

it("acp move to another file system leaves one home whole, wherever it is killed", async (test) => {
  const { dir, at } = await made();
  const shm = await mkdtemp("/dev/shm/acp-").catch(() => undefined);
  if (shm !== undefined) onTestFinished(() => rm(shm, { recursive: true, force: true }));
  if (shm === undefined || (await lstat(shm)).dev === (await lstat(at)).dev)
    return test.skip("there is no second file system here");
  const count = await eventsIn(dir);
  let [number, finished] = [0, 0];
  const killed = await atEveryPoint(async (point) => {
    const parent = join(at, `m${number}`);
    const [from, to] = [join(parent, "h"), join(shm, `n${number++}`)];
    await cp(dir, from, { recursive: true });
    const end = killedAt(point, ["move", to, "--home", from]);
    const isThere = async (path: string): Promise<boolean> =>
      await lstat(path).then(
        () => true,
        () => false,
      );
    if (!(await isThere(from)) && !(await isThere(to))) finished += 1;
    // Whoever runs it again, until it says that nothing is left to do, has one whole home.
    for (let tries = 0; tries < 3 && !(await isThere(to)); tries++)
      expect(await say(["move", to, "--home", from])).toMatchObject({ code: 0 });
    await openHome(to);
    const { ok, events } = await verifyAuditLog(join(to, "audit.jsonl"));
    expect([ok, events >= count]).toEqual([true, true]);
    // Killed between the last rename and the end: the doctor finds the note.
    if ((await stagingsIn(shm)).length > 0)
      expect(
        await say(["doctor", "--fix", "restore_left", "--yes", "--quick", "--home", to]),
      ).toMatchObject({ code: 0 });
    expect(await stagingsIn(shm)).toEqual([]);
    return end;
  });
  expect([killed > 20, finished > 0]).toEqual([true, true]);
});

it("acp backup on a full disk leaves nothing and says so", async () => {
  const { dir, file, key, at } = await made();
  await writeFile(join(dir, "audit.jsonl.000000000001"), "x".repeat(3_000_000), { mode: 0o600 });
  const before = await readdir(at);
  const words = ["backup", file, ...key, "--home", dir].map((word) => `'${word}'`).join(" ");
  // A limit of the file's size stands for a full disk.
  const { status, stderr } = spawnSync(
    "bash",
    ["-c", `ulimit -f 1000; exec '${process.execPath}' '${BIN}' ${words}`],
    { encoding: "utf8" },
  );
  expect([status, stderr]).toEqual([3, expect.stringContaining("Cannot write")]);
  expect(await readdir(at)).toEqual(before);
});
