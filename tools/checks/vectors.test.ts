import { expect, it } from "vitest";
import { problemsOf } from "./sample.js";
import { vectors } from "./vectors.js";

it.each([
  ["text that is not JSON", "{", /^spec\/vectors\/a\.json: is not JSON/],
  ["a file without cases", "[]", /"cases" must be a list that is not empty$/],
  ["no case", '{"cases":[]}', /"cases" must be a list that is not empty$/],
  ["a case without a name", '{"cases":[{}]}', /every case needs a "name"$/],
  [
    "the same case twice",
    '{"cases":[{"name":"a","b":1},{"name":"a","b":1}]}',
    /a case "a" is there twice$/,
  ],
])("vectors refuses %s", async (_name, text, problem) => {
  const problems = await problemsOf(vectors, { "spec/vectors/a.json": text });
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(problem);
});

it("vectors takes named cases", async () => {
  expect(
    await problemsOf(vectors, {
      "spec/vectors/a.json": {
        cases: [
          { name: "a", b: 1 },
          { name: "a", b: 2 },
        ],
      },
    }),
  ).toEqual([]);
});
