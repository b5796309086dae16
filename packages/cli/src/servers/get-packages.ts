/**
 * Get packages: from names to a lockfile, and from a lockfile to a tree. Both in a sandbox with the
 * registries and nothing else; programs that packages run when they are installed have no network
 * at all.
 */
import { ConsentError } from "@acp/core";
import { checkInstalled, digestOf, manifestOf, readLockfile } from "./lockfile.js";
import type { Lockfile } from "./lockfile.js";
import { startNpm } from "./npm-sandbox.js";
import type { NpmOptions } from "./npm-sandbox.js";
import type { PackageSpec } from "./npx-command.js";
import { takeTree } from "./take-tree.js";

/** What npm runs with, and for which packages. */
export interface PackageParts extends NpmOptions {
  readonly packages: readonly PackageSpec[];
}

/**
 * Finds out which packages are needed, and their sums; nothing of them is loaded.
 *
 * @throws ConsentError `config_invalid` with what npm says, or for what may not be in a tree; as
 *   {@link startNpm}.
 */
export async function resolvePackages(parts: PackageParts): Promise<Lockfile> {
  await using npm = await startNpm(parts);
  const { lockfile } = await npm.run({ step: "resolve", manifest: manifestOf(parts.packages) });
  if (typeof lockfile !== "string")
    throw new ConsentError(
      "sandbox_failed",
      "Cannot get the packages of a server: npm made no lockfile",
    );
  return readLockfile(lockfile, parts);
}

/**
 * Installs what a lockfile says, whole, into an empty directory.
 *
 * @returns Digest of what npm wrote down as installed, which lies in
 *   `node_modules/.package-lock.json`.
 * @throws ConsentError As {@link resolvePackages}.
 */
export async function installPackages(
  parts: PackageParts,
  lockfile: Lockfile,
  directory: string,
): Promise<string> {
  await using npm = await startNpm(parts);
  const { installed } = await npm.run({
    step: "install",
    manifest: manifestOf(parts.packages),
    lockfile: lockfile.text,
  });
  if (typeof installed !== "string")
    throw new ConsentError(
      "sandbox_failed",
      "Cannot get the packages of a server: npm installed nothing",
    );
  checkInstalled(installed, lockfile);
  // Before the first program of a package runs.
  await npm.cutNetwork();
  if (lockfile.packages.some(({ hasScripts }) => hasScripts)) await npm.run({ step: "scripts" });
  npm.begin({ step: "pack" });
  await takeTree(npm.output, directory);
  return digestOf(installed);
}
