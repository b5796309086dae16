import { expect, it } from "vitest";
import { corePurity } from "./core-purity.js";
import { problemsOf } from "./sample.js";

const core = (text: string, file = "a.ts"): Record<string, string> => ({
  [`packages/core/src/${file}`]: text,
});

it.each([
  ["a Node module", 'import { readFileSync } from "node:fs";', "imports node:fs"],
  ["a Node module's type", 'import type { Stats } from "node:fs";', "imports node:fs"],
  ["a dynamic import", 'await import("node:net");', "imports node:net"],
  ["Date.now", "export const a = Date.now();", "uses Date.now"],
  ["the current date", "export const a = new Date();", "uses the current Date"],
  ["Date as a function", "export const a = Date();", "uses the current Date"],
  ["Math.random", "export const a = Math.random();", "uses Math.random"],
  ["process", "export const a = process.env;", "uses process"],
  ["console", 'console.log("a");', "uses console"],
  ["a timer", "setTimeout(() => {}, 1);", "uses setTimeout"],
  ["a timer kept under another name", "const wait = { setTimeout };", "uses setTimeout"],
  ["a signal's timer", "AbortSignal.timeout(1);", "uses AbortSignal.timeout"],
  ["globalThis", "globalThis.a = 1;", "uses globalThis"],
  ["the network", 'await fetch("x");', "uses fetch"],
])("core purity refuses %s", async (_name, text, problem) => {
  expect(await problemsOf(corePurity, core(text))).toEqual([
    `packages/core/src/a.ts:1: ${problem}`,
  ]);
});

it("core purity takes a given date, members and keys of the same names, and types", async () => {
  const text =
    "export const a = (clock: Clock) => ({ process: new Date(clock.now()), console: clock.setTimeout }); type T = { fetch: typeof a }; export const b = (fetch: () => void) => fetch();";
  expect(await problemsOf(corePurity, core(text))).toEqual([]);
});

it("core purity holds for the shell engine as well", async () => {
  expect(
    await problemsOf(corePurity, {
      "packages/exec-safety/src/parse/a.ts": "export const a = Date.now();",
    }),
  ).toEqual(["packages/exec-safety/src/parse/a.ts:1: uses Date.now"]);
});

it("core purity leaves system.ts, tests and other packages alone", async () => {
  const text = "export const a = Date.now();";
  expect(
    await problemsOf(corePurity, {
      ...core(text, "system.ts"),
      ...core(text, "a.test.ts"),
      "packages/cli/src/a.ts": text,
    }),
  ).toEqual([]);
});
