/**
 * Every package's manifest keeps the promises of the docs: ESM only with a `default` condition, no
 * install scripts, exact versions from the catalog, core as a peer; and the build knows every
 * package.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { builtIn, packages, readJson, readManifest } from "../workspace.mjs";
import type { Check } from "./check.js";

/** Scripts that npm or pnpm would run on a user's machine. */
const INSTALL_SCRIPTS = [
  "preinstall",
  "install",
  "postinstall",
  "prepare",
  "prepublish",
  "preprepare",
  "postprepare",
];

const REQUIRED: Readonly<Record<string, unknown>> = {
  license: "Apache-2.0",
  type: "module",
  engines: { node: ">=20.19" },
};

/**
 * What every package ships; folders of its own (programs, what runs inside a sandbox) may stand
 * between.
 */
const SHIPPED = /^\["dist","src",("[a-z]+",)*"!src\/\*\*\/\*\.test\.ts"\]$/;

type Table = Readonly<Record<string, unknown>>;

/** A member of a manifest as a table; an absent one is empty. */
function tableOf(value: unknown): Table {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

/** A bundler may drop whatever is imported and not used, but for entries that are only loaded. */
function isSideEffectFree({ sideEffects, exports }: Table): boolean {
  if (!Array.isArray(sideEffects)) return sideEffects === false;
  const entries = Object.values(tableOf(exports)).map((target) => tableOf(target)["default"]);
  return (
    sideEffects.length > 0 &&
    sideEffects.length < entries.length &&
    sideEffects.every((file) => entries.includes(file))
  );
}

function fieldProblems(manifest: Table): string[] {
  const wrong = Object.entries(REQUIRED)
    .filter(([key, want]) => JSON.stringify(manifest[key]) !== JSON.stringify(want))
    .map(([key, want]) => `"${key}" must be ${JSON.stringify(want)}`);
  const ships = SHIPPED.test(JSON.stringify(manifest["files"]))
    ? []
    : ['"files" must be "dist", "src", folders of its own, "!src/**/*.test.ts"'];
  const harmless = isSideEffectFree(manifest)
    ? []
    : ['"sideEffects" must be false, or name the entries that are loaded for what they do'];
  const described = typeof manifest["description"] === "string" && manifest["description"] !== "";
  // The release writes it into every manifest: tools/release/stage.mjs.
  const moved =
    "repository" in manifest ? ['"repository" stands in the root package.json alone'] : [];
  const scripts = Object.keys(tableOf(manifest["scripts"])).filter((script) =>
    INSTALL_SCRIPTS.includes(script),
  );
  return [
    ...wrong,
    ...ships,
    ...harmless,
    ...moved,
    ...(described ? [] : ['"description" is missing']),
    ...scripts.map((script) => `runs a script at install: "${script}"`),
  ];
}

function exportProblems(manifest: Table): string[] {
  return Object.entries(tableOf(manifest["exports"])).flatMap(([subpath, target]) => {
    if (subpath === "./package.json") return [];
    const keys = Object.keys(tableOf(target)).join(",");
    return keys === "types,default"
      ? []
      : [`"exports" of "${subpath}" must have "types" and "default" only, in this order`];
  });
}

function dependencyProblems(folder: string, manifest: Table): string[] {
  const kinds = ["dependencies", "peerDependencies", "devDependencies"];
  const loose = kinds.flatMap((kind) =>
    Object.entries(tableOf(manifest[kind]))
      .filter(([name, range]) => range !== (name.startsWith("@acp/") ? "workspace:*" : "catalog:"))
      .map(
        ([name]) =>
          `"${kind}" of "${name}" must be ${name.startsWith("@acp/") ? '"workspace:*"' : '"catalog:"'}`,
      ),
  );
  const isPeerKept =
    ["cli", "core", "exec-safety"].includes(folder) ||
    "@acp/core" in tableOf(manifest["peerDependencies"]);
  return isPeerKept ? loose : [...loose, '"peerDependencies" must name "@acp/core"'];
}

/** Every library that users install has its line in docs/dependencies.md. */
function undocumentedProblems(root: string): string[] {
  const page = readFileSync(join(root, "docs/dependencies.md"), "utf8");
  const names = packages(root).flatMap(({ folder, manifest }) => [
    ...Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }),
    ...builtIn(folder),
  ]);
  const missing = [...new Set(names)].filter(
    (name) => !name.startsWith("@acp/") && !page.includes(`| \`${name}\` |`),
  );
  return missing.map((name) => `docs/dependencies.md: lacks a line for ${name}`);
}

/** The build, one version for all and the pinned package manager. */
function workspaceProblems(root: string): string[] {
  const folders = packages(root).map(({ folder }) => folder);
  const references = JSON.stringify(readJson(join(root, "tsconfig.build.json")));
  const unbuilt = folders.filter((folder) => !references.includes(`"packages/${folder}"`));
  const versions = new Set(packages(root).map(({ manifest }) => manifest.version));
  const pinned = `pnpm@${readManifest(join(root, "tools/pnpm")).dependencies?.["pnpm"] ?? "?"}`;
  const floating = [
    ...readFileSync(join(root, "pnpm-workspace.yaml"), "utf8").matchAll(/^ {2}(\S+): .*[\^~*><]/gm),
  ];
  return [
    ...unbuilt.map((folder) => `tsconfig.build.json: lacks packages/${folder}`),
    ...(versions.size > 1
      ? [`packages: must share one version, have ${[...versions].join(", ")}`]
      : []),
    ...(readManifest(root).packageManager === pinned
      ? []
      : [`package.json: "packageManager" must be "${pinned}", as in tools/pnpm`]),
    ...floating.map(([, name]) => `pnpm-workspace.yaml: the version of ${name} must be exact`),
  ];
}

export const manifests: Check = {
  name: "manifests",
  remedy: "Write the field as the line says; VERSIONING.md and docs/adr say why",
  run({ root }) {
    const own = packages(root).flatMap(({ folder, dir, manifest }) => {
      const readme = existsSync(join(dir, "README.md"))
        ? []
        : ["README.md is missing: it is the package's page in the registry"];
      const problems = [
        ...fieldProblems(manifest),
        ...exportProblems(manifest),
        ...dependencyProblems(folder, manifest),
        ...readme,
      ];
      return problems.map((problem) => `packages/${folder}: ${problem}`);
    });
    return { problems: [...own, ...undocumentedProblems(root), ...workspaceProblems(root)] };
  },
};
