import { expect, it } from "vitest";
import { NEVER_STORED } from "./never-stored.js";
import { storablePattern } from "./storable-pattern.js";

it.each([
  "git",
  "pnpm",
  "rm",
  "npm",
  "cargo",
  "go",
  "make",
  "ls",
  "g++",
  "clang-15",
  "my_tool.sh",
  "7z",
])("storablePattern() of %s is a pattern that matches every call of it", (program) =>
  expect(storablePattern(program)).toEqual({ pattern: `${program} **` }),
);

it.each([...NEVER_STORED.keys()])("storablePattern() of %s is none, and says why", (program) => {
  expect(storablePattern(program)).toEqual({
    why: expect.stringMatching(new RegExp(`^${program} `)),
  });
});

it.each([
  ["claude", "is an agent"],
  ["acp", "answers for people"],
  ["ld-linux-x86-64.so.2", "runs any other program"],
  ["python3", "python3 runs any program"],
  ["python3.12", "python3.12 runs any program"],
  ["Bash", "Bash is a shell"],
  ["bash5", "is a shell"],
  ["node-20", "runs any program"],
  ["PowerShell.exe", "is a shell"],
  ["lua5.4", "runs any program"],
  ["/bin/ls", "by a path"],
  ["./run.sh", "by a path"],
  ["", "not plain"],
  [".", "not plain"],
  [":", "not plain"],
  ["[", "not plain"],
  ["-x", "not plain"],
  ["a b", "not plain"],
  ["g*", "not plain"],
  ["A=1", "not plain"],
  ["1.".repeat(128), "not plain"],
  ["ｇit", "not plain"],
])("storablePattern() of %j is none: %s", (program, why) => {
  expect(storablePattern(program)).toEqual({ why: expect.stringContaining(why) });
});
