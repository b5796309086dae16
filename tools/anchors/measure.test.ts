import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { sample } from "../checks/sample.js";
import { rowsOf } from "./measure.js";

function committed(files: Readonly<Record<string, unknown>>): string {
  const root = sample(files);
  const git = (...args: readonly string[]): void => {
    const name = ["-c", "user.name=test", "-c", "user.email=test@example.com"];
    const { status, stderr } = spawnSync("git", [...name, ...args], { cwd: root });
    if (status !== 0) throw new Error(String(stderr));
  };
  git("add", "-A");
  git("commit", "-q", "-m", "first");
  return root;
}

const long = (name: string, lines: number): string =>
  `export function ${name}(): void {\n${"  // a line\n".repeat(lines - 2)}}\n`;

const PROJECT = {
  "package.json": { name: "workspace", private: true },
  "packages/one/package.json": {
    name: "one",
    exports: { ".": "./dist/esm/index.js", "./sub/*": "./dist/sub/*.mjs" },
    dependencies: { zod: "1.0.0", two: "1.0.0" },
  },
  "packages/one/src/index.ts": 'export { a } from "./a.ts";\nexport type { B } from "./b";\n',
  "packages/one/src/a.ts": `import type { B } from "./b";\n/** Ends the world. */\n${long("a", 61)}export type A = B;\n`,
  "packages/one/src/b.ts": `import type { A } from "./a.js";\nexport interface B {\n  /** Of the year. */\n  readonly day: A;\n  readonly hour: ${"1".repeat(120)} | 2;\n}\n`,
  "packages/one/src/sub/c.tsx": "export const c = (): number => 1;\n",
  "packages/one/src/a.test.ts": "one\ntwo\n",
  "packages/one/test/b.ts": "one\n",
  "packages/two/package.json": { name: "two", main: "dist/index.js" },
  "packages/two/lib/index.ts": long("two", 60),
  "packages/hidden/package.json": { name: "hidden", private: true },
  "packages/hidden/src/index.ts": long("hidden", 100),
};

it("rowsOf() measures the published packages of a checkout", () => {
  const rows = new Map(rowsOf(committed(PROJECT)));
  expect(rows.get("commit")).toMatch(/^[\da-f]{7,}, \d{4}-\d\d-\d\d$/);
  rows.delete("commit");
  expect(Object.fromEntries(rows)).toEqual({
    "published packages": "2",
    "runtime dependencies": "1",
    "source files": "5",
    "source lines": "133",
    "lines per file: median, 95 %, largest": "6, 64, 64",
    "lines per function: median, 95 %, largest": "61, 61, 61",
    "functions over 60 lines": "1 of 2 (50.0 %)",
    "lines over 100 columns": "0.8 %",
    "test lines per source line": "0.02",
    "import circles: number, files in the largest": "1, 2",
    "exports with docs": "25.0 % of 4",
    "members of exports with docs": "50.0 % of 2",
  });
});

it("rowsOf() takes the root for the package where there is no other", () => {
  const rows = new Map(
    rowsOf(committed({ "package.json": { name: "one" }, "src/index.ts": "export const a = 1;\n" })),
  );
  expect([rows.get("published packages"), rows.get("source files")]).toEqual(["1", "1"]);
});
