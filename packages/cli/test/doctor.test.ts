/**
 * The doctor's damages: each is found under its code, and where it can be mended a second look finds
 * it no more.
 */
import { chmod, mkdir, readFile, rm, truncate } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { isDeep, someInLane } from "../../../tools/deep.js";
import { FINDINGS } from "../src/doctor/codes.js";
import type { Examination } from "../src/doctor/examination.js";
import { makeFound } from "../src/doctor/finding.js";
import type { Mend } from "../src/doctor/finding.js";
import { fix } from "../src/doctor/fix.js";
import { findDisk } from "../src/doctor/look/disk.js";
import { findVersions } from "../src/doctor/look/machine.js";
import { FILES, FOREIGN, HOME, KEYS, SETTINGS } from "./doctor-damages.js";
import type { Damage } from "./doctor-damages.js";
import { LOGS, SOCKETS, STORES } from "./doctor-damages-kept.js";
import { MORE } from "./doctor-damages-more.js";
import {
  addEvents,
  codesOf,
  doctorWorld,
  edit,
  findingsOf,
  removeTemplate,
} from "./doctor-world.js";

afterAll(removeTemplate);

const isRoot = process.getuid?.() === 0;

async function check({ code, do: damage, isMended, parts }: Damage): Promise<void> {
  const world = await doctorWorld();
  await damage(world);
  const before = await world.examine(parts);
  expect(codesOf(before)).toContain(code);
  const finding = findingsOf(before).find((each) => each.code === code);
  expect(finding).toMatchObject({ level: FINDINGS[code].level, can_fix: isMended === true });
  // Nobody asked for a change.
  if (isDeep) expect(codesOf(await world.examine(parts))).toEqual(codesOf(before));
  if (isMended !== true) return;
  const { all, mended } = await world.fix(parts);
  expect(mended.filter((each) => !each.is_done)).toEqual([]);
  expect(codesOf(all)).not.toContain(code);
  if (!isDeep) return;
  const again = findingsOf(await world.examine(parts)).filter(({ level }) => level === "error");
  expect(again).toEqual([]);
}

it("a home that is well has no finding", async () => {
  const world = await doctorWorld();
  expect(findingsOf(await world.examine())).toEqual([]);
  expect(findingsOf(await world.examine({ isQuick: true }))).toEqual([]);
});

describe.each([
  ["home", HOME],
  ["files", FILES],
  ["settings", SETTINGS],
  ["keys", KEYS],
  ["logs", LOGS],
  ["stores", STORES],
  ["sockets", SOCKETS],
  ["rest", MORE],
] as const)("examine() of the %s finds", (_name, damages) => {
  it.each(someInLane(damages))("$name: $code", check);
});

it("there are more than sixty kinds of damage", () => {
  const lists = [HOME, FILES, SETTINGS, KEYS, LOGS, STORES, SOCKETS, MORE, FOREIGN];
  const names = lists.flat().map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names.length).toBeGreaterThan(60);
});

it("fix() sets nothing aside that only a mode made look broken", async () => {
  const world = await doctorWorld();
  const { home, log } = world;
  const before = await readFile(home.passkeysPath, "utf8");
  for (const path of [join(home.keysDir, "checkpoint.key"), home.passkeysPath, log])
    await chmod(path, 0o644);
  const { mended } = await world.fix();
  expect(mended.map(({ code }) => code)).toEqual(["file_open", "file_open", "file_open"]);
  expect(await readFile(home.passkeysPath, "utf8")).toBe(before);
});

it("examine() blames no file for the key that seals it, and no checkpoint for seams that are gone", async () => {
  const world = await doctorWorld();
  const { home, log, examine: look } = world;
  await edit(log, (text) => text.replace("sample 3", "simple 3"));
  await world.fix();
  await addEvents(home, 2);
  const key = join(home.keysDir, "checkpoint.key");
  await chmod(key, 0o644);
  expect(codesOf(await look())).toEqual(["file_open"]);
  await chmod(key, 0o600);
  await rm(`${log}.seams`);
  expect(codesOf(await look())).toEqual(["seams_missing"]);
});

it("fix() looks again before it does what an earlier change may have made needless", async () => {
  const { context } = await doctorWorld();
  let isBroken = true;
  const done: string[] = [];
  const mend = (note: "after" | "before", name: string): Mend => ({
    what: name,
    note,
    run() {
      isBroken = false;
      done.push(name);
      return Promise.resolve(name);
    },
  });
  const look: Examination["look"] = () =>
    Promise.resolve(
      isBroken
        ? [
            makeFound("grants_broken", { found: "x", mend: mend("before", "set aside") }),
            makeFound("file_open", { found: "x", mend: mend("after", "chmod") }),
          ]
        : [],
    );
  const examinations = [{ id: "stores", looksAt: "x", look }];
  const agrees = (): Promise<boolean> => Promise.resolve(true);
  await fix({ context: () => context(), code: undefined, agrees, examinations });
  expect(done).toEqual(["chmod"]);
});

describe.runIf(isRoot)("examine() of what others own finds", () => {
  it.each(FOREIGN)("$name: $code", check);
});

it("fix() does not do what the log cannot be told of before", async () => {
  const world = await doctorWorld();
  const { home, log } = world;
  await rm(log);
  await mkdir(log, { mode: 0o700 });
  await truncate(home.passkeysPath);
  const { all, mended } = await world.fix({}, "passkeys_broken");
  expect(mended).toMatchObject([{ code: "passkeys_broken", is_done: false }]);
  expect(codesOf(all)).toContain("passkeys_broken");
});

it("findDisk() finds a disk that is full, low, read-only or without inodes", () => {
  const disk = { bsize: 4_096, bavail: 1e6, blocks: 1e7, ffree: 1e6, files: 1e6, isWritable: true };
  const codes = (change: Partial<typeof disk>): readonly string[] =>
    findDisk("/", { ...disk, ...change }).map(({ finding }) => finding.code);
  expect(codes({})).toEqual([]);
  expect(codes({ bavail: 10 })).toEqual(["disk_full"]);
  expect(codes({ bavail: 10_000 })).toEqual(["disk_low"]);
  expect(codes({ ffree: 3 })).toEqual(["inodes_low"]);
  expect(codes({ ffree: 0, files: 0 })).toEqual([]);
  expect(codes({ isWritable: false })).toEqual(["disk_read_only"]);
});

it("findVersions() finds an old Node and parts of another version", () => {
  const codes = (node: string, core: string | undefined): readonly string[] =>
    findVersions(
      node,
      new Map([
        ["cli", "1.2.0"],
        ["core", core],
      ]),
    ).map(({ finding }) => finding.code);
  expect(codes("20.19.0", "1.2.0")).toEqual([]);
  expect(codes("24.1.0", undefined)).toEqual([]);
  expect(codes("20.18.9", "1.2.0")).toEqual(["node_old"]);
  expect(codes("18.20.0", "1.1.0")).toEqual(["node_old", "install_mixed"]);
});
