import { spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isGitsOwn } from "./git-own.js";
import { findPersistent, parentsBetween } from "./persistent.js";

let work: string;
beforeEach(() => {
  work = realpathSync(mkdtempSync(join(tmpdir(), "acp-persistent-")));
});
afterEach(() => rmSync(work, { recursive: true }));

function write(name: string, text = ""): void {
  mkdirSync(dirname(join(work, name)), { recursive: true });
  writeFileSync(join(work, name), text);
}

function git(...args: readonly string[]): void {
  const own = [
    "-c",
    "user.name=a",
    "-c",
    "user.email=a@example.com",
    "-c",
    "protocol.file.allow=always",
    "-c",
    "init.defaultBranch=main",
  ];
  const { status, stderr } = spawnSync("git", ["-C", work, ...own, ...args], { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
}

const found = (): readonly string[] =>
  findPersistent(work).places.map((path) => relative(work, path));

describe("findPersistent()", () => {
  it("finds files and folders by their names, wherever they are, and nothing else", () => {
    for (const name of [
      ".envrc",
      "a/b/.npmrc",
      ".vscode/tasks.json",
      "a/.Claude/settings.json",
      "x.code-workspace",
      "lefthook.yml",
    ])
      write(name);
    for (const name of [
      "package.json",
      "Makefile",
      "src/envrc",
      "node_modules/x/.npmrc",
      ".env",
      "vscode/a",
    ])
      write(name);
    symlinkSync("/nowhere", join(work, ".cursor"));
    expect(found()).toEqual([
      ".cursor",
      ".envrc",
      ".vscode",
      "a/.Claude",
      "a/b/.npmrc",
      "lefthook.yml",
      "x.code-workspace",
    ]);
  });

  it("finds what it knows in a workspace that is too full to be searched", () => {
    write("z/deep/.vscode/tasks.json");
    for (let index = 0; index < 60; index++) write(`a/${index}`);
    const known = ["z/deep/.vscode", "z/gone/.envrc", "a/1"].map((name) => join(work, name));
    expect(findPersistent(work, { entriesMax: 50 })).toEqual({ places: [], isComplete: false });
    expect(findPersistent(work, { entriesMax: 50, known })).toEqual({
      places: known.slice(0, 1),
      isComplete: false,
    });
    // its own folder is too full as well
    expect(findPersistent(work, { entriesMax: 0, known }).places).toEqual(known.slice(0, 1));
  });

  it("says that names that are not UTF-8 hide what counts", () => {
    const odd = (name: string): Buffer =>
      Buffer.concat([Buffer.from(`${work}/`), Buffer.from(name, "latin1")]);
    writeFileSync(odd("\xff.txt"), "");
    expect(findPersistent(work)).toEqual({ places: [], isComplete: true });
    writeFileSync(odd("\xff.code-workspace"), "");
    expect(findPersistent(work)).toEqual({ places: [], isComplete: false });
    rmSync(odd("\xff.code-workspace"));
    mkdirSync(odd("\xff"));
    expect(findPersistent(work)).toEqual({ places: [], isComplete: false });
  });

  it("finds what a repository runs, and leaves what a commit writes", () => {
    git("init", "-q");
    git("config", "core.hooksPath", "tools/hooks");
    write("tools/hooks/pre-commit");
    write("a.txt");
    git("add", ".");
    git("commit", "-qm", "one");
    expect(found()).toEqual([".git/config", ".git/hooks", "tools/hooks"]);
  });

  it("finds what a repository's configuration includes, and the programs that it names", () => {
    git("init", "-q");
    git("config", "include.path", "../shared.inc");
    write(
      "shared.inc",
      "[include]\n\tpath = more/deep.inc\n[alias]\n\tgo = !sh tools/go.sh test\n",
    );
    write(
      "more/deep.inc",
      "[core]\n\tfsmonitor = tools/watch\n\thooksPath = hooks\n[include]\n\tpath = ../shared.inc\n",
    );
    for (const name of [
      "tools/watch",
      "tools/go.sh",
      "tools/other.sh",
      "test/a.test.js",
      "hooks/pre-commit",
    ])
      write(name);
    expect(found()).toEqual([
      ".git/config",
      ".git/hooks",
      "hooks",
      "more/deep.inc",
      "shared.inc",
      "tools/go.sh",
      "tools/watch",
    ]);
  });

  it("finds nested, bare and other repositories, submodules and worktrees", () => {
    git("init", "-q", "nested");
    git("init", "-q", "--bare", "bare.git");
    git("-C", "nested", "commit", "-qm", "one", "--allow-empty");
    git("init", "-q");
    git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "./nested", "sub");
    git("-C", "nested", "worktree", "add", "-q", "../tree");
    const all = found();
    expect(all).toEqual(
      expect.arrayContaining([
        ".git/config",
        ".git/hooks",
        ".git/modules/sub/config",
        ".git/modules/sub/hooks",
        "bare.git/config",
        "bare.git/hooks",
        "nested/.git/config",
        "nested/.git/worktrees/tree/commondir",
        "nested/.git/worktrees/tree/gitdir",
        "sub/.git",
        "tree/.git",
      ]),
    );
  });

  it("is bounded, begins with what is nearest, and says so", () => {
    for (let index = 0; index < 20; index += 1) write(`a/b/c/${index}`);
    write(".envrc");
    write("a/b/c/d/.npmrc");
    expect(findPersistent(work)).toMatchObject({
      isComplete: true,
      places: [join(work, ".envrc"), join(work, "a/b/c/d/.npmrc")],
    });
    expect(findPersistent(work, { entriesMax: 10 })).toEqual({
      isComplete: false,
      places: [join(work, ".envrc")],
    });
  });

  it("finds what is nearest also in folders that an agent has filled", () => {
    git("init", "-q");
    write(".vscode/tasks.json");
    for (let index = 0; index < 30; index += 1)
      for (const name of [`${index}`, `.git/${index}`]) write(name);
    expect(findPersistent(work, { entriesMax: 20 })).toEqual({
      isComplete: false,
      places: [".git/config", ".git/hooks", ".vscode"].map((name) => join(work, name)),
    });
  });

  it("does not wait for a pipe, and says where it could not look", () => {
    mkdirSync(join(work, "a.git/objects"), { recursive: true });
    mkdirSync(join(work, "a.git/refs"));
    write("a.git/HEAD");
    spawnSync("mkfifo", [join(work, "a.git/config")]);
    expect(found()).toEqual(["a.git/config"]);
    expect(isGitsOwn(join(work, "a.git/config"))).toBe(false);
    if (process.getuid?.() === 0) return; // root looks everywhere
    mkdirSync(join(work, "closed"), { mode: 0 });
    git("init", "-q");
    git("config", "core.hooksPath", "closed/hooks");
    expect(findPersistent(work).isComplete).toBe(false);
    chmodSync(join(work, "closed"), 0o700);
  });

  it("finds nothing in nothing", () => {
    expect(findPersistent(work)).toEqual({ places: [], isComplete: true });
    expect(findPersistent(join(work, "gone"))).toEqual({ places: [], isComplete: true });
  });
});

describe("parentsBetween()", () => {
  it("names each folder between once, outermost first", () => {
    const places = ["/w/.envrc", "/w/a/.git/config", "/w/a/.git/hooks", "/w/a/b/.npmrc"];
    expect(parentsBetween("/w", places)).toEqual(["/w/a", "/w/a/b", "/w/a/.git"]);
  });
});

describe("isGitsOwn()", () => {
  const isOwn = (name: string): boolean => isGitsOwn(join(work, name));

  it("knows a repository as Git makes and clones it", () => {
    git("init", "-q", "made");
    git("-C", "made", "commit", "-qm", "one", "--allow-empty");
    git("clone", "-q", "./made", "cloned");
    for (const name of ["made", "cloned"])
      expect([isOwn(`${name}/.git/config`), isOwn(`${name}/.git/hooks`)]).toEqual([true, true]);
  });

  it.each([
    "[core]\n\tfsmonitor = ./x\n",
    "[core] fsmonitor = ./x\n",
    "[alias]\n\tst = !x\n",
    '[remote "origin"]\n\turl = ext::sh -c x\n',
    '[remote "origin"]\n\turl = -x\n',
    '[remote "origin"]\n\tuploadpack = ./x\n',
    "[include]\n\tpath = ../x\n",
    '[includeIf "gitdir:x"]\n\tpath = ../x\n',
    "[core]\n\tname = a \\\nfsmonitor = x\n",
    "[core]\r[alias]\rst = !x",
  ])("does not know %j", (text) => {
    write("config", text);
    expect(isOwn("config")).toBe(false);
  });

  it("does not know hooks, other files, and what is not there", () => {
    write("hooks/pre-commit.sample");
    expect(isOwn("hooks")).toBe(true);
    write("hooks/pre-commit");
    write(".envrc");
    expect([isOwn("hooks"), isOwn(".envrc"), isOwn("gone/config")]).toEqual([false, false, false]);
  });
});
