import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { watchWorkspace } from "./left-behind.js";

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

describe("watchWorkspace()", () => {
  it("names what is new, and nothing else", () => {
    write(".envrc");
    const behind = watchWorkspace({ path: work, access: "read-write" });
    expect(behind.notice()).toBeUndefined();
    spawnSync("git", ["-C", work, "init", "-q", "made"]);
    write("src/a.ts");
    expect(behind.notice()).toBeUndefined();
    for (const name of ["sub/.npmrc", "made/.git/hooks/post-commit", ".vs\u001bcode/a", ".vscode/tasks.json"]) write(name);
    expect(behind.notice()).toMatch(/: \.vscode, made\/\.git\/hooks, sub\/\.npmrc$/u);
  });

  it("looks at the folder behind a link, keeps a list short, and shows no control characters", () => {
    symlinkSync(work, join(scratch, "link"));
    const behind = watchWorkspace({ path: join(scratch, "link"), access: "read-write" });
    for (let index = 10; index < 25; index += 1) write(`\u001b[2J${index}/.npmrc`);
    const notice = behind.notice() ?? "";
    expect(notice.match(/npmrc/gu)).toHaveLength(10);
    expect(notice).toMatch(/ and more$/u);
    expect(notice).not.toContain("\u001b");
  });

  it("has nothing to look at where nothing is written", () => {
    for (const workspace of [undefined, { path: work, access: "read-only" } as const]) {
      const behind = watchWorkspace(workspace);
      write(".envrc");
      expect(behind.notice()).toBeUndefined();
    }
  });
});
