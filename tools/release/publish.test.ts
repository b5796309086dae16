/** The release program: what stops it, and what it sends to a registry of the test's own. */
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { sample } from "../checks/sample.js";
import { capture, root as home } from "../workspace.mjs";
import { npm } from "./managers.js";
import { PLACEHOLDER, releaseProblems } from "./problems.mjs";
import { publish } from "./publish.mjs";
import { openRegistry } from "./registry.js";
import { stage } from "./stage.mjs";

const manifest = (name: string, extra: object = {}): object => ({
  name,
  version: "0.2.0",
  files: ["dist"],
  ...extra,
});
const files = {
  LICENSE: "Apache-2.0",
  "package.json": { repository: { type: "git", url: "git+https://github.com/ada/acp.git" } },
  "SECURITY.md": "# Security\n\n## Reporting\n\nWrite to security@ada.example.\n",
  "pnpm-workspace.yaml":
    'packages:\n  - packages/*\n\n# Exact.\ncatalog:\n  "@noble/hashes": 2.4.0\n  yaml: 2.9.1\n\nsavePrefix: ""\n',
  "packages/audit/package.json": manifest("@acp/audit", {
    peerDependencies: { "@acp/core": "workspace:*" },
    devDependencies: { vitest: "catalog:" },
  }),
  "packages/audit/README.md": "# audit\n",
  "packages/audit/dist/index.js": "",
  "packages/core/package.json": manifest("@acp/core", {
    dependencies: { yaml: "catalog:", "@noble/hashes": "catalog:" },
  }),
  "packages/core/README.md": "# core\n",
  "packages/core/dist/index.js": "",
  "packages/site/package.json": manifest("@acp/site", { private: true }),
};

it("publish sends each package after those that it needs, with versions that every manager reads, and never twice", async () => {
  const from = sample(files);
  const to = join(from, "temp");
  mkdirSync(to);
  await using registry = await openRegistry(to);
  const env = { PATH: process.env["PATH"], HOME: to, ...npm.env(registry.url, to) };
  const both = ["@acp/core@0.2.0", "@acp/audit@0.2.0"];
  expect(await publish({ to, from, env })).toEqual(both);
  expect(registry.published).toEqual(both);
  const { output } = await capture("npm", ["view", "@acp/audit", "--json"], { env });
  expect(JSON.parse(output)).toMatchObject({
    peerDependencies: { "@acp/core": "0.2.0" },
    repository: {
      type: "git",
      url: "git+https://github.com/ada/acp.git",
      directory: "packages/audit",
    },
  });
  expect(output).not.toMatch(/workspace:|catalog:|devDependencies/);
  expect(await publish({ to, from, env })).toEqual([]);
  expect(registry.published).toEqual(both);
});

it("publish stops at a registry that does not answer, before it sends anything", async () => {
  const from = sample(files);
  const env = {
    PATH: process.env["PATH"],
    HOME: from,
    ...npm.env("http://127.0.0.1:9", from),
    npm_config_fetch_retries: "0",
  };
  await expect(publish({ to: join(from, "temp"), from, env })).rejects.toThrow(
    "Cannot ask the registry for @acp/core@0.2.0",
  );
});

it.each([
  [
    "a protocol of the workspace that is not known",
    { dependencies: { yaml: "workspace:^" } },
    '"yaml": "workspace:^"',
  ],
  [
    "a library that is not in the catalog",
    { dependencies: { ajv: "catalog:" } },
    '"ajv": "catalog:"',
  ],
  ["a range", { dependencies: { yaml: "^2.9.1" } }, '"yaml": "^2.9.1"'],
])("stage refuses %s", (_name, extra, message) => {
  const from = sample({ ...files, "packages/core/package.json": manifest("@acp/core", extra) });
  expect(() => stage(join(from, "temp"), from)).toThrow(`Cannot tell the version of ${message}`);
});

const placeholder = `git+https://github.com/${PLACEHOLDER}/acp.git`;

it.each([
  [
    "the placeholder of the repository",
    { "package.json": { repository: { url: placeholder } } },
    {},
    /"repository" still says OWNER-FILLS-THIS/,
  ],
  [
    "no repository",
    { "package.json": {} },
    {},
    /"repository\.url" must be git\+https:\/\/HOST\/OWNER\/NAME\.git, is ""/,
  ],
  [
    "the placeholder of the address",
    { "SECURITY.md": `## Reporting\n\na@${PLACEHOLDER}.example` },
    {},
    /SECURITY\.md: still says/,
  ],
  [
    "no address",
    { "SECURITY.md": "## Reporting\n\nNone.\n\n## Else\n\na@b.example\n" },
    {},
    /names no e-mail address/,
  ],
  [
    "a run of another repository",
    {},
    { GITHUB_SERVER_URL: "https://github.com", GITHUB_REPOSITORY: "eve/acp" },
    /this run belongs to "git\+https:\/\/github\.com\/eve\/acp\.git"/,
  ],
  [
    "another tag",
    {},
    { GITHUB_REF_TYPE: "tag", GITHUB_REF_NAME: "v0.3.0" },
    /the tag is v0\.3\.0, the packages are v0\.2\.0/,
  ],
])("a release stops at %s", async (_name, changed, env, message) => {
  const from = sample({ ...files, ...changed });
  expect(releaseProblems(from, env)).toEqual([expect.stringMatching(message)]);
  await expect(publish({ to: join(from, "temp"), from, env })).rejects.toThrow(message);
});

it("a release does not stop where everything is filled in, for a tag of its version", () => {
  const github = {
    GITHUB_SERVER_URL: "https://github.com",
    GITHUB_REPOSITORY: "ada/acp",
    GITHUB_REF_TYPE: "tag",
    GITHUB_REF_NAME: "v0.2.0",
  };
  expect(releaseProblems(sample(files), github)).toEqual([]);
});

it("raising the versions stops at a placeholder and leaves the changesets", () => {
  const change = '---\n"@acp/core": minor\n---\n\nNew.\n';
  const from = sample({
    ...files,
    "package.json": { repository: { url: placeholder } },
    ".changeset/a.md": change,
  });
  const { status, stderr } = spawnSync(process.execPath, [join(home, "tools/version.mjs"), from], {
    encoding: "utf8",
  });
  expect(status).toBe(1);
  expect(stderr).toContain(
    '✗ Cannot release yet:\n    package.json: "repository" still says OWNER-FILLS-THIS',
  );
  expect(spawnSync("ls", [join(from, ".changeset")], { encoding: "utf8" }).stdout).toBe("a.md\n");
});
