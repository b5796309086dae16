// The workspace as data: its root, its packages, the files git knows, and running a program.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Absolute path of the repository, without a slash at the end. */
export const root = fileURLToPath(new URL("..", import.meta.url)).replace(/[\\/]$/, "");

/**
 * @typedef {Readonly<Record<string, string>>} Table
 * @typedef {{ name: string, version: string, packageManager?: string, exports?:
 *   Readonly<Record<string, string | Table>>, imports?: object,
 *   bin?: Table, dependencies?: Table, peerDependencies?: Table, devDependencies?: Table, [key:
 *   string]: unknown }} Manifest
 */

/**
 * @param {string} path - A JSON file that holds an object.
 * @returns {Readonly<Record<string, unknown>>}
 */
export const readJson = (path) => JSON.parse(readFileSync(path, "utf8"));

/**
 * @param {string} dir
 * @returns {Manifest} The folder's package.json.
 */
export const readManifest = (dir) => JSON.parse(readFileSync(join(dir, "package.json"), "utf8"));

/**
 * Every folder under packages/ with a manifest, sorted by folder.
 *
 * @param {string} [from] - Another repository root, for tests.
 * @returns {{ folder: string, dir: string, manifest: Manifest }[]}
 */
export function packages(from = root) {
  const base = join(from, "packages");
  if (!existsSync(base)) return [];
  return readdirSync(base)
    .filter((folder) => existsSync(join(base, folder, "package.json")))
    .sort()
    .map((folder) => ({
      folder,
      dir: join(base, folder),
      manifest: readManifest(join(base, folder)),
    }));
}

/**
 * Libraries that the build puts into a package's own files, because loading them as they are
 * published is most of what a start costs (docs/adr/0132). They are development dependencies of the
 * package, and have their line in docs/dependencies.md.
 *
 * @type {Readonly<Record<string, readonly string[]>>}
 */
const BUILT_IN = { core: ["yaml"] };

/** @param {string} folder - A package's. */
export const builtIn = (folder) => BUILT_IN[folder] ?? [];

/**
 * Files that git tracks or would track, relative to the root, sorted; deleted ones left out.
 *
 * @param {string} [from]
 * @returns {string[]}
 */
export function gitFiles(from = root) {
  const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const listed = spawnSync("git", args, { cwd: from, encoding: "utf8", maxBuffer: 1 << 26 });
  if (listed.status !== 0)
    throw new Error(`Cannot list files with git: ${listed.error?.message ?? listed.stderr.trim()}`);
  return [...new Set(listed.stdout.split("\0"))]
    .filter((file) => file !== "" && existsSync(join(from, file)))
    .sort();
}

/**
 * Runs a program to its end and keeps what it printed, without colours (some programs colour
 * whatever CI runs).
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {import("node:child_process").SpawnOptionsWithoutStdio} [options]
 * @returns {Promise<{ status: number, output: string }>}
 */
export function capture(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: root,
      env: { ...process.env, NO_COLOR: "1" },
      ...options,
    });
    let output = "";
    child.stdout.on("data", (chunk) => (output += chunk));
    child.stderr.on("data", (chunk) => (output += chunk));
    child.on("error", reject);
    child.on("close", (status) => resolve({ status: status ?? 1, output }));
  });
}

/** @param {string} name - A program of a root development dependency. */
export const bin = (name) => join(root, "node_modules/.bin", name);
