import { expect, it } from "vitest";
import { circles } from "./circles.js";
import { problemsOf } from "./sample.js";

it.each([
  ["values", 'import { b } from "./b.js";', 'import { a } from "./a.js";'],
  ["types", 'import type { B } from "./b.js";', 'import type { A } from "./a.js";'],
  ["types of import()", 'export type A = import("./b.js").B;', 'export type { A } from "./a.js";'],
])("circles refuses two files that import each other's %s", async (_name, a, b) => {
  const files = {
    "packages/core/src/a.ts": a,
    "packages/core/src/b.ts": b,
    "packages/core/src/c.ts": 'import "./a.js";',
  };
  expect(await problemsOf(circles, files)).toEqual([
    "packages/core/src/a.ts: in a circle of 2: packages/core/src/a.ts, packages/core/src/b.ts",
  ]);
});

it("circles refuses a longer one through several folders, and a file that imports itself", async () => {
  const files = {
    "packages/cli/src/a.ts": 'import "./in/b.js";',
    "packages/cli/src/in/b.ts": 'import type { C } from "./c.js";',
    "packages/cli/src/in/c.ts": 'export { a } from "../a.js";',
    "tools/d.ts": 'import "./d.js";',
  };
  expect(await problemsOf(circles, files)).toEqual([
    "packages/cli/src/a.ts: in a circle of 3: packages/cli/src/a.ts, packages/cli/src/in/b.ts, packages/cli/src/in/c.ts",
    "tools/d.ts: in a circle of 1: tools/d.ts",
  ]);
});

it("circles takes files that meet again below", async () => {
  const files = {
    "packages/core/src/a.ts": 'import "./b.js"; import "./c.js";',
    "packages/core/src/b.ts": 'import "./d.js";',
    "packages/core/src/c.ts": 'import "./d.js";',
    "packages/core/src/d.ts": 'import "@acp/testing";',
  };
  expect(await problemsOf(circles, files)).toEqual([]);
});
