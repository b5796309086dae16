import { expect, it } from "vitest";
import { problemsOf } from "./sample.js";
import { starts } from "./starts.js";

const FILE = "packages/cli/src/a.ts";

it.each([
  ["an import", FILE, 'import { spawn } from "node:child_process";', "imports node:child_process"],
  [
    "an import without the prefix",
    FILE,
    'import { fork } from "child_process";',
    "imports child_process",
  ],
  ["a dynamic import", FILE, 'await import("node:child_process");', "imports node:child_process"],
  ["a re-export", FILE, 'export { exec } from "node:child_process";', "imports node:child_process"],
  ["cluster", FILE, 'import cluster from "node:cluster";', "imports node:cluster"],
  [
    "require",
    "packages/cli/bin/acp.cjs",
    'require("node:child_process");',
    "loads node:child_process",
  ],
  ["getBuiltinModule", FILE, 'process.getBuiltinModule("child_process");', "loads child_process"],
  [
    "require in what runs inside",
    "packages/sandbox-linux/inside/a.cjs",
    'require("child_process").spawn("x");',
    "loads child_process",
  ],
  [
    "another file of the host's package",
    "packages/host/src/a.ts",
    'import "node:child_process";',
    "imports node:child_process",
  ],
])("starts refuses %s", async (_name, file, text, problem) => {
  expect(await problemsOf(starts, { [file]: text })).toEqual([`${file}:1: ${problem}`]);
});

it("starts takes types, tests, the kit of tests and the one place", async () => {
  const text = 'import { spawn } from "node:child_process";';
  const files = {
    "packages/host/src/start-program.ts": text,
    "packages/cli/src/a.test.ts": text,
    "packages/cli/test/a.ts": text,
    "packages/testing/src/a.ts": text,
    [FILE]: 'import type { ChildProcess } from "node:child_process";',
  };
  expect(await problemsOf(starts, files)).toEqual([]);
});
