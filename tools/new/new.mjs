// Makes the skeleton of an adapter: `npm run new channel NAME`, also store, sandbox and sink. It
// has the port's signature, its conformance suite, a README, a changeset and a page of the docs,
// and says what remains to be done by hand.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { root as home } from "../workspace.mjs";
import { KINDS } from "./kinds.mjs";

const USAGE = `Usage: npm run new KIND NAME
  KIND  ${Object.keys(KINDS).join(", ")}
  NAME  lower-case letters and digits, such as "matrix"`;

/** @param {string} name */
const capital = (name) => `${name.charAt(0).toUpperCase()}${name.slice(1)}`;

const TSCONFIG = {
  extends: "../../tsconfig.base.json",
  compilerOptions: {
    rootDir: "src",
    outDir: "dist",
    emitDeclarationOnly: true,
    tsBuildInfoFile: "dist/.tsbuildinfo",
  },
  include: ["src"],
  exclude: ["src/**/*.test.ts", "src/**/*.test-d.ts"],
  references: [{ path: "../core" }],
};

/**
 * @param {string} name
 * @param {string} description
 */
function manifestOf(name, description) {
  return {
    name,
    version: "0.0.0",
    description,
    license: "Apache-2.0",
    type: "module",
    sideEffects: false,
    engines: { node: ">=20.19" },
    files: ["dist", "src", "!src/**/*.test.ts"],
    exports: {
      ".": { types: "./dist/index.d.ts", default: "./dist/index.js" },
      "./package.json": "./package.json",
    },
    peerDependencies: { "@acp/core": "workspace:*" },
    devDependencies: { "@acp/core": "workspace:*", "@acp/testing": "workspace:*" },
  };
}

/**
 * The files of a new package, by their paths from the root.
 *
 * @param {string} kind
 * @param {string} name
 * @returns {Readonly<Record<string, string>>}
 */
export function filesOf(kind, name) {
  const row = KINDS[kind];
  if (row === undefined) throw new Error(`Cannot make "${kind}": there is no such kind\n${USAGE}`);
  if (!/^[a-z][a-z0-9]*$/.test(name))
    throw new Error(`Cannot make a ${kind} "${name}": not a name\n${USAGE}`);
  const type = `${capital(name)}${capital(kind)}`;
  const names = { kind, name, type, make: `create${type}` };
  const folder = `packages/${kind}-${name}`;
  const needsClock = kind === "store";
  return {
    [`${folder}/package.json`]: json(manifestOf(`@acp/${kind}-${name}`, row.what)),
    [`${folder}/tsconfig.json`]: json(TSCONFIG),
    [`${folder}/README.md`]: `# @acp/${kind}-${name}\n\n${row.what}\n\nPart of ACP (Agent Consent Protocol), which puts a person's consent between an AI agent and what it does.\n`,
    [`${folder}/src/index.ts`]: `/** @acp/${kind}-${name}: ${row.what} */\nexport { ${names.make}, type ${type}Options } from "./${name}-${kind}.js";\n`,
    [`${folder}/src/${name}-${kind}.ts`]: `/**
 * ${capital(name)} ${kind}. Source of the port: spec/ports.md. Conformance: test/conformance.test.ts.
 */
${needsClock ? 'import { type Clock, memoryStore, type Store } from "@acp/core";' : `import type { ${row.port} } from "@acp/core";`}

/** Options of {@link ${names.make}}. */
export interface ${type}Options {
${row.options}${needsClock ? "  readonly clock: Clock;\n" : ""}}

/** Makes the ${kind}. */
export function ${names.make}(options: ${type}Options): ${row.port} {
  return {
${row.body.replaceAll("NAME", name)}  };
}
`,
    [`${folder}/test/conformance.test.ts`]: row.test(names),
    [`.changeset/${kind}-${name}.md`]: `---\n"@acp/${kind}-${name}": minor\n---\n\nA ${kind} for ${capital(name)}.\n`,
    [`docs/how-to/${kind}s/${name}.md`]: `# ${capital(name)}\n\n${row.what}\n`,
  };
}

/** @param {unknown} value */
const json = (value) => `${JSON.stringify(value, null, 2)}\n`;

/**
 * Writes them, and the package's place in the build.
 *
 * @param {string} kind
 * @param {string} name
 * @param {string} [root]
 * @returns {readonly string[]} What remains to be done by hand.
 */
export function make(kind, name, root = home) {
  const files = filesOf(kind, name);
  const taken = Object.keys(files).find((file) => existsSync(join(root, file)));
  if (taken !== undefined)
    throw new Error(`Cannot make a ${kind} "${name}": ${taken} is there already`);
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  const build = join(root, "tsconfig.build.json");
  const project = `    { "path": "packages/${kind}-${name}" },\n`;
  writeFileSync(
    build,
    readFileSync(build, "utf8").replace(
      '    { "path": "packages/cli" }',
      `${project}    { "path": "packages/cli" }`,
    ),
  );
  return [
    "install: node tools/pnpm/node_modules/pnpm/bin/pnpm.cjs install --no-frozen-lockfile",
    ...(KINDS[kind]?.next ?? []),
    "name its page in docs/index.md",
    `write it until this is green: npm test -- packages/${kind}-${name}`,
  ];
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [kind = "", name = ""] = process.argv.slice(2);
  try {
    const next = make(kind, name);
    for (const file of Object.keys(filesOf(kind, name)))
      console.log(`  made ${relative(".", join(home, file))}`);
    console.log(`\nNext:\n${next.map((each) => `  - ${each}`).join("\n")}`);
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}
