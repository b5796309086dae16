import { expect, it } from "vitest";
import { problemsOf } from "./sample.js";
import { snippets } from "./snippets.js";

const fence = (text: string, info = ""): string => `\`\`\`ts${info}\n${text}\n\`\`\`\n`;
const base = {
  "tsconfig.json": {
    compilerOptions: {
      strict: true,
      module: "NodeNext",
      target: "ES2022",
      types: ["node"],
      skipLibCheck: true,
    },
  },
  "tools/checks/snippets-names.d.ts": "declare const gate: { readonly name: string };\n",
};

it("snippets takes what compiles, returns, goes on with the imports of its page, or is of another library", async () => {
  const page = [
    fence(
      'import { readFile } from "node:fs/promises";\nconst text = await readFile(gate.name, "utf8");\nif (text === "") return;',
    ),
    fence(
      'import { writeFile } from "node:fs/promises";\nawait writeFile("a", await readFile("b"));\nexport default { text: 1 };',
    ),
    fence('import { x } from "somewhere";', " foreign"),
  ].join("\n");
  expect(await problemsOf(snippets, { ...base, "README.md": page })).toEqual([]);
});

it("snippets names the line of the page of what does not compile", async () => {
  const page = `# Title\n\n${fence("const length: string = gate.name.length;\nawait nothing();")}`;
  expect(await problemsOf(snippets, { ...base, "packages/core/README.md": page })).toEqual([
    "packages/core/README.md:4: error TS2322: Type 'number' is not assignable to type 'string'.",
    "packages/core/README.md:5: error TS2304: Cannot find name 'nothing'.",
  ]);
});

it("snippets compiles the examples of docstrings, not what else a source file says", async () => {
  const example = (line: string): string =>
    ` * @example\n * \`\`\`ts\n * ${line}\n * \`\`\`\n */\n`;
  const text = [
    "/* ```ts\nnot.docs();\n``` */",
    `/**\n * First.\n *\n${example("const a = gate.name;")}export const a = 1;`,
    `  /**\n${example("const b: number = gate.name;")}`,
  ].join("\n");
  const files = { "packages/core/src/a.ts": text, "packages/core/src/b.test.ts": text };
  expect(await problemsOf(snippets, { ...base, ...files })).toEqual([
    "packages/core/src/a.ts:16: error TS2322: Type 'string' is not assignable to type 'number'.",
  ]);
});
