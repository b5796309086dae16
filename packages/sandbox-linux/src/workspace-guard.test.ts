import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { guardWorkspace } from "./workspace-guard.js";

let work: string;
beforeEach(() => {
  work = realpathSync(mkdtempSync(join(tmpdir(), "acp-guarded-")));
});
afterEach(() => rmSync(work, { recursive: true }));

function write(...names: readonly string[]): void {
  for (const name of names) {
    mkdirSync(dirname(join(work, name)), { recursive: true });
    writeFileSync(join(work, name), "");
  }
}

const at = (...names: readonly string[]): readonly string[] =>
  names.map((name) => join(work, name));
const knowing = (...known: readonly string[]) =>
  guardWorkspace({ path: work, access: "read-write", known: at(...known) });
const guard = (...writable: readonly string[]) =>
  guardWorkspace({ path: work, access: "read-write", writable: at(...writable) });

describe("guardWorkspace()", () => {
  it("holds the places, and the names of the folders above them", () => {
    write(".envrc", "a/b/.vscode/tasks.json", "a/c.txt");
    const readOnly = at(".envrc", "a/b/.vscode");
    expect(guard()).toEqual({
      found: readOnly,
      unheld: [],
      readOnly,
      pinned: at("a", "a/b"),
      writable: [],
      isComplete: true,
    });
  });

  it("has nothing to hold where nothing is written, or nothing is there", () => {
    write(".envrc");
    const nothing = {
      found: undefined,
      unheld: [],
      readOnly: [],
      pinned: [],
      writable: [],
      isComplete: true,
    };
    expect(guardWorkspace({ path: work, access: "read-only" })).toEqual(nothing);
    expect(guardWorkspace(undefined)).toEqual(nothing);
  });

  it("opens what the agent's user has closed, and looks into it", () => {
    const uid = process.getuid?.() ?? 0;
    mkdirSync(join(work, "closed/.git/hooks"), { recursive: true });
    mkdirSync(join(work, "closed/.git/objects"));
    mkdirSync(join(work, "closed/.git/refs"));
    writeFileSync(join(work, "closed/.git/HEAD"), "");
    for (const name of ["closed/.git/hooks", "closed/.git", "closed"])
      chmodSync(join(work, name), 0);
    const user = { uid, gid: uid, name: "agent", home: "/nonexistent" };
    const { readOnly, isComplete } = guardWorkspace({ path: work, access: "read-write" }, user);
    expect([readOnly, isComplete]).toEqual([at("closed/.git/hooks"), true]);
    expect(statSync(join(work, "closed")).mode & 0o777).toBe(0o700);
    chmodSync(join(work, "closed"), 0);
    guardWorkspace({ path: work, access: "read-write" }, { ...user, uid: uid + 1 });
    expect(statSync(join(work, "closed")).mode & 0o777).toBe(0);
    chmodSync(join(work, "closed"), 0o700);
  });

  it("leaves out what is given back, and gives back parts", () => {
    write(".envrc", ".vscode/tasks.json", ".npmrc");
    expect(guard(".envrc", ".vscode/tasks.json", "src", ".vscode/gone")).toMatchObject({
      found: at(".envrc", ".npmrc", ".vscode"),
      readOnly: at(".npmrc", ".vscode"),
      writable: at(".vscode/tasks.json"),
    });
  });

  it("leaves links alone", () => {
    symlinkSync("/nowhere", join(work, ".vscode"));
    expect(guard()).toMatchObject({ readOnly: [], isComplete: true });
  });

  it("is bounded, begins with what is nearest, and says so", () => {
    write(".envrc", ...Array.from({ length: 300 }, (_, index) => `p/${index}/.npmrc`));
    const { readOnly, pinned, isComplete } = guard();
    expect(readOnly[0]).toBe(join(work, ".envrc"));
    expect(readOnly.length + pinned.length).toBeLessThanOrEqual(256);
    expect(isComplete).toBe(false);
  });

  it("holds what no agent leaves before hundreds of repositories that are nearer, and says which it does not hold", () => {
    for (let index = 0; index < 100; index++) plainRepository(`r${index}`);
    write("a/b/c/.vscode/tasks.json");
    plainRepository("a/b/c");
    writeFileSync(join(work, "a/b/c/.git/config"), "[core]\n\tfsmonitor = ./watch\n");
    const { readOnly, pinned, unheld, isComplete } = guard();
    expect(readOnly).toEqual(expect.arrayContaining([...at("a/b/c/.vscode", "a/b/c/.git/config")]));
    expect(readOnly.length + pinned.length).toBeLessThanOrEqual(256);
    expect([isComplete, unheld.length]).toEqual([false, 203 - readOnly.length]);
  });

  it("holds the repositories that were there first before all others", () => {
    for (let index = 0; index < 100; index++) plainRepository(`r${index}`);
    plainRepository("z/deep/er");
    const own = ["z/deep/er/.git/config", "z/deep/er/.git/hooks"];
    expect(guard().unheld).toEqual(expect.arrayContaining([...at(...own)]));
    expect(knowing(...own).readOnly).toEqual(expect.arrayContaining([...at(...own)]));
  });

  it("reaches what it knows through no link", () => {
    write("elsewhere/.vscode/tasks.json");
    symlinkSync("elsewhere", join(work, "z"));
    expect(knowing("z/.vscode").found).toEqual(at("elsewhere/.vscode"));
  });

  it("does not call held what has another name", () => {
    write(".envrc", "other", ".vscode/tasks.json", "tasks");
    for (const [old, name] of [
      [".envrc", "other"],
      [".vscode/tasks.json", "tasks"],
    ] as const) {
      rmSync(join(work, name));
      linkSync(join(work, old), join(work, name));
    }
    expect(guard()).toMatchObject({ unheld: at(".envrc", ".vscode"), isComplete: false });
  });

  it("holds what a link of such a name leads to", () => {
    write("shared/tasks.json", "env", "src/a");
    symlinkSync("shared", join(work, ".vscode"));
    symlinkSync("../env", join(work, "src/.envrc"));
    symlinkSync("..", join(work, "src/.claude"));
    symlinkSync("/etc/hostname", join(work, "src/.npmrc"));
    expect(guard()).toMatchObject({ readOnly: at("env", "shared"), isComplete: true });
  });
});

function plainRepository(name: string): void {
  write(`${name}/.git/HEAD`, `${name}/.git/hooks/pre-push.sample`);
  for (const each of ["objects", "refs"]) mkdirSync(join(work, name, ".git", each));
  writeFileSync(join(work, name, ".git/config"), "[core]\n\tbare = false\n");
}
