import { expect, it } from "vitest";
import { problemsOf } from "./sample.js";
import { unused } from "./unused.js";

it("unused refuses a file, an export and a dependency that nothing uses", async () => {
  const files = {
    "package.json": { name: "a", dependencies: { yaml: "1" } },
    "knip.json": { entry: ["src/index.ts"], project: ["src/**/*.ts"] },
    "src/index.ts": 'import { b } from "./b.js";\nimport "./none.js";\nb();\n',
    "src/b.ts": "export function b(): void {}\nexport function c(): void {}\n",
    "src/d.ts": "export const d = 1;\n",
  };
  expect([...(await problemsOf(unused, files))].sort()).toEqual([
    "package.json:4: yaml is a dependency that nothing imports",
    "src/b.ts:2: c is exported for nobody",
    "src/d.ts: src/d.ts is used by nothing",
    "src/index.ts:2: ./none.js is imported but does not exist",
  ]);
});
