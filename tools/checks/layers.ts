/**
 * Who may import whom. Arrows point one way: cli → proxies, integrations → adapters → core →
 * exec-safety; equals never import each other. Also: nothing is imported that the manifest does not
 * declare, and core reaches each library only from the subpath that needs it.
 */
import { dirname, join, normalize } from "node:path";
import { builtIn, gitFiles, packages, readManifest } from "../workspace.mjs";
import { importsOf, parseFile } from "./ast.js";
import type { ImportLine } from "./ast.js";
import type { Check } from "./check.js";

/** Packages by layer, lowest first. A new package gets its place here. */
const LAYERS: readonly RegExp[] = [
  /^exec-safety$/,
  /^core$/,
  /^host$/,
  /^(audit|home|capabilities|suggest|testing|(channel|sandbox|sink|store)-[a-z0-9]+)$/,
  /^(exec-approval|mcpx|constitution|code-mode|(proxy|integration)-[a-z-]+)$/,
  /^cli$/,
];

interface PurePackage {
  readonly entries: readonly string[];
  /** Its libraries, each with the entries whose import may load it. */
  readonly libraries: Readonly<Record<string, readonly string[]>>;
}

const CORE_ENTRIES = [
  "index",
  "channels",
  "crypto/portable",
  "exec",
  "policy",
  "proof",
  "unstable",
  "vault",
  "yaml",
];

/** The pure packages: what nobody uses of them, nobody loads. */
const PURE: Readonly<Record<string, PurePackage>> = {
  core: {
    entries: CORE_ENTRIES,
    libraries: {
      "@acp/exec-safety": ["exec"],
      "@acp/exec-safety/secret-names": CORE_ENTRIES,
      "@acp/exec-safety/text": CORE_ENTRIES,
      yaml: ["yaml"],
      "@noble/ciphers": ["crypto/portable"],
      "@noble/curves": ["crypto/portable"],
      "@noble/hashes": ["crypto/portable"],
    },
  },
  "exec-safety": { entries: ["index", "secret-names", "text"], libraries: { unbash: ["index"] } },
};

const layerOf = (folder: string): number => LAYERS.findIndex((layer) => layer.test(folder));
const isTest = (file: string): boolean => /\.test(-d)?\.ts$|^packages\/[^/]+\/test\//.test(file);
const packageName = (specifier: string): string =>
  specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");

interface SourceFile {
  readonly file: string;
  readonly folder: string;
  readonly imports: readonly ImportLine[];
}

function sourcesOf(root: string): readonly SourceFile[] {
  return gitFiles(root).flatMap((file) => {
    const folder = /^packages\/([^/]+)\/(?:src|test)\/.*\.ts$/.exec(file)?.[1];
    return folder === undefined
      ? []
      : [{ file, folder, imports: importsOf(parseFile(join(root, file))) }];
  });
}

/** Why a source file may not import another of our packages, or undefined. */
function arrowProblem(folder: string, target: string): string | undefined {
  if (target === folder) return `imports its own package by name`;
  if (target === "testing") return "imports @acp/testing outside a test";
  return layerOf(target) < layerOf(folder)
    ? undefined
    : `may not import @acp/${target}: arrows point one way, equals never import each other`;
}

/** What tests of every package share and nobody installs. */
const FOR_TESTS: ReadonlySet<string> = new Set([
  "packages/core/test/policy-arbitraries.js",
  "packages/proxy-mcp/test/support/line-client.js",
  "packages/proxy-mcp/test/support/oauth-double.js",
  "packages/proxy-mcp/test/support/proxied.js",
  "packages/proxy-mcp/test/support/remote-client.js",
  "packages/proxy-mcp/test/support/web-server.js",
  "tools/bundled.js",
  "tools/cpu-ms.js",
  "tools/deep.js",
  "tools/fast-check.js",
  "tools/markdown.js",
]);

