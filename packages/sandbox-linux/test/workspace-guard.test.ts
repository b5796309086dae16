/**
 * What other programs run by themselves in a workspace, before and after an agent that tried to
 * change it.
 */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Workspace } from "../src/parts.js";
import { namespaces, runShell } from "./namespace-kit.js";

const AGENT_UID = 61_008;
const isRoot = process.getuid?.() === 0;
const IDENTITY = "-c user.name=a -c user.email=a@example.com -c init.defaultBranch=main";

let work: string;
beforeEach(() => {
  work = realpathSync(mkdtempSync(join(tmpdir(), "acp-guard-")));
  chmodSync(work, 0o755);
  git("init", "-q");
  for (const name of [
    ".envrc",
    ".npmrc",
    ".vscode/tasks.json",
    "sub/.mcp.json",
    "tools/hooks/pre-commit",
    "a.txt",
  ])
    write(name, "before\n");
  git("config", "core.hooksPath", "tools/hooks");
  git("add", "a.txt");
  git("-c", "core.hooksPath=/nowhere", "commit", "-qm", "one");
  git("init", "-q", "nested");
  write(".git/hooks/pre-push", "before\n");
  if (isRoot) own(work);
});
afterEach(() => rmSync(work, { recursive: true }));

function git(...args: readonly string[]): void {
  execFileSync("git", ["-C", work, ...IDENTITY.split(" "), ...args], { stdio: "pipe" });
}

function write(name: string, text: string): void {
  mkdirSync(dirname(join(work, name)), { recursive: true });
  writeFileSync(join(work, name), text);
}

function own(path: string): void {
  chownSync(path, AGENT_UID, AGENT_UID);
  if (lstatSync(path).isDirectory()) for (const name of readdirSync(path)) own(join(path, name));
}

const GUARDED = [
  ".envrc",
  ".npmrc",
  ".vscode",
  ".git/config",
  ".git/hooks",
  "sub/.mcp.json",
  "tools/hooks",
  "nested/.git/config",
  "nested/.git/hooks",
];

/**
 * Every guarded file's path and content. What else was there an agent may copy, move and remove.
 */
function look(): readonly string[] {
  return GUARDED.flatMap((name) => lookAt(join(work, name))).sort();
}

function lookAt(path: string): readonly string[] {
  const name = path.slice(work.length);
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return [`${name} is gone`];
  if (found.isDirectory())
    return [`${name}/`, ...readdirSync(path).flatMap((each) => lookAt(join(path, each)))];
  return [`${name} ${found.isFile() ? readFileSync(path, "latin1") : "link"}`];
}

const run = (script: string, more: Partial<Workspace> = {}): ReturnType<typeof runShell> =>
  runShell(script, {
    workspace: { path: work, access: "read-write", ...more },
    ...(isRoot && { user: AGENT_UID }),
  });

const WAYS: readonly (readonly [name: string, script: string])[] = [
  [
    "writing",
    "echo x > .envrc; echo x >> .npmrc; echo x > .git/hooks/pre-push; echo x > tools/hooks/pre-commit",
  ],
  [
    "making new files beside",
    "echo x > .git/hooks/post-commit; echo x > .vscode/settings.json; echo x > tools/hooks/post-merge",
  ],
  [
    "Git's configuration",
    "git config core.fsmonitor ./x; git config alias.x '!x'; git -C nested config core.fsmonitor ./x",
  ],
  [
    "removing and making again",
    "rm -rf .envrc .vscode .git/hooks .git/config; echo x > .envrc; mkdir -p .vscode; echo x > .vscode/tasks.json",
  ],
  [
    "renaming over",
    "echo x > new; mv -f new .envrc; mkdir n; mv -T n .vscode; mkdir h; mv -T h .git/hooks; rm -rf new n h",
  ],
  [
    "renaming away",
    "mv .envrc old; mv .vscode v; mv .git g; mv sub s; mv nested n; mv tools t; mv tools/hooks h; mv nested/.git ng; true",
  ],
  [
    "exchanging",
    `python3 -c '
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for name in ("sub", ".git", ".vscode", "nested", "tools"):
    os.makedirs("x/" + name)
    libc.syscall(316, -100, ("x/" + name).encode(), -100, name.encode(), 2)
'; rm -rf x`,
  ],
  [
    "a link in its place",
    "ln -sfn /tmp .vscode; ln -sf /tmp/x .envrc; ln -sfn /tmp .git/hooks; ls -ld .vscode",
  ],
  ["a second name", "ln .envrc e && echo x > e; rm -f e"],
  [
    "an open descriptor",
    `python3 -c 'import os; f = os.open(".envrc", os.O_RDONLY); os.write(os.open(f"/proc/self/fd/{f}", os.O_WRONLY), b"x")'`,
  ],
  ["its mode", "chmod 777 .envrc .git/hooks/pre-push; chmod -R 777 .vscode"],
  ["mounting", "umount .vscode; umount -l .git/hooks; mount --bind /tmp .vscode"],
];

describe.skipIf(!namespaces.run)(`the guard of a workspace ${namespaces.reason}`, () => {
  it.each(WAYS)("holds against %s", async (_name, script) => {
    const before = look();
    const { output } = await run(`(${script}) >/dev/null 2>&1; echo ended`);
    expect(output).toBe("ended\n");
    expect(look()).toEqual(before);
    expect((lstatSync(join(work, ".envrc")).mode & 0o777).toString(8)).toBe("644");
  });

  it("lets an agent work: commit, branch, new files, folders and repositories", async () => {
    const script = `set -e
      echo more >> a.txt; git ${IDENTITY} -c core.hooksPath=/nowhere commit -qam two; git ${IDENTITY} checkout -q -b side; git stash list
      mkdir -p src/deep; echo x > src/deep/b.ts; mv src lib; echo x > sub/c.txt; mv sub/c.txt sub/d.txt
      git ${IDENTITY} init -q made; cd made; git ${IDENTITY} commit -q --allow-empty -m one; git ${IDENTITY} config a.b c; cd ..
      git log --oneline | wc -l`;
    const { output, exit } = await run(`(${script}) 2>&1`);
    expect([output.trim(), exit.code]).toEqual(["2", 0]);
    expect(readFileSync(join(work, "lib/deep/b.ts"), "utf8")).toBe("x\n");
  });

  it("leaves no litter, also where nothing is guarded", async () => {
    const before = readdirSync(work).sort();
    await run("true");
    expect(readdirSync(work).sort()).toEqual(before);
  });

  it("gives back what the operator names, and no more", async () => {
    const before = look();
    const writable = [join(work, ".vscode/tasks.json"), join(work, ".envrc")];
    await run(
      "echo x > .envrc; echo x > .vscode/tasks.json; echo x > .vscode/other; echo x > .npmrc",
      { writable },
    );
    const changed = look().filter((line) => !before.includes(line));
    expect(changed).toEqual(["/.envrc x\n", "/.vscode/tasks.json x\n"]);
  });

  it("says how many places are held", async () => {
    const { report } = await run("true");
    expect(report.items.find(({ aspect }) => aspect === "files")?.reason).toMatch(
      /; 9 places of the workspace/u,
    );
    expect(report.level).toBe("full");
  });

  it("starts where a place is a link, or is gone", async () => {
    symlinkSync("/nowhere", join(work, ".cursor"));
    const { exit } = await run("exit 3");
    expect(exit.code).toBe(3);
  });
});
