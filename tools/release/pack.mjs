// Makes the archives that are published, one for each package: `npm run release:pack -- FOLDER`.
import { mkdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { isBuilt } from "../stamp.mjs";
import { capture, root } from "../workspace.mjs";
import { stage } from "./stage.mjs";

/** @typedef {{ folder: string, name: string, version: string, archive: string }} Packed */

/**
 * @param {string} to - Gets the folder `staged`, which is made anew, and the archives.
 * @param {string} [from] - Another repository root, for tests.
 * @returns {Promise<Packed[]>} Each after those that it needs.
 */
export async function pack(to, from = root) {
  const staged = join(to, "staged");
  rmSync(staged, { recursive: true, force: true });
  mkdirSync(staged, { recursive: true });
  const all = stage(staged, from);
  const args = [
    "pack",
    "--ignore-scripts",
    "--silent",
    "--pack-destination",
    to,
    ...all.map(({ dir }) => dir),
  ];
  const { status, output } = await capture("npm", args, { cwd: staged });
  if (status !== 0) throw new Error(`Cannot pack\n${output.trim()}`);
  return all.map(({ folder, name, version }) => ({
    folder,
    name,
    version,
    archive: join(to, `${name.replace("@", "").replace("/", "-")}-${version}.tgz`),
  }));
}

/** Archives of something else than the sources are worse than none. */
export function stopUnlessBuilt() {
  if (isBuilt()) return;
  process.stderr.write(
    "✗ The packages are not built from the sources as they are. Run: npm run setup\n",
  );
  process.exit(1);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  stopUnlessBuilt();
  for (const { archive } of await pack(resolve(process.argv[2] ?? join(root, "temp/packed"))))
    console.log(archive);
}
