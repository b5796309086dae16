import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { entryCost } from "./entry-cost.js";
import { sample } from "./sample.js";

const core = (text: string): Record<string, string | object> => ({
  "packages/core/package.json": {
    name: "@acp/core",
    exports: {
      ".": { default: "./dist/index.js" },
      "./exec": { default: "./dist/exec.js" },
      "./package.json": "./package.json",
    },
  },
  "packages/core/dist/index.js": text,
  "packages/core/dist/exec.js": "export const b = 1;\n",
});
/** A text that no compressor makes smaller: hexadecimal digits of as many random bytes. */
const bytes = (count: number): string =>
  `export const a = ${JSON.stringify(randomBytes(count).toString("hex"))};\n`;

it("entry cost prints what each entry costs, with the budget where there is one", async () => {
  const { problems, notes } = await entryCost.run({
    root: sample(core(bytes(1_024))),
    update: false,
  });
  expect(problems).toEqual([]);
  expect(notes).toEqual([
    expect.stringMatching(/^@acp\/core: 1\.\d kB gzip, at most \d+(?:\.\d)?$/),
    expect.stringMatching(/^@acp\/core\/exec: 0\.\d kB gzip$/),
  ]);
});

it("entry cost refuses a main entry over its budget, whatever imports it, and one that is not built", async () => {
  const { problems } = await entryCost.run({
    root: sample(core(bytes(100 * 1_024))),
    update: false,
  });
  expect(problems).toEqual([
    expect.stringMatching(/^@acp\/core: 1\d\d\.\d kB gzip, at most \d+(?:\.\d)?$/),
  ]);
  const { "packages/core/dist/index.js": _index, ...unbuilt } = core("");
  expect((await entryCost.run({ root: sample(unbuilt), update: false })).problems).toEqual([
    "@acp/core: is not built",
  ]);
});
