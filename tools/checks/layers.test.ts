import { expect, it } from "vitest";
import { layers } from "./layers.js";
import { problemsOf } from "./sample.js";

const manifest = (extra: object = {}): object => ({
  peerDependencies: { "@acp/core": "workspace:*" },
  ...extra,
});
const base = {
  "package.json": {},
  "packages/core/package.json": {
    dependencies: { "@acp/exec-safety": "workspace:*", yaml: "1", "@noble/hashes": "1", zod: "1" },
  },
  "packages/exec-safety/package.json": {
    dependencies: { "@acp/core": "workspace:*", unbash: "1", zod: "1" },
  },
  "packages/audit/package.json": manifest({
    dependencies: { "@acp/home": "workspace:*", "@acp/testing": "workspace:*" },
  }),
  "packages/home/package.json": manifest(),
  "packages/proxy-mcp/package.json": manifest({
    dependencies: { "@acp/audit": "workspace:*", "@acp/cli": "workspace:*" },
  }),
  "packages/cli/package.json": manifest({ dependencies: { "@acp/proxy-mcp": "workspace:*" } }),
};

it.each([
  [
    "an adapter that imports its equal",
    "packages/audit/src/a.ts",
    'import "@acp/home";',
    "may not import @acp/home: arrows point one way, equals never import each other",
  ],
  [
    "an arrow that points up",
    "packages/proxy-mcp/src/a.ts",
    'import "@acp/cli";',
    "may not import @acp/cli: arrows point one way, equals never import each other",
  ],
  [
    "core that imports an adapter",
    "packages/core/src/a.ts",
    'import type { A } from "@acp/audit";',
    "may not import @acp/audit: arrows point one way, equals never import each other",
  ],
  [
    "the engine that imports core",
    "packages/exec-safety/src/a.ts",
    'import type { A } from "@acp/core";',
    "may not import @acp/core: arrows point one way, equals never import each other",
  ],
  [
    "the testing kit in a source",
    "packages/audit/src/a.ts",
    'import "@acp/testing";',
    "imports @acp/testing outside a test",
  ],
  [
    "an undeclared package",
    "packages/home/src/a.ts",
    'import "left-pad";',
    'imports "left-pad", which its package.json does not declare',
  ],
  [
    "a path into another package",
    "packages/home/src/a.ts",
    'import "../../core/src/b.js";',
    'imports "../../core/src/b.js", which leaves the package',
  ],
  [
    "a dynamic import",
    "packages/home/src/a.ts",
    'await import("left-pad");',
    'imports "left-pad", which its package.json does not declare',
  ],
])("layers refuses %s", async (_name, file, text, problem) => {
  expect(await problemsOf(layers, { ...base, [file]: text })).toContain(`${file}:1: ${problem}`);
});

it("layers refuses a library that core was not designed around", async () => {
  expect(await problemsOf(layers, { ...base, "packages/core/src/a.ts": 'import "zod";' })).toEqual([
    'packages/core/src/a.ts:1: imports "zod", which is none of core\'s libraries',
  ]);
});

it("layers refuses a library that core's index would load though it belongs behind a subpath", async () => {
  const files = {
    "packages/core/src/index.ts": 'export { a } from "./a.js";',
    "packages/core/src/a.ts": 'import "yaml";',
  };
  expect(await problemsOf(layers, { ...base, ...files })).toEqual([
    'packages/core/src/a.ts: loads "yaml" whenever core\'s "index" is imported',
  ]);
});

it("layers refuses core's index that would load the engine, and an entry of the engine's names that would load its parser", async () => {
  const files = {
    "packages/core/src/index.ts": 'export { evaluateCommandSafety } from "@acp/exec-safety";',
    "packages/exec-safety/src/text.ts": 'export { parseShell } from "./parse.js";',
    "packages/exec-safety/src/parse.ts": 'import "unbash";',
    "packages/exec-safety/src/other.ts": 'import "zod";',
  };
  expect(await problemsOf(layers, { ...base, ...files })).toEqual([
    'packages/core/src/index.ts: loads "@acp/exec-safety" whenever core\'s "index" is imported',
    'packages/exec-safety/src/other.ts:1: imports "zod", which is none of exec-safety\'s libraries',
    'packages/exec-safety/src/parse.ts: loads "unbash" whenever exec-safety\'s "text" is imported',
  ]);
});

it("layers refuses a package that has no layer", async () => {
  expect(await problemsOf(layers, { ...base, "packages/stray/package.json": manifest() })).toEqual([
    "packages/stray: has no layer",
  ]);
});

it("layers takes imports that point down, tests that use what their manifest names, and core's libraries behind their subpath", async () => {
  const files = {
    "packages/core/src/index.ts": 'import "./match.js"; import "@acp/exec-safety/text";',
    "packages/core/src/exec.ts": 'import "@acp/exec-safety";',
    "packages/exec-safety/src/index.ts": 'import "unbash";',
    "packages/core/src/match.ts": 'import type { Document } from "yaml";',
    "packages/core/src/yaml.ts": 'import "yaml"; import "./match.js";',
    "packages/core/src/crypto/portable.ts": 'import "@noble/hashes/sha2.js";',
    "packages/audit/src/a.ts": 'import "@acp/core"; import "node:fs";',
    "packages/audit/src/a.test.ts":
      'import "@acp/testing"; import "@acp/home"; import "vitest"; import "../../../spec/vectors/a.json"; import "../../../tools/bundled.js";',
    "packages/core/src/a.test.ts": 'import "@acp/testing";',
    "packages/proxy-mcp/src/a.ts": 'import "@acp/audit";',
    "packages/cli/src/a.ts": 'import "@acp/proxy-mcp"; import "@acp/core";',
    "package.json": { devDependencies: { vitest: "1" } },
  };
  expect(await problemsOf(layers, { ...base, ...files })).toEqual([]);
});
