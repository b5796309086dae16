import { expect, it } from "vitest";
import { manifests } from "./manifests.js";
import { problemsOf } from "./sample.js";

const good = {
  version: "0.1.0",
  description: "What it does.",
  license: "Apache-2.0",
  type: "module",
  sideEffects: false,
  engines: { node: ">=20.19" },
  files: ["dist", "src", "!src/**/*.test.ts"],
  exports: {
    ".": { types: "./dist/index.d.ts", default: "./dist/index.js" },
    "./package.json": "./package.json",
  },
  peerDependencies: { "@acp/core": "workspace:*" },
};
const workspace = {
  "package.json": { packageManager: "pnpm@1.2.3" },
  "tools/pnpm/package.json": { dependencies: { pnpm: "1.2.3" } },
  "tsconfig.build.json": { references: [{ path: "packages/audit" }] },
  "pnpm-workspace.yaml": "catalog:\n  yaml: 2.9.1\n",
  "docs/dependencies.md": "| `yaml` | home |\n",
  "packages/audit/package.json": good,
  "packages/audit/README.md": "# audit\n",
};
const audit = (extra: object): Readonly<Record<string, unknown>> => ({
  ...workspace,
  "packages/audit/package.json": { ...good, ...extra },
});

it("manifests takes a workspace that keeps every promise", async () => {
  expect(await problemsOf(manifests, workspace)).toEqual([]);
});

it("manifests takes an entry that is loaded for what it does", async () => {
  const exports = {
    ...good.exports,
    "./patch": { types: "./dist/patch.d.ts", default: "./dist/patch.js" },
  };
  expect(await problemsOf(manifests, audit({ exports, sideEffects: ["./dist/patch.js"] }))).toEqual(
    [],
  );
});

it("manifests takes folders of a package's own", async () => {
  expect(
    await problemsOf(manifests, audit({ files: ["dist", "src", "native", "!src/**/*.test.ts"] })),
  ).toEqual([]);
});

it.each([
  [
    "shipped tests",
    audit({ files: ["dist", "src", "native"] }),
    'packages/audit: "files" must be "dist", "src", folders of its own, "!src/**/*.test.ts"',
  ],
  ["another licence", audit({ license: "MIT" }), 'packages/audit: "license" must be "Apache-2.0"'],
  [
    "a side effect in a file that is no entry",
    audit({ sideEffects: ["./dist/chunk.js"] }),
    'packages/audit: "sideEffects" must be false, or name the entries that are loaded for what they do',
  ],
  [
    "an install script",
    audit({ scripts: { postinstall: "node a.js" } }),
    'packages/audit: runs a script at install: "postinstall"',
  ],
  [
    "an import condition",
    audit({ exports: { ".": { types: "./a.d.ts", import: "./a.js" } } }),
    'packages/audit: "exports" of "." must have "types" and "default" only, in this order',
  ],
  [
    "a loose dependency",
    audit({ dependencies: { yaml: "^2.0.0" } }),
    'packages/audit: "dependencies" of "yaml" must be "catalog:"',
  ],
  [
    "core as a plain dependency",
    audit({ peerDependencies: {} }),
    'packages/audit: "peerDependencies" must name "@acp/core"',
  ],
  [
    "a repository of a package's own",
    audit({ repository: "github:ada/acp" }),
    'packages/audit: "repository" stands in the root package.json alone',
  ],
  ["no description", audit({ description: "" }), 'packages/audit: "description" is missing'],
  [
    "a library without a reason",
    audit({ dependencies: { ajv: "catalog:" } }),
    "docs/dependencies.md: lacks a line for ajv",
  ],
  [
    "a package that is not built",
    { ...workspace, "tsconfig.build.json": { references: [] } },
    "tsconfig.build.json: lacks packages/audit",
  ],
  [
    "a floating catalog",
    { ...workspace, "pnpm-workspace.yaml": "catalog:\n  yaml: ^2.9.1\n" },
    "pnpm-workspace.yaml: the version of yaml must be exact",
  ],
  [
    "another pnpm",
    { ...workspace, "package.json": { packageManager: "pnpm@9.0.0" } },
    'package.json: "packageManager" must be "pnpm@1.2.3", as in tools/pnpm',
  ],
])("manifests refuses %s", async (_name, files, problem) => {
  expect(await problemsOf(manifests, { ...files })).toEqual([problem]);
});

it("manifests refuses a second version", async () => {
  const files = {
    ...workspace,
    "packages/core/package.json": { ...good, version: "0.2.0" },
    "packages/core/README.md": "",
  };
  expect(await problemsOf(manifests, files)).toContain(
    "packages: must share one version, have 0.1.0, 0.2.0",
  );
});
