/**
 * The checks that call a tool: each goes red on a bad sample under this repository's own
 * configuration.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { format } from "./format.js";
import { lint } from "./lint.js";
import { problemsOf, sample } from "./sample.js";
import { root as home } from "../workspace.mjs";
import { typecheck } from "./typecheck.js";

const strict = {
  compilerOptions: {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    module: "NodeNext",
    target: "ES2022",
    lib: ["ES2023"],
    types: [],
  },
};

it("typecheck refuses a type error and a hole in an array", async () => {
  const problems = await problemsOf(typecheck, {
    "tsconfig.json": strict,
    "a.ts": "export const a: string = 1;\nexport const b = (c: string[]): string => c[0];",
  });
  expect(problems).toEqual([
    expect.stringContaining("a.ts(1,14): error TS2322"),
    expect.stringContaining("a.ts(2,43): error TS2322"),
  ]);
});

describe("lint refuses", () => {
  it.each([
    [
      "a promise that nobody awaits",
      "export const f = (g: () => Promise<void>): void => { g(); };",
      "no-floating-promises",
    ],
    [
      "a promise as a condition",
      "export const f = (g: Promise<boolean>): number => { if (g) return 1; return 2; };",
      "no-misused-promises",
    ],
    [
      "truthiness",
      "export const f = (a: string | undefined): number => (a ? 1 : 2);",
      "strict-boolean-expressions",
    ],
    ["any", "export const f = (a: any): void => { a.b(); };", "no-explicit-any"],
    [
      "a non-null assertion",
      "export const f = (a: string | undefined): string => a!;",
      "no-non-null-assertion",
    ],
    [
      "an assertion that narrows",
      "export const f = (a: unknown): string => a as string;",
      "no-unsafe-type-assertion",
    ],
    [
      "a switch that forgets a case",
      'export function f(a: "b" | "c"): number { switch (a) { case "b": return 1; } return 2; }',
      "switch-exhaustiveness-check",
    ],
    ["a default export", "export default 1;", "no-default-export"],
    [
      "more than three parameters",
      "export const f = (a: number, b: number, c: number, d: number): number => a + b + c + d;",
      "max-params",
    ],
    [
      "a function of more than 60 lines",
      `export function f(): void {\n${"  f();\n".repeat(60)}}`,
      "max-lines-per-function",
    ],
    [
      "a module without node:",
      'import { sep } from "path"; export const a: string = sep;',
      "prefer-node-protocol",
    ],
    ["double equals", "export const f = (a: number): boolean => a == 1;", "eqeqeq"],
  ])("%s", async (_name, text, rule) => {
    const problems = await problemsOf(lint, {
      "tsconfig.json": strict,
      "packages/core/src/a.ts": text,
    });
    expect(problems.filter((problem) => problem.includes(rule))).not.toEqual([]);
  });

  it("a disable comment that is not needed", async () => {
    const text = "// oxlint-disable-next-line no-eval -- none\nexport const a = 1;\n";
    expect(await problemsOf(lint, { "tsconfig.json": strict, "a.ts": text })).toEqual([
      expect.stringContaining("Unused"),
    ]);
  });
});

it("lint takes plain code", async () => {
  expect(
    await problemsOf(lint, {
      "tsconfig.json": strict,
      "a.ts": 'export const f = (a: string | undefined): string => a ?? "";\n',
    }),
  ).toEqual([]);
});

it("format refuses another format, and writes ours on update", async () => {
  const config = readFileSync(join(home, "biome.json"), "utf8");
  const root = sample({ "biome.json": config, ".gitignore": "", "a.ts": "export const a = 'b'" });
  expect(await format.run({ root, update: false })).toEqual({
    problems: ["a.ts: is not formatted"],
  });
  expect(await format.run({ root, update: true })).toEqual({ problems: [] });
  expect(readFileSync(join(root, "a.ts"), "utf8")).toBe('export const a = "b";\n');
});
