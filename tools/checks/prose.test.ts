import { expect, it } from "vitest";
import { prose } from "./prose.js";
import { problemsOf } from "./sample.js";

it.each([
  ["README.md", "This is no policy.", 'is no policy": write "is not a policy'],
  ["docs/how-to/a.md", "The gate judges as ever.", 'as ever": write "as usual'],
  ["packages/core/README.md", "The behaviour of a gate.", 'behaviour": write "behavior'],
  [
    "packages/cli/src/table/exec.ts",
    'const a = { summary: "Read on by asking less" };',
    'Read on by": write "the verb for what the reader does',
  ],
  [
    "packages/cli/src/options.ts",
    'const a = { summary: "A no takes nothing" };',
    'A no takes": write "you can deny without',
  ],
  ["docs/how-to/a.md", "What  nobody answered.", 'What nobody": write "what no one, or a passive'],
  ["docs/how-to/a.md", "Silence is a no.", 'is a no": write "denies, counts as a denial'],
  ["docs/how-to/a.md", "It was honoured.", 'honoured": write "honor'],
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

it("prose leaves formats and comments", async () => {
  const text = "as ever\n";
  expect(
    await problemsOf(prose, {
      "spec/a.md": text,
      "packages/cli/src/a.ts": `// ${text}`,
    }),
  ).toEqual([]);
});

it("prose refuses phrases in texts of programs, not in their comments, keys, tests and tables", async () => {
  const text =
    '// as ever\nconst a = `first ${"as  ever"} grey`; const b = "grey"; import "a";\n' +
    "const grey = `\n  towards`;\n";
  expect(
    await problemsOf(prose, {
      "packages/cli/src/a.ts": text,
      "packages/cli/src/a.test.ts": text,
      "packages/exec-safety/src/tables/a.ts": text,
    }),
  ).toEqual([
    'packages/cli/src/a.ts:2: "as ever": write "as usual"',
    'packages/cli/src/a.ts:2: "grey": write "gray"',
    'packages/cli/src/a.ts:4: "towards": write "toward"',
  ]);
});

it("prose holds texts of programs to more than pages", async () => {
  const text = "The question was taken back.";
  expect(
    await problemsOf(prose, {
      "docs/a.md": `${text}\n`,
      "packages/cli/src/a.ts": `const a = "${text}";\n`,
    }),
  ).toEqual(['packages/cli/src/a.ts:1: "taken back": write "withdrawn"']);
});

it.each([
  ["A text is no list.", []],
  ["This is no longer a list, and it is no other.", []],
  ["it is no list", ['"it is no list": write "is not a, is not the"']],
  ["a text file", []],
  ["it is not a text file", []],
  ["it is not a text", ['"is not a text": write "is not a string"']],
  ["the key stands twice", ['"stands twice": write "appears twice"']],
  ["others may enter it", ['"others may enter": write "other users can"']],
])("prose judges the text %j", async (text, want) => {
  const file = "packages/cli/src/a.ts";
  expect(await problemsOf(prose, { [file]: `const a = "${text}";\n` })).toEqual(
    want.map((problem) => `${file}:1: ${problem}`),
  );
});

it("prose allows a phrase only in the file that has a reason", async () => {
  const text = 'const a = "A yes may also cover";\n';
  expect(
    await problemsOf(prose, {
      "packages/core/src/approval/text.ts": text,
      "packages/core/src/approval/show.ts": text,
    }),
  ).toEqual(['packages/core/src/approval/show.ts:1: "A yes": write "approval, approving"']);
});
