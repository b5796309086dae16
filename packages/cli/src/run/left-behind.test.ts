import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { lookBefore, setNewAside } from "./left-behind.js";
import type { WorkspaceBefore } from "./left-behind.js";

let scratch: string;
let work: string;
beforeEach(() => {
  scratch = realpathSync(mkdtempSync(join(tmpdir(), "acp-left-")));
  work = join(scratch, "work");
  mkdirSync(work);
});
afterEach(() => rmSync(scratch, { recursive: true }));

function write(name: string): void {
  mkdirSync(dirname(join(work, name)), { recursive: true });
  writeFileSync(join(work, name), "");
}

function before(path: string = work, writable: readonly string[] = []): WorkspaceBefore {
  const found = lookBefore({ path, access: "read-write", writable });
  if (found === undefined) throw new Error("nothing can be left there");
  return found;
}

function git(...args: readonly string[]): void {
  const identity = [
    "-c",
    "user.name=a",
    "-c",
    "user.email=a@example.com",
    "-c",
    "protocol.file.allow=always",
  ];
  const { status, stderr } = spawnSync("git", [...identity, ...args], {
    cwd: work,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(stderr);
}

describe("setNewAside()", () => {
  it("renames what is new and says so, and touches nothing else", () => {
    write(".envrc");
    const state = before();
    expect(setNewAside(state)).toBeUndefined();
    for (const name of ["src/a.ts", "sub/.npmrc", ".vs\u001bcode/a", ".vscode/tasks.json"])
      write(name);
    expect(setNewAside(state)).toMatch(
      /looked: \.vscode → \.vscode\.set-aside, sub\/\.npmrc → sub\/\.npmrc\.set-aside\.$/u,
    );
    expect(new Set(readdirSync(work))).toEqual(
      new Set([".envrc", ".vscode.set-aside", ".vs\u001bcode", "src", "sub"]),
    );
    expect(setNewAside(state)).toBeUndefined();
  });

  it("leaves repositories, submodules and worktrees as Git makes them", () => {
    const state = before();
    for (const name of ["made", "other"]) {
      git("init", "-q", name);
      git("-C", name, "commit", "-q", "--allow-empty", "-m", "first");
    }
    git("-C", "made", "submodule", "--quiet", "add", join(work, "other"), "sub");
    git("-C", "made", "worktree", "add", "-q", "tree");
    expect(setNewAside(state)).toBeUndefined();
    git("-C", "made/sub", "status");
    git("-C", "made/tree", "status");
    write("made/.git/hooks/post-commit");
    write("made/.git/modules/sub/hooks/post-checkout");
    git("-C", "other", "config", "core.fsmonitor", "./x");
    expect(setNewAside(state)).toMatch(
      /made\/\.git\/hooks → .*made\/\.git\/modules\/sub\/hooks → .*other\/\.git\/config → /u,
    );
    expect(existsSync(join(work, "made/.git/hooks"))).toBe(false);
  });

  it.each([
    ["to another folder", "gitdir: ../evil\n"],
    ["to where nobody looks", "gitdir: ../node_modules/.git/modules/evil\n"],
    ["through a link", "gitdir: ../.git/modules/link\n"],
    ["to a repository beside it", "gitdir: ../beside/.git/modules/evil\n"],
    ["nowhere", "gitdir: ../.git/modules/none\n"],
  ])("sets a .git aside that leads %s", (_name, text) => {
    const state = before();
    for (const name of ["evil", "node_modules/.git/modules/evil", "beside/.git/modules/evil"])
      mkdirSync(join(work, name), { recursive: true });
    mkdirSync(join(work, ".git/modules"), { recursive: true });
    symlinkSync("../../evil", join(work, ".git/modules/link"));
    mkdirSync(join(work, "sub"));
    writeFileSync(join(work, "sub/.git"), text);
    expect(setNewAside(state)).toContain("sub/.git → sub/.git.set-aside");
  });

  it("looks into what the agent closed, which the next start would open", () => {
    const state = before();
    for (const name of ["shut", "entered"]) write(`${name}/.npmrc`);
    chmodSync(join(work, "shut"), 0);
    chmodSync(join(work, "entered"), 0o300);
    expect(setNewAside(state)).toMatch(/entered\/\.npmrc → .*shut\/\.npmrc → /u);
  });

  it("says so where it has not seen all, also where it found nothing", () => {
    const state = before();
    mkdirSync(join(work, "many"));
    for (let index = 0; index < 50_000; index += 1)
      symlinkSync("x", join(work, "many", String(index)));
    write("many/below/.npmrc");
    expect(setNewAside(state)).toMatch(/^The workspace has too many entries/u);
  });

  it("leaves no hooks that are a link, and no commondir that leads to what is no repository for the walk", () => {
    const state = before();
    git("init", "-q", "made");
    rmSync(join(work, "made/.git/hooks"), { recursive: true });
    symlinkSync("../../later", join(work, "made/.git/hooks"));
    git("init", "-q", "evil");
    for (const name of ["objects", "refs"])
      renameSync(join(work, "evil/.git", name), join(work, "evil", name));
    for (const name of ["config", "hooks", "branches"])
      rmSync(join(work, "evil/.git", name), { recursive: true, force: true });
    mkdirSync(join(work, "evil/sub"));
    renameSync(join(work, "evil/.git"), join(work, "evil/sub/.git"));
    writeFileSync(join(work, "evil/sub/.git/commondir"), "../..\n");
    writeFileSync(
      join(work, "evil/config"),
      `[core]\n\trepositoryformatversion = 0\n\tfsmonitor = touch ${join(scratch, "ran")}\n`,
    );
    git("-C", "evil/sub", "status");
    expect(existsSync(join(scratch, "ran"))).toBe(true); // without us it is run
    expect(setNewAside(state)).toMatch(/evil\/sub\/\.git\/commondir → .*made\/\.git\/hooks → /u);
  });

  it("takes for new what was replaced under its name while it was held", () => {
    for (const name of [".npmrc", ".envrc", ".vscode/tasks.json"]) write(name);
    const held = lookBefore({ path: work, access: "read-write" }, { isHeld: true });
    const named = before();
    write(".vscode/more.json");
    // As `git config`, editors and `sed -i` do; the mount over it is gone then.
    write("beside");
    renameSync(join(work, "beside"), join(work, ".npmrc"));
    expect(setNewAside(named)).toBeUndefined();
    expect(held && setNewAside(held)).toMatch(/looked: \.npmrc → \.npmrc\.set-aside\.$/u);
  });

  it("takes for new what changed without being held, and no more", () => {
    for (const name of [".npmrc", ".envrc", ".vscode/tasks.json", ".idea/a"]) write(name);
    git("init", "-q", "made");
    git("init", "-q", "kept");
    const unheld = [
      ".npmrc",
      ".envrc",
      ".vscode",
      ".idea",
      "made/.git/config",
      "kept/.git/config",
    ].map((name) => join(work, name));
    const state = lookBefore({ path: work, access: "read-write" }, { isHeld: true, unheld });
    git("-C", "made", "config", "core.fsmonitor", "./watch");
    appendFileSync(join(work, ".npmrc"), "script-shell=./x\n");
    writeFileSync(join(work, ".vscode/tasks.json"), "x");
    const notice = state && setNewAside(state);
    for (const name of [".npmrc", ".vscode", "made/.git/config"])
      expect(notice).toContain(`${name} → `);
    for (const name of [".envrc", ".idea", "kept"]) expect(notice).not.toContain(name);
  });

  it("leaves what the operator gave to the agent", () => {
    const state = before(work, [join(work, ".vscode")]);
    for (const name of [".vscode/tasks.json", ".npmrc"]) write(name);
    expect(setNewAside(state)).toMatch(/looked: \.npmrc → \.npmrc\.set-aside\.$/u);
  });

  it("looks at the folder behind a link, keeps a list short, and shows no control characters", () => {
    symlinkSync(work, join(scratch, "link"));
    const state = before(join(scratch, "link"));
    for (let index = 10; index < 25; index += 1) write(`\u001b[2J${index}/.npmrc`);
    const notice = setNewAside(state) ?? "";
    expect(notice.match(/npmrc →/gu)).toHaveLength(10);
    expect(notice).toContain("and 5 more");
    expect(notice).not.toContain("\u001b");
  });

  it("has nothing to look at where nothing is written, and nothing to say where the workspace is gone", () => {
    for (const workspace of [undefined, { path: work, access: "read-only" } as const])
      expect(lookBefore(workspace)).toBeUndefined();
    const state = before();
    rmSync(work, { recursive: true });
    expect(setNewAside(state)).toBeUndefined();
  });
});
