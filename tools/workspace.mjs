// The workspace as data: its root, its packages, the files git knows, and running a program.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Absolute path of the repository, without a slash at the end. */
export const root = fileURLToPath(new URL("..", import.meta.url)).replace(/[\\/]$/, "");

/** @param {string} path */
export const readJson = (path) => JSON.parse(readFileSync(path, "utf8"));

/**
 * Every folder under packages/ with a manifest, sorted by folder.
 *
 * @param {string} [from] - Another repository root, for tests.
 * @returns {{ folder: string, dir: string, manifest: any }[]}
 */
export function packages(from = root) {
  const base = join(from, "packages");
  if (!existsSync(base)) return [];
  return readdirSync(base)
    .filter((folder) => existsSync(join(base, folder, "package.json")))
    .sort()
    .map((folder) => ({ folder, dir: join(base, folder), manifest: readJson(join(base, folder, "package.json")) }));
}

/**
 * Files that git tracks or would track, relative to the root, sorted; deleted ones left out.
 *
 * @param {string} [from]
 * @returns {string[]}
 */
export function gitFiles(from = root) {
  const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const listed = spawnSync("git", args, { cwd: from, encoding: "utf8", maxBuffer: 1 << 26 });
  if (listed.status !== 0) throw new Error(`Cannot list files with git: ${listed.error?.message ?? listed.stderr.trim()}`);
  return [...new Set(listed.stdout.split("\0"))].filter((file) => file !== "" && existsSync(join(from, file))).sort();
}

/**
 * Runs a program to its end and keeps what it printed.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {import("node:child_process").SpawnOptionsWithoutStdio} [options]
 * @returns {Promise<{ status: number, output: string }>}
 */
export function capture(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, ...options });
    let output = "";
    child.stdout.on("data", (chunk) => (output += chunk));
    child.stderr.on("data", (chunk) => (output += chunk));
    child.on("error", reject);
    child.on("close", (status) => resolve({ status: status ?? 1, output }));
  });
}

/** @param {string} name - A program of a root development dependency. */
export const bin = (name) => join(root, "node_modules/.bin", name);
