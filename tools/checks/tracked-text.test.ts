import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { problemsOf, sample } from "./sample.js";
import { trackedText } from "./tracked-text.js";

it.each([
  ["pnpm-lock.yaml", "resolution: {tarball: https://x.example/a.tgz}", "an address in a lock file"],
  [
    "tools/pnpm/package-lock.json",
    '"resolved": "https://x.example/a.tgz"',
    "an address in a lock file",
  ],
  ["docs/a.md", "npm config set registry https://registry.npmjs.org/", "a registry address"],
  [".npmrc", "registry=https://x.example/", "a registry setting"],
  ["packages/core/src/a.ts", 'const a = "/root/project";', "a path of a machine"],
  ["README.md", "<<<<<<< HEAD", "a conflict marker"],
])("tracked text refuses in %s: %s", async (file, line, what) => {
  expect(await problemsOf(trackedText, { [file]: `first\n${line}\n` })).toEqual([
    `${file}:2: ${what}`,
  ]);
});

it("tracked text refuses the path of the checkout itself", async () => {
  const root = sample({});
  writeFileSync(join(root, "a.md"), `see ${root}/b.md\n`);
  expect((await trackedText.run({ root, update: false })).problems).toEqual([
    "a.md:1: a path of this machine",
  ]);
});

it("tracked text takes ordinary text", async () => {
  const files = {
    "README.md": "See https://example.com and ~/projects, /home/me\n",
    "pnpm-lock.yaml": "resolution: {integrity: sha512-x}\n",
  };
  expect(await problemsOf(trackedText, files)).toEqual([]);
});
