// Builds every package whole: declarations with one `tsc -b` (which is the type check), JavaScript
// with tsup, side by side.
import { copyFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { build } from "tsup";
import { stampBuild, unstampBuild } from "./stamp.mjs";
import { bundleWhole } from "./whole.mjs";
import { builtIn, capture, packages, root } from "./workspace.mjs";

/**
 * The entries of a package: what its exports, imports and bin point to in dist, as paths in it.
 *
 * @param {import("./workspace.mjs").Manifest} manifest
 * @returns {string[]}
 */
function entriesOf(manifest) {
  const targets =
    JSON.stringify([manifest.exports, manifest.imports, manifest.bin]).match(
      /\.\/dist\/[\w/.-]+\.c?js/g,
    ) ?? [];
  return [...new Set(targets)].map((target) => target.slice("./dist/".length)).sort();
}

/**
 * @param {{ folder: string, dir: string, manifest: import("./workspace.mjs").Manifest }} package
 */
async function bundle({ folder, dir, manifest }) {
  const entries = entriesOf(manifest);
  const { sideEffects } = manifest;
  // An entry that is loaded for what it does is one file, so that it can be copied to where there
  // are no packages.
  const isLone = (/** @type {string} */ entry) =>
    Array.isArray(sideEffects) && sideEffects.includes(`./dist/${entry}`);
  const isWhole = (/** @type {string} */ entry) => entry.endsWith(".cjs");
  const lone = entries.filter(isLone);
  const together = entries.filter((entry) => !isLone(entry) && !isWhole(entry));
  const included = builtIn(folder);
  for (const group of [together, ...lone.map((entry) => [entry])])
    await bundleTogether({ dir, entries: group, included, splitting: group === together });
  for (const entry of entries.filter(isWhole)) await bundleWhole(dir, nameOf(entry));
  // Their licences ask to be passed on with every copy. Not by that word: pnpm would then leave out
  // our own.
  for (const name of included)
    copyFileSync(
      join(dir, "node_modules", name, "LICENSE"),
      join(dir, "dist", `NOTICE-${name}.txt`),
    );
  return `  built @acp/${folder} (${entries.map(nameOf).join(", ")})`;
}

/** @param {string} entry */
const nameOf = (entry) => entry.replace(/\.c?js$/, "");

/**
 * @param {{ dir: string, entries: readonly string[], included: readonly string[], splitting:
 * boolean }} group
 */
async function bundleTogether({ dir, entries, included, splitting }) {
  const options = /** @type {import("tsup").Options} */ ({
    entry: Object.fromEntries(
      entries.map((entry) => [nameOf(entry), join(dir, "src", `${nameOf(entry)}.ts`)]),
    ),
    outDir: join(dir, "dist"),
    format: "esm",
    target: "node20",
    platform: "neutral",
    skipNodeModulesBundle: true,
    external: [/^node:/, /^#/, /^@acp\//],
    noExternal: [...included],
    splitting,
    sourcemap: true,
    dts: false,
    silent: true,
    config: false,
    clean: false,
    tsconfig: join(root, "tsconfig.base.json"),
    esbuildOptions: (esbuild) => {
      esbuild.outbase = join(dir, "src");
      esbuild.mainFields = ["module", "main"];
      // The sources are in the package.
      esbuild.sourcesContent = false;
    },
  });
  await build(options).catch(() => {
    throw new Error(`${dir} does not bundle: see the errors above`);
  });
}

async function declarations() {
  const { status, output } = await capture(process.execPath, [
    "node_modules/typescript7/bin/tsc",
    "-b",
    "--force",
    "tsconfig.build.json",
  ]);
  if (status !== 0) throw new Error(`the sources do not type-check\n${output.trim()}`);
  return "  declared every package";
}

/** @param {PromiseSettledResult<string>} result */
function report(result) {
  if (result.status === "fulfilled") console.log(result.value);
  else
    console.error(
      `✗ ${result.reason instanceof Error ? result.reason.message : String(result.reason)}`,
    );
  return result.status === "fulfilled";
}

/**
 * Removes what an earlier build left behind: everything this one did not write, and the compiler's
 * own notes.
 *
 * @param {string} dist
 * @param {number} startMs
 */
function sweep(dist, startMs) {
  for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    // File systems round a time down by some milliseconds.
    const isStale =
      entry.isFile() && (statSync(path).mtimeMs < startMs - 100 || entry.name === ".tsbuildinfo");
    if (isStale) rmSync(path);
  }
}

unstampBuild();
const startMs = Date.now();
const all = packages();
const results = (await Promise.allSettled([declarations(), ...all.map(bundle)])).map(report);
if (results.includes(false)) process.exit(1);
for (const { dir } of all) sweep(join(dir, "dist"), startMs);
stampBuild();
