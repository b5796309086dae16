// Stamps that tell whether install and build still match their inputs: one hash over the input
// files, kept in node_modules.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { packages, root } from "./workspace.mjs";

const folder = join(root, "node_modules");
const installStamp = join(folder, ".acp-install");
const buildStamp = join(folder, ".acp-build");

/** @param {readonly string[]} files - Relative to the root; a missing one counts as empty. */
function hashOf(files) {
  const hash = createHash("sha256");
  for (const file of files) {
    const path = join(root, file);
    hash.update(`${file}\0`);
    if (existsSync(path)) hash.update(readFileSync(path));
    hash.update("\0");
  }
  return hash.digest("hex");
}

/** Folders that hold members of the workspace, as pnpm-workspace.yaml lists them. */
function manifests() {
  const found = ["package.json", "bench/package.json", "docs/package.json"];
  for (const base of ["packages", "examples"]) {
    for (const name of readdirSync(join(root, base)).sort())
      found.push(`${base}/${name}/package.json`);
  }
  return found;
}

function sources() {
  const found = [
    "tsconfig.json",
    "tsconfig.base.json",
    "tsconfig.build.json",
    "tools/build.mjs",
    "tools/whole.mjs",
    "tools/workspace.mjs",
    "pnpm-lock.yaml",
  ];
  for (const { folder: name, dir } of packages()) {
    found.push(`packages/${name}/package.json`, `packages/${name}/tsconfig.json`);
    for (const entry of readdirSync(join(dir, "src"), { recursive: true }).map(String).sort()) {
      if (/\.(ts|json)$/.test(entry) && !entry.endsWith(".test.ts"))
        found.push(`packages/${name}/src/${entry}`);
    }
  }
  return found;
}

/**
 * @param {string} stamp
 * @param {string} value
 */
function put(stamp, value) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(stamp, value);
}

/**
 * @param {string} stamp
 * @param {string} value
 */
const holds = (stamp, value) => existsSync(stamp) && readFileSync(stamp, "utf8") === value;

const installInputs = () => hashOf(["pnpm-lock.yaml", "pnpm-workspace.yaml", ...manifests()]);
const isLinked = () =>
  packages().every(
    ({ dir, manifest }) => !hasDependencies(manifest) || existsSync(join(dir, "node_modules")),
  );
/** @param {import("./workspace.mjs").Manifest} manifest */
const hasDependencies = (manifest) =>
  manifest.dependencies !== undefined || manifest.devDependencies !== undefined;
const isWhole = () =>
  packages().every(
    ({ dir }) => existsSync(join(dir, "dist/index.js")) && existsSync(join(dir, "dist/index.d.ts")),
  );

/** Whether node_modules holds what the lock file says. */
export const isInstalled = () => isLinked() && holds(installStamp, installInputs());
/** Notes that the install is done. */
export const stampInstall = () => put(installStamp, installInputs());
/** Whether every dist folder was made from the sources as they are. */
export const isBuilt = () => isWhole() && holds(buildStamp, hashOf(sources()));
/** Notes that the build is done. */
export const stampBuild = () => put(buildStamp, hashOf(sources()));
/** Forgets the last build, so that an interrupted one is not taken for a whole one. */
export const unstampBuild = () => rmSync(buildStamp, { force: true });
