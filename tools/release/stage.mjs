// Writes each package as it is published: what it ships, and a manifest that any package manager
// reads. In the repository, manifests say `workspace:*` and `catalog:`, which `npm pack` would
// leave as they are.
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { packages, root } from "../workspace.mjs";
import { repositoryUrl } from "./problems.mjs";

/**
 * @typedef {{ folder: string, dir: string, manifest: import("../workspace.mjs").Manifest }} Package
 */

/** Of no use to who installs a package. */
const OURS_ALONE = ["devDependencies", "scripts", "publishConfig"];
const DEPENDENCIES = ["dependencies", "peerDependencies", "optionalDependencies"];
const EXACT = /^\d+\.\d+\.\d+(?:-[\w.]+)?$/;

/**
 * @param {string} from
 * @returns {Map<string, string>} The catalog of pnpm-workspace.yaml.
 */
function catalogOf(from) {
  const path = join(from, "pnpm-workspace.yaml");
  const [, table = ""] = existsSync(path) ? readFileSync(path, "utf8").split(/^catalog:\n/m) : [];
  const lines = table
    .split(/^\S/m, 1)
    .join("")
    .matchAll(/^ {2}"?([^\s":]+)"?: (\S+)$/gm);
  return new Map([...lines].map(([, name = "", version = ""]) => [name, version]));
}

/**
 * @param {unknown} table - Dependencies as the repository has them.
 * @param {{ versions: ReadonlyMap<string, string>, catalog: ReadonlyMap<string, string> }} known
 */
function resolved(table, { versions, catalog }) {
  return Object.fromEntries(
    Object.entries(typeof table === "object" && table !== null ? table : {}).map(
      ([name, range]) => {
        const found =
          range === "workspace:*"
            ? versions.get(name)
            : range === "catalog:"
              ? catalog.get(name)
              : String(range);
        if (found === undefined || !EXACT.test(found))
          throw new Error(`Cannot tell the version of "${name}": "${String(range)}"`);
        return [name, found];
      },
    ),
  );
}

/**
 * The packages that are published, each after those that it needs.
 *
 * @param {string} [from]
 * @returns {Package[]}
 */
export function publicPackages(from = root) {
  const all = packages(from).filter(({ manifest }) => manifest["private"] !== true);
  /** @type {Set<Package>} */
  const ordered = new Set();
  const add = (/** @type {Package} */ next) => {
    const names = DEPENDENCIES.flatMap((kind) => Object.keys(next.manifest[kind] ?? {}));
    for (const needed of all)
      if (names.includes(needed.manifest.name) && !ordered.has(needed)) add(needed);
    ordered.add(next);
  };
  for (const each of all) if (!ordered.has(each)) add(each);
  return [...ordered];
}

/**
 * What lies in a package's archive besides its manifest; `npm pack` leaves out what its `files`
 * exclude.
 *
 * @param {import("../workspace.mjs").Manifest} manifest
 */
function shippedNames({ files, bin = {} }) {
  const listed = Array.isArray(files)
    ? files.map(String).filter((name) => !name.startsWith("!"))
    : [];
  return new Set([...listed, ...Object.values(bin).map((path) => normalize(path))]);
}

/**
 * Writes every package that is published to a folder of its own.
 *
 * @param {string} to - Where; an earlier package there is written over.
 * @param {string} [from] - Another repository root, for tests.
 * @returns {{ folder: string, dir: string, name: string, version: string }[]} Each after those that
 *   it needs.
 */
export function stage(to, from = root) {
  const all = publicPackages(from);
  const known = {
    versions: new Map(all.map(({ manifest }) => [manifest.name, manifest.version])),
    catalog: catalogOf(from),
  };
  return all.map(({ folder, dir, manifest }) => {
    const target = join(to, folder);
    mkdirSync(target, { recursive: true });
    for (const name of shippedNames(manifest)) {
      mkdirSync(dirname(join(target, name)), { recursive: true });
      cpSync(join(dir, name), join(target, name), { recursive: true });
    }
    cpSync(join(from, "LICENSE"), join(target, "LICENSE"));
    if (existsSync(join(dir, "README.md")))
      cpSync(join(dir, "README.md"), join(target, "README.md"));
    const kept = Object.entries(manifest).filter(([key]) => !OURS_ALONE.includes(key));
    const written = kept.map(([key, value]) => [
      key,
      DEPENDENCIES.includes(key) ? resolved(value, known) : value,
    ]);
    const repository = { type: "git", url: repositoryUrl(from), directory: `packages/${folder}` };
    const text = JSON.stringify({ ...Object.fromEntries(written), repository }, undefined, 2);
    writeFileSync(join(target, "package.json"), `${text}\n`);
    return { folder, dir: target, name: manifest.name, version: manifest.version };
  });
}
