import { expect, it } from "vitest";
import { publicDocs } from "./public-docs.js";
import { problemsOf } from "./sample.js";

const core = (text: string): Record<string, unknown> => ({
  "packages/core/package.json": {
    name: "@acp/core",
    type: "module",
    exports: { ".": { default: "./dist/index.js" } },
  },
  "packages/core/src/index.ts":
    'export { run } from "./run.js"; export type { Run } from "./run.js";',
  "packages/core/src/run.ts": text,
});

it("public docs refuses an export without a comment, and a comment without words", async () => {
  expect(
    await problemsOf(publicDocs, core("export const run = 1;\n/** */\nexport type Run = string;")),
  ).toEqual([
    'packages/core/src/run.ts:1: "run" is exported without a comment',
    'packages/core/src/run.ts:3: "Run" is exported without a comment',
  ]);
});

it("public docs refuses a property that can be assigned", async () => {
  const text =
    "/** Runs. */\nexport function run(): void {}\n/** A run. */\nexport interface Run {\n  readonly a: string;\n  b: { c: string };\n  d(): void;\n}";
  expect(await problemsOf(publicDocs, core(text))).toEqual([
    'packages/core/src/run.ts:6: "Run.b" is not readonly',
    'packages/core/src/run.ts:6: "Run.c" is not readonly',
  ]);
});

it("public docs looks at nothing that is not exported", async () => {
  const text =
    "/** Runs. */\nexport const run = 1;\n/** A run. */\nexport type Run = { readonly a: string };\nexport const hidden = 2; interface Inner { a: string }";
  expect(await problemsOf(publicDocs, core(text))).toEqual([]);
});

it("public docs refuses an entry that exports everything of a file", async () => {
  const files = {
    ...core("/** Runs. */\nexport const run = 1;\n"),
    "packages/core/src/index.ts": 'export * from "./run.js";\n',
  };
  expect(await problemsOf(publicDocs, files)).toEqual([
    "packages/core/src/index.ts:1: exports *, which hides what is public",
  ]);
});
