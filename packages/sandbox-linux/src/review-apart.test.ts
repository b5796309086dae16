import { describe, expect, it } from "vitest";
import { createFindApart } from "./review-apart.js";

const THERE = ["store/HEAD", "src/hooks/use.ts"];
const view = {
  isThere: (path: string): boolean => THERE.includes(path),
  held: new Set(["tools/hooks"]),
};

describe("createFindApart()", () => {
  it.each([
    [".envrc", ".envrc"],
    ["sub/.vscode/tasks.json", "sub/.vscode"],
    [".VSCODE/tasks.json", ".VSCODE"],
    [".git/hooks/pre-commit", ".git/hooks"],
    [".git/config", ".git/config"],
    ["store/config", "store/config"],
    ["store/hooks/post-merge", "store/hooks"],
    ["tools/hooks/pre-push", "tools/hooks"],
    ["sub/.git", "sub/.git"],
    ["a.code-workspace", "a.code-workspace"],
    [".git/index", null],
    [".git/hooks/pre-commit.sample", null],
    [".vscode/x.sample", ".vscode"],
    ["src/hooks/use.ts", null],
    ["src/config", null],
    ["package.json", null],
  ])("of %s is %s", (path, expected) => {
    expect(createFindApart(view)(path)).toBe(expected);
  });

  it("is nothing for a repository's own folder", () => {
    expect(createFindApart(view)("new/.git", true)).toBeNull();
  });
});
