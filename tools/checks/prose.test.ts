import { expect, it } from "vitest";
import { prose } from "./prose.js";
import { problemsOf } from "./sample.js";

it.each([
  ["README.md", "This is no policy.", 'is no policy": write "is not a policy'],
  ["docs/how-to/a.md", "The gate judges as ever.", 'as ever": write "as usual'],
  ["packages/core/README.md", "The behaviour of a gate.", 'behaviour": write "behavior'],
  [
    "packages/cli/src/table/exec.ts",
    'summary: "Read on by asking less",',
    'Read on by": write "the verb for what the reader does',
  ],
  [
    "packages/cli/src/options.ts",
    'summary: "A no takes nothing",',
    'A no takes": write "you can deny without',
  ],
])("prose refuses in %s: %s", async (file, line, what) => {
  expect(await problemsOf(prose, { [file]: `first\n${line}\n` })).toEqual([`${file}:2: "${what}"`]);
});

it("prose finds a phrase that goes over a line break, and names them in the order of the page", async () => {
  const text = "The grey box\njudges as\n  ever.\n";
  expect(await problemsOf(prose, { "docs/a.md": text })).toEqual([
    'docs/a.md:1: "grey": write "gray"',
    'docs/a.md:2: "as ever": write "as usual"',
  ]);
});

it("prose leaves code, what a link leads to, and parts of words", async () => {
  const text =
    "`behaviour` and [it](as/behaviour.md) as every page\n```text\nas ever\n```\nas `x` ever\n";
  expect(await problemsOf(prose, { "docs/a.md": text })).toEqual([]);
});

it("prose leaves decisions, formats and code", async () => {
  const text = "as ever\n";
  expect(
    await problemsOf(prose, {
      "docs/adr/0001-a.md": text,
      "spec/a.md": text,
      "packages/cli/src/a.ts": text,
    }),
  ).toEqual([]);
});
