import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
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

const at = (...names: readonly string[]): readonly string[] => names.map((name) => join(work, name));
const guard = (...writable: readonly string[]) => guardWorkspace({ path: work, access: "read-write", writable: at(...writable) });

describe("guardWorkspace()", () => {
  it("holds the places, and the names of the folders above them", () => {
    write(".envrc", "a/b/.vscode/tasks.json", "a/c.txt");
    const readOnly = at(".envrc", "a/b/.vscode");
    expect(guard()).toEqual({ found: readOnly, readOnly, pinned: at("a", "a/b"), writable: [], isComplete: true });
  });

  it("has nothing to hold where nothing is written, or nothing is there", () => {
    write(".envrc");
    const nothing = { found: undefined, readOnly: [], pinned: [], writable: [], isComplete: true };
    expect(guardWorkspace({ path: work, access: "read-only" })).toEqual(nothing);
    expect(guardWorkspace(undefined)).toEqual(nothing);
  });

  it("opens what the agent's user has closed, and looks into it", () => {
    const uid = process.getuid?.() ?? 0;
    mkdirSync(join(work, "closed/.git/hooks"), { recursive: true });
    mkdirSync(join(work, "closed/.git/objects"));
    mkdirSync(join(work, "closed/.git/refs"));
    writeFileSync(join(work, "closed/.git/HEAD"), "");
    for (const name of ["closed/.git/hooks", "closed/.git", "closed"]) chmodSync(join(work, name), 0);
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
});