function importProblem(
  source: SourceFile,
  specifier: string,
  declared: ReadonlySet<string>,
): string | undefined {
  if (specifier.startsWith("node:") || specifier.startsWith("#")) return undefined;
  if (specifier.startsWith(".")) {
    const target = normalize(join(dirname(source.file), specifier));
    const isForTests = target.startsWith("spec/vectors/") || FOR_TESTS.has(target);
    const isInside =
      target.startsWith(`packages/${source.folder}/`) || (isTest(source.file) && isForTests);
    return isInside ? undefined : `imports "${specifier}", which leaves the package`;
  }
  const name = packageName(specifier);
  const ours = /^@acp\/(.+)$/.exec(name)?.[1];
  // The kit builds on core: core's manifest cannot name it back.
  if (ours === "testing" && isTest(source.file)) return undefined;
  const arrow =
    ours === undefined || isTest(source.file) ? undefined : arrowProblem(source.folder, ours);
  if (arrow !== undefined) return arrow;
  return declared.has(name)
    ? undefined
    : `imports "${name}", which its package.json does not declare`;
}

function importProblems(root: string, sources: readonly SourceFile[]): string[] {
  const atRoot = Object.keys(readManifest(root).devDependencies ?? {});
  const manifests = new Map(packages(root).map(({ folder, manifest }) => [folder, manifest]));
  return sources.flatMap((source) => {
    const {
      dependencies = {},
      peerDependencies = {},
      devDependencies = {},
    } = manifests.get(source.folder) ?? {};
    const shipped = { ...dependencies, ...peerDependencies };
    const developed = Object.keys(devDependencies);
    const included = builtIn(source.folder).filter((name) => developed.includes(name));
    const declared = new Set([
      ...Object.keys(shipped),
      ...(isTest(source.file) ? [...developed, ...atRoot] : included),
    ]);
    return source.imports.flatMap(({ specifier, line }) => {
      const problem = importProblem(source, specifier, declared);
      return problem === undefined ? [] : [`${source.file}:${line}: ${problem}`];
    });
  });
}

/** A library as it is named in {@link PURE}: each entry of ours costs what it costs. */
const libraryOf = (specifier: string): string =>
  specifier.startsWith("@acp/") ? specifier : packageName(specifier);

/** Libraries that loading an entry loads, with the file that does. */
function librariesOf(
  entry: string,
  byFile: ReadonlyMap<string, SourceFile>,
): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const seen = new Set<string>();
  const open = [entry];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    for (const { specifier, isTypeOnly } of byFile.get(file)?.imports ?? []) {
      if (isTypeOnly || specifier.startsWith("#") || specifier.startsWith("node:")) continue;
      if (specifier.startsWith("."))
        open.push(normalize(join(dirname(file), specifier)).replace(/\.js$/, ".ts"));
      else found.set(libraryOf(specifier), file);
    }
  }
  return found;
}

function libraryProblems(
  sources: readonly SourceFile[],
  folder: string,
  { entries, libraries }: PurePackage,
): string[] {
  const own = sources.filter((source) => source.folder === folder && !isTest(source.file));
  const byFile = new Map(own.map((source) => [source.file, source]));
  const strangers = own.flatMap(({ file, imports }) =>
    imports
      .filter(
        ({ specifier }) =>
          /^[^.#]/.test(specifier) &&
          !specifier.startsWith("node:") &&
          !(libraryOf(specifier) in libraries),
      )
      .map(
        ({ specifier, line }) =>
          `${file}:${line}: imports "${specifier}", which is none of ${folder}'s libraries`,
      ),
  );
  const leaks = entries.flatMap((entry) =>
    [...librariesOf(`packages/${folder}/src/${entry}.ts`, byFile)]
      .filter(([library]) => library in libraries && libraries[library]?.includes(entry) !== true)
      .map(
        ([library, file]) =>
          `${file}: loads "${library}" whenever ${folder}'s "${entry}" is imported`,
      ),
  );
  return [...strangers, ...leaks];
}

export const layers: Check = {
  name: "layers",
  remedy:
    "Take the part as an argument instead of importing it, or move what both need down into core (docs/dependencies.md, tools/checks/layers.ts)",
  run({ root }) {
    const unplaced = packages(root)
      .filter(({ folder }) => layerOf(folder) === -1)
      .map(({ folder }) => `packages/${folder}: has no layer`);
    const sources = sourcesOf(root);
    const pure = Object.entries(PURE).flatMap(([folder, limits]) =>
      libraryProblems(sources, folder, limits),
    );
    return { problems: [...unplaced, ...importProblems(root, sources), ...pure] };
  },
};
