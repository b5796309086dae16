import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  closeSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hostNeed } from "@acp/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { holdHelper } from "./native-helper.js";
import { fileIdOf } from "./places.js";
import { putFile, putLink, type PutPlace, type PutResult, remove, stateOf } from "./review-put.js";
import { openRenames, type Renames } from "./review-renames.js";

const helper = await holdHelper();
const need = hostNeed("cc", () => (helper.isAvailable ? undefined : helper.reason));
const strace = hostNeed("strace", () =>
  spawnSync("strace", ["-V"]).status === 0 ? undefined : "there is no strace",
);

/** Options of strace under which the kernel has no renameat2(). */
const FAILING = "-f -qq -o /dev/null -e trace=renameat2 -e inject=renameat2:error=EINVAL".split(
  " ",
);

const WANTED = "the agent's\n";
const file = {
  kind: "file",
  mode: 0o644,
  size: WANTED.length,
  sha256: createHash("sha256").update(WANTED).digest("hex"),
} as const;

let work: string;
let folder: number;
let content: number;
let renames: Renames;
const at = (name: string): string => join(work, name);
const read = (name: string): string => readFileSync(at(name), "utf8");
/** A place as it is looked at now. */
const place = async (name: string, through = renames): Promise<PutPlace> => ({
  folder,
  path: "",
  name,
  now: await stateOf(folder, name),
  renames: through,
});
const put = (where: PutPlace): Promise<PutResult> => putFile(where, file, { content, at: 0 });

describe.runIf(need.run)(`what somebody writes between the look and the take${need.reason}`, () => {
  beforeEach(async () => {
    work = realpathSync(mkdtempSync(join(tmpdir(), "acp-put-")));
    folder = openSync(work, "r");
    writeFileSync(`${work}.content`, WANTED);
    content = openSync(`${work}.content`, "r");
    renames = await openRenames(folder);
    writeFileSync(at("a"), "before\n");
  });
  afterEach(async () => {
    await renames[Symbol.asyncDispose]();
    for (const fd of [folder, content]) closeSync(fd);
    rmSync(work, { recursive: true });
    rmSync(`${work}.content`);
  });

  it("is taken where nobody wrote anything", async () => {
    expect(await put(await place("a"))).toBe("taken");
    expect(await put(await place("new"))).toBe("taken");
    expect([read("a"), read("new"), readdirSync(work)]).toEqual([WANTED, WANTED, ["a", "new"]]);
    expect(await remove(await place("a"))).toBe("taken");
    expect(readdirSync(work)).toEqual(["new"]);
  });

  it.each([
    [
      "renames over it",
      (): void => (writeFileSync(at("b"), "theirs\n"), renameSync(at("b"), at("a"))),
    ],
    ["appends to it", (): void => appendFileSync(at("a"), "theirs\n")],
    ["changes its mode", (): void => chmodSync(at("a"), 0o600)],
  ])("stays at its name where somebody %s", async (_name, write) => {
    const [changed, removed, linked] = [await place("a"), await place("a"), await place("a")];
    write();
    const theirs = [read("a"), lstatSync(at("a")).ino, lstatSync(at("a")).mode];
    expect(await put(changed)).toBe("conflicts");
    expect(await remove(removed)).toBe("conflicts");
    expect(await putLink(linked, { kind: "link", target: "x" })).toBe("conflicts");
    expect([read("a"), lstatSync(at("a")).ino, lstatSync(at("a")).mode]).toEqual(theirs);
    expect(readdirSync(work)).toEqual(["a"]);
  });

  it("stays away where somebody removed it, and is not written over where it came", async () => {
    const [gone, comes] = [await place("a"), await place("new")];
    unlinkSync(at("a"));
    writeFileSync(at("new"), "theirs\n");
    expect([await put(gone), await put(comes)]).toEqual(["conflicts", "conflicts"]);
    expect([readdirSync(work), read("new")]).toEqual([["new"], "theirs\n"]);
  });

  it("reaches the file of whoever has it open for writing", async () => {
    const [changed, removed] = [await place("a"), await place("a")];
    const theirs = openSync(at("a"), "a");
    expect([await put(changed), await remove(removed)]).toEqual(["conflicts", "conflicts"]);
    writeSync(theirs, "theirs\n");
    closeSync(theirs);
    expect([read("a"), readdirSync(work)]).toEqual(["before\ntheirs\n", ["a"]]);
  });

  it("is kept beside it where both get something new in the same moment", async () => {
    let isFirst = true;
    const meanwhile: Renames = {
      ...renames,
      exchange: async (where, name, other) => {
        const said = await renames.exchange(where, name, other);
        if (isFirst) {
          writeFileSync(at("c"), "third\n");
          renameSync(at("c"), at("a"));
        }
        isFirst = false;
        return said;
      },
    };
    const where = await place("a", meanwhile);
    appendFileSync(at("a"), "theirs\n");
    await expect(put(where)).rejects.toThrow(/kept beside it as \.acp-take-/u);
    const all = readdirSync(work).map(read);
    expect(all).toHaveLength(2);
    expect(all).toEqual(expect.arrayContaining(["before\ntheirs\n", "third\n"]));
  });

  it("is left alone in another folder that took the path meanwhile", async () => {
    mkdirSync(at("sub"));
    writeFileSync(at("sub/a"), "before\n");
    const sub = openSync(at("sub"), "r");
    try {
      const where = { ...(await place("a")), folder: sub, path: "sub" };
      renameSync(at("sub"), at("away"));
      mkdirSync(at("sub"));
      writeFileSync(at("sub/a"), "before\n");
      expect([await put(where), await remove(where)]).toEqual(["conflicts", "conflicts"]);
      expect(await renames.take(where, "a", "b")).toBe("other");
      expect([read("sub/a"), read("away/a")]).toEqual(["before\n", "before\n"]);
    } finally {
      closeSync(sub);
    }
  });

  it.runIf(strace.run)(
    `is safe where the file system can neither exchange nor refuse names${strace.reason}`,
    () => {
      writeFileSync(at("b"), "other\n");
      const { device, inode } = fileIdOf(folder);
      const order = (...words: readonly string[]): string =>
        [words[0], `${device}:${inode}`, "/.", words[1], words[2]]
          .map((each) => `${each}\0`)
          .join("");
      const { stdout } = spawnSync(
        "strace",
        [...FAILING, helper.isAvailable ? helper.path : "", "--renames", "3"],
        {
          stdio: ["pipe", "pipe", "inherit", folder],
          input: order("x", "a", "b") + order("m", "a", "b") + order("t", "a", "c"),
          encoding: "utf8",
        },
      );
      expect(stdout).toBe("done\nthere\ndone\n");
      expect(readdirSync(work).map((name) => [name, read(name)])).toEqual([
        ["b", "before\n"],
        ["c", "other\n"],
      ]);
    },
  );
});
