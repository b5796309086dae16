import { expect, it } from "vitest";
import { publicDocs } from "./public-docs.js";
import { problemsOf, sample } from "./sample.js";

/** A package with the exports `run` and `Run`. */
const done = (text: string): Record<string, unknown> => ({
  "packages/done/package.json": {
    name: "@acp/done",
    type: "module",
    exports: { ".": { default: "./dist/index.js" } },
  },
  "packages/done/src/index.ts":
    'export { run } from "./run.js"; export type { Run } from "./run.js";',
  "packages/done/src/run.ts": text,
});

const RUN = "/** Starts a program.\n * @example\n * ```ts\n * run();\n * ```\n */\n";

it("public docs refuses an export without a comment, and a comment without words", async () => {
  expect(
    await problemsOf(publicDocs, done("export const run = 1;\n/** */\nexport type Run = string;")),
  ).toEqual([
    'packages/done/src/run.ts:1: "run" is exported without a comment',
    'packages/done/src/run.ts:3: "Run" is exported without a comment',
  ]);
});

it("public docs refuses a member without a comment, in whatever depth it is written", async () => {
  const text = `${RUN}export function run(): void {}
/** What became of a program. */
export interface Run {
  /** Exit status, from 0. */
  readonly status: number;
  readonly signal: string;
  readonly usage: {
    readonly cpuMs: number;
  };
  stop(): void;
}`;
  expect(await problemsOf(publicDocs, done(text))).toEqual([
    'packages/done/src/run.ts:12: "Run.signal" is exported without a comment',
    'packages/done/src/run.ts:13: "Run.usage" is exported without a comment',
    'packages/done/src/run.ts:14: "Run.cpuMs" is exported without a comment',
    'packages/done/src/run.ts:16: "Run.stop" is exported without a comment',
  ]);
});

it("public docs takes members that say themselves what they are, and leaves private ones", async () => {
  const text = `${RUN}export function run(): void {}
/** What became of a program. */
export class Run extends Error {
  override readonly name = "Run";
  readonly kind: "run";
  readonly error?: never;
  /** Both are of the agent. */
  readonly usage: { readonly cpuMs: number };
  #open = true;
  private left = 1;
  [Symbol.dispose](): void {}
}`;
  expect(await problemsOf(publicDocs, done(text))).toEqual([]);
});

it.each([
  ["The runs.", "run", true],
  ["Makes a run.", "run", true],
  ["What is run.", "run", true],
  ["Starts a program.", "run", false],
])("public docs and %j: says no more than its name", async (docstring, name, isEmpty) => {
  const text = `${RUN}export function run(): void {}\n/** Ends it. */\nexport interface Run {\n/** ${docstring} */\nreadonly ${name}: string;\n}`;
  expect(await problemsOf(publicDocs, done(text))).toEqual(
    isEmpty
      ? [
          `packages/done/src/run.ts:11: the comment of "Run.${name}" says no more than its name: "${docstring}"`,
        ]
      : [],
  );
});

it("public docs refuses an entry whose exports show nowhere how they are called", async () => {
  const text =
    "/** Starts a program. */\nexport function run(): void {}\n/** Ends it. */\nexport type Run = string;";
  expect(await problemsOf(publicDocs, done(text))).toEqual([
    "packages/done/src/index.ts: no export of this entry has an @example",
  ]);
});

it("public docs prints how much of a package is documented", async () => {
  const text = `${RUN}export function run(): void {}\nexport interface Run {\n  /** Exit status. */\n  readonly status: number;\n  readonly b: string;\n}`;
  const { notes } = await publicDocs.run({ root: sample(done(text)), update: false });
  expect(notes?.[0]).toBe(
    "done: documented: exports 1 of 2 (50 %), members 1 of 2 (50 %); entries with an example: 1 of 1 (100 %)",
  );
});

it("public docs refuses a property that can be assigned", async () => {
  const text = `${RUN}export function run(): void {}
/** What became of a program. */
export interface Run {
  /** First. */
  readonly a: string;
  /** Second. */
  b: {
    /** Third. */
    c: string
  };
}`;
  expect(await problemsOf(publicDocs, done(text))).toEqual([
    'packages/done/src/run.ts:13: "Run.b" is not readonly',
    'packages/done/src/run.ts:15: "Run.c" is not readonly',
  ]);
});

it("public docs looks at nothing that is not exported", async () => {
  const text = `${RUN}export const run = 1;\n/** What became of it. */\nexport type Run = string;\nexport const hidden = 2; interface Inner { a: string }`;
  expect(await problemsOf(publicDocs, done(text))).toEqual([]);
});

it("public docs refuses an entry that exports everything of a file", async () => {
  const files = {
    ...done(`${RUN}export const run = 1;\n`),
    "packages/done/src/index.ts": 'export * from "./run.js";\n',
  };
  expect(await problemsOf(publicDocs, files)).toEqual([
    "packages/done/src/index.ts:1: exports *, which hides what is public",
  ]);
});
