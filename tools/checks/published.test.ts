/** The checks that read what would be published: each goes red on a bad package. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { apiReport } from "./api-report.js";
import { packageShape } from "./package-shape.js";
import { problemsOf, sample } from "./sample.js";

const manifest = {
  name: "@acp/core",
  version: "0.0.0",
  license: "Apache-2.0",
  type: "module",
  sideEffects: false,
  engines: { node: ">=20.19" },
  files: ["dist"],
  exports: { ".": { types: "./dist/index.d.ts", default: "./dist/index.js" } },
};
const files = {
  "pnpm-workspace.yaml": "packages:\n  - packages/*\n",
  LICENSE: "Apache-2.0",
  "package.json": { repository: { type: "git", url: "git+https://github.com/ada/acp.git" } },
  "packages/core/README.md": "# core\n",
  "packages/core/package.json": manifest,
  "packages/core/dist/index.js": "export const a = 1;\n",
  "packages/core/dist/index.d.ts": "/** A. */\nexport declare const a = 1;\n",
};

it("package shape takes a whole package", async () => {
  expect(await problemsOf(packageShape, files)).toEqual([]);
});

it("package shape refuses missing types, a missing readme and a test in the archive", async () => {
  const {
    "packages/core/README.md": _readme,
    "packages/core/dist/index.d.ts": _types,
    ...rest
  } = files;
  const problems = await problemsOf(packageShape, { ...rest, "packages/core/dist/a.test.js": "" });
  expect(problems.slice(0, 2)).toEqual([
    "packages/core: lacks README.md",
    "packages/core: ships dist/a.test.js",
  ]);
  expect(problems[2]).toMatch(/publint says:[\s\S]*index\.d\.ts but the file does not exist/);
});

it("package shape refuses maps that lead nowhere, and code made from others' sources", async () => {
  const index = "export const a = 1;\n//# sourceMappingURL=index.js.map\n";
  const noMap = { ...files, "packages/core/dist/index.js": index };
  expect(await problemsOf(packageShape, noMap)).toEqual([
    "packages/core: dist/index.js names the map index.js.map, which is not there",
  ]);
  const map = {
    version: 3,
    sources: ["index.js", "../src/gone.ts", "../../../node_modules/ms/index.js"],
    names: [],
    mappings: "",
  };
  expect(
    await problemsOf(packageShape, { ...noMap, "packages/core/dist/index.js.map": map }),
  ).toEqual([
    "packages/core: dist/index.js.map was made from ../src/gone.ts, which is not in the package",
    "packages/core: dist/index.js.map was made from ../../../node_modules/ms/index.js, which is not in the package",
  ]);
});

it("package shape refuses types that a user's compiler cannot follow", async () => {
  const problems = await problemsOf(packageShape, {
    ...files,
    "packages/core/dist/index.d.ts": 'export { a } from "./none";\n',
  });
  // For Node, and for bundlers.
  expect(problems).toHaveLength(2);
  for (const problem of problems)
    expect(problem).toMatch(/arethetypeswrong says:.*InternalResolutionError/);
});

it("package shape refuses a package that only import() can load", async () => {
  const exports = { ".": { require: { default: "./dist/none.cjs" } } };
  expect(
    (
      await problemsOf(packageShape, {
        ...files,
        "packages/core/package.json": { ...manifest, exports },
      })
    ).join("\n"),
  ).toContain("publint says:");
});

it("api report refuses a changed surface, and writes it on update", async () => {
  const root = sample(files);
  const problem = "etc/core.api.md: does not show the public surface as it is";
  expect(await apiReport.run({ root, update: false })).toEqual({ problems: [problem] });
  expect(await apiReport.run({ root, update: true })).toEqual({ problems: [] });
  expect(await apiReport.run({ root, update: false })).toEqual({ problems: [] });
  expect(readFileSync(join(root, "etc/core.api.md"), "utf8")).toContain("export const a = 1;");
  writeFileSync(
    join(root, "packages/core/dist/index.d.ts"),
    "/** A. */\nexport declare const a = 2;\n",
  );
  expect(await apiReport.run({ root, update: false })).toEqual({ problems: [problem] });
});

it("api report refuses a surface that needs a type it does not export, and a package that is not built", async () => {
  const root = sample({
    ...files,
    "packages/core/dist/index.d.ts":
      "export {};\ninterface Hidden { readonly b: 1 }\ninterface ABrand { readonly b: 1 }\n/** A. */\nexport declare const a: Hidden & ABrand;\n",
  });
  await apiReport.run({ root, update: true });
  expect((await apiReport.run({ root, update: false })).problems).toEqual([
    expect.stringContaining('The symbol "Hidden" needs to be exported'),
  ]);
  rmSync(join(root, "packages/core/dist"), { recursive: true });
  expect((await apiReport.run({ root, update: false })).problems).toEqual([
    "packages/core/dist/index.d.ts: is not built",
  ]);
});
