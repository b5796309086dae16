import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root as home } from "../workspace.mjs";
import { problemsOf } from "./sample.js";
import { workflows } from "./workflows.js";

const path = ".github/workflows/release.yml";
const release = readFileSync(join(home, path), "utf8");
const without = (line: string): string => release.replace(`${line}\n`, "");

it("workflows takes our release", async () => {
  expect(await problemsOf(workflows, { [path]: release })).toEqual([]);
});

it.each([
  ["no release", {}, `${path}: is missing`],
  [
    "no identity",
    { [path]: without("      id-token: write") },
    `${path}: needs the identity that provenance`,
  ],
  [
    "no provenance",
    { [path]: release.replace(" --provenance", "") },
    `${path}: must publish with provenance`,
  ],
  [
    "no question before",
    { [path]: without("      - run: node tools/release/publish.mjs --only-ask") },
    `${path}: must ask first`,
  ],
  ["no test", { [path]: without("      - run: .ci/run") }, `${path}: must test what it publishes`],
  [
    "no environment",
    { [path]: without("    environment: release") },
    `${path}: must wait for the environment`,
  ],
  [
    "a push to a branch",
    { [path]: release.replace('tags: ["v*"]', "branches: [main]") },
    `${path}: must start on a tag`,
  ],
  [
    "a release that is tested after it",
    { [path]: `${without("      - run: .ci/run")}      - run: .ci/run\n` },
    `${path}: must ask, test`,
  ],
  [
    "a second way out",
    { [path]: `${release}      - run: pnpm -r publish\n` },
    ": publishes beside tools/release/publish.mjs",
  ],
  [
    "a stored token",
    { [path]: `${release}        env:\n          NODE_AUTH_TOKEN: x\n` },
    ": uses a stored secret",
  ],
  [
    "an action by its tag",
    { [path]: release, ".github/workflows/ci.yml": "      - uses: actions/checkout@v7\n" },
    ".github/workflows/ci.yml:1: the action",
  ],
])("workflows refuses %s", async (_name, files, problem) => {
  expect(await problemsOf(workflows, { ...files })).toEqual([expect.stringContaining(problem)]);
});
