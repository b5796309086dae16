import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { setAside } from "./set-aside.js";

let scratch: string;
let work: string;
beforeEach(() => {
  scratch = realpathSync(mkdtempSync(join(tmpdir(), "acp-aside-")));
  work = join(scratch, "work");
  mkdirSync(work);
});
afterEach(() => rmSync(scratch, { recursive: true }));

function write(name: string, text = ""): string {
  const path = join(work, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

describe("setAside()", () => {
  it("renames files, folders and links in their own folder, and loses nothing", () => {
    const file = write("sub/.npmrc", "a");
    write(".vscode/tasks.json", "b");
    symlinkSync("sub", join(work, ".idea"));
    expect(setAside(work, [file, join(work, ".vscode"), join(work, ".idea")])).toEqual([
      { place: file, aside: `${file}.set-aside` },
      { place: join(work, ".vscode"), aside: join(work, ".vscode.set-aside") },
      { place: join(work, ".idea"), aside: join(work, ".idea.set-aside") },
    ]);
    expect(readdirSync(work).sort()).toEqual([".idea.set-aside", ".vscode.set-aside", "sub"]);
    expect(readFileSync(join(work, "sub/.npmrc.set-aside"), "utf8")).toBe("a");
    expect(lstatSync(join(work, ".idea.set-aside")).isSymbolicLink()).toBe(true);
  });

  it("replaces nothing that has such a name already", () => {
    const first = write(".envrc.set-aside", "first");
    symlinkSync("nowhere", join(work, ".envrc.set-aside-2"));
    const file = write(".envrc", "third");
    expect(setAside(work, [file])).toEqual([
      { place: file, aside: join(work, ".envrc.set-aside-3") },
    ]);
    expect(readFileSync(first, "utf8")).toBe("first");
  });

  it("finds a name where an agent has taken those that it knows", () => {
    const file = write(".envrc");
    for (let index = 1; index <= 120; index += 1)
      write(`.envrc.set-aside${index === 1 ? "" : `-${index}`}`);
    expect(setAside(work, [file])[0]?.aside).toMatch(/\.envrc\.set-aside-[0-9a-f]{16}$/u);
    expect(existsSync(file)).toBe(false);
  });

  it("goes through no link, and to nothing outside", () => {
    const outside = join(scratch, "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, ".npmrc"), "");
    symlinkSync(outside, join(work, "link"));
    const places = [join(work, "link/.npmrc"), join(outside, ".npmrc"), work];
    expect(setAside(work, places)).toEqual([{ place: places[0] }]);
    expect(readdirSync(outside)).toEqual([".npmrc"]);
    expect(existsSync(work)).toBe(true);
  });

  it("says nothing of what is gone", () => {
    expect(setAside(work, [join(work, ".npmrc")])).toEqual([]);
  });

  it("moves what lies in a folder that the agent closed, and closes it again", () => {
    const file = write("closed/.npmrc");
    chmodSync(join(work, "closed"), 0o500);
    expect(setAside(work, [file])).toEqual([{ place: file, aside: `${file}.set-aside` }]);
    expect(statSync(join(work, "closed")).mode & 0o777).toBe(0o500);
    chmodSync(join(work, "closed"), 0o700); // so that it can be removed
  });

  it("cuts a name that has no room for more", () => {
    const file = write(`${"ü".repeat(110)}.code-workspace`);
    const [{ aside = "" } = {}] = setAside(work, [file]);
    expect(aside).toMatch(/ü\.set-aside$/u);
    expect(existsSync(aside)).toBe(true);
  });
});
