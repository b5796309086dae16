import { expect, it } from "vitest";
import { changesets } from "./changesets.js";
import { problemsOf } from "./sample.js";

const base = {
  ".changeset/config.json": { fixed: [["@acp/*"]], access: "public", changelog: false, ignore: [] },
  "packages/core/package.json": { name: "@acp/core" },
};

it.each([
  [
    "a package that does not exist",
    '---\n"@acp/none": minor\n---\n\nNew.\n',
    'names "@acp/none", which is no package of ours',
  ],
  [
    "an unknown size",
    '---\n"@acp/core": huge\n---\n\nNew.\n',
    'every line of its head must read "@acp/name": patch, minor or major',
  ],
  ["no words", '---\n"@acp/core": minor\n---\n', "says nothing to the user"],
  ["no head", "New.\n", "must begin with the packages between two lines of ---"],
])("changesets refuses %s", async (_name, text, problem) => {
  expect(await problemsOf(changesets, { ...base, ".changeset/a.md": text })).toEqual([
    `.changeset/a.md: ${problem}`,
  ]);
});

it("changesets refuses packages that move alone", async () => {
  const config = { fixed: [], access: "public", changelog: false, ignore: [] };
  expect(await problemsOf(changesets, { ...base, ".changeset/config.json": config })).toEqual([
    '.changeset/config.json: "fixed" must be [["@acp/*"]]',
  ]);
});

it("changesets takes a changeset that names a package and says what changed", async () => {
  expect(
    await problemsOf(changesets, {
      ...base,
      ".changeset/a.md": '---\n"@acp/core": minor\n---\n\nNew.\n',
    }),
  ).toEqual([]);
});
