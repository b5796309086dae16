import { expect, it } from "vitest";
import { problemsOf, sample } from "./sample.js";
import { size } from "./size.js";

const lines = (count: number): string => "// line\n".repeat(count);

it("size refuses a file of 401 lines and takes one of 400", async () => {
  expect(await problemsOf(size, { "a.ts": lines(401), "b.ts": lines(400) })).toEqual([
    "a.ts: 401 lines, at most 400",
  ]);
});

it.each(["a.css", "a.c", "a.h", "a.cjs", "a.mjs"])("size reads %s", async (file) => {
  expect(await problemsOf(size, { [file]: lines(401) })).toEqual([
    `${file}: 401 lines, at most 400`,
  ]);
});

it("size notes a file of more than 300 lines", async () => {
  const { notes } = await size.run({
    root: sample({ "a.ts": lines(301), "b.ts": lines(300) }),
    update: false,
  });
  expect(notes).toEqual([
    "0.00 % of 601 lines have more than 100 columns",
    "a.ts: 301 lines, aim for 300",
  ]);
});

it("size refuses a tree with more than two wide lines in a hundred", async () => {
  const wide = (count: number): string => `${"x".repeat(101)}\n`.repeat(count);
  expect(await problemsOf(size, { "a.ts": lines(98) + wide(2) })).toEqual([]);
  expect(await problemsOf(size, { "a.ts": lines(97) + wide(3) })).toEqual([
    "3.00 % of 100 lines have more than 100 columns, at most 2 %",
  ]);
});
