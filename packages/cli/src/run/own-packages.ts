/**
 * Own packages: every package that this process loads code from. It runs outside of every sandbox, so an agent must not be able to change it.
 */
import { readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ConsentError } from "@acp/core";

const NAME = /^(?:@[\w.-]+\/)?[\w.-]+$/u;

/**
 * The directories of this package and of everything that it needs, by real paths.
 *
 * @param start - For tests: the package to begin with.
 * @throws ConsentError `options_invalid` where a package is not installed as it says it is.
 */
export function ownPackages(start: string = findOwn()): readonly string[] {
  const found = new Set([realpathSync(start)]);
  // Most are needed by several, and every start waits for this.
  const known = new Map<string, string>();
  for (const directory of found) {
    for (const name of dependenciesOf(directory)) {
      const places = placesFor(name, directory);
      const key = places.join(":");
      const path = known.get(key) ?? locate(name, { from: directory, places });
      known.set(key, path);
      found.add(path);
    }
  }
  return [...found];
}

/** This package, from its source or its build. */
function findOwn(directory: string = dirname(fileURLToPath(import.meta.url))): string {
  if (nameOf(directory) === "@acp/cli") return directory;
  if (directory !== "/") return findOwn(dirname(directory));
  throw new ConsentError(
    "options_invalid",
    `Cannot find out where ACP is installed: no package around "${fileURLToPath(import.meta.url)}"`,
  );
}

interface Manifest {
  readonly name?: unknown;
  readonly dependencies?: unknown;
}

function readManifest(directory: string): Manifest {
  const value: unknown = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
  return typeof value === "object" && value !== null ? value : {};
}

function nameOf(directory: string): unknown {
  try {
    return readManifest(directory).name;
  } catch {
    return undefined;
  }
}

function dependenciesOf(directory: string): readonly string[] {
  const { dependencies } = readManifest(directory);
  return typeof dependencies === "object" && dependencies !== null ? Object.keys(dependencies).filter((name) => NAME.test(name)) : [];
}

/** As Node looks: in the `node_modules` beside the package and above it. */
function placesFor(name: string, from: string): readonly string[] {
  return (createRequire(join(from, "package.json")).resolve.paths(name) ?? []).map((place) => join(place, name));
}

function locate(name: string, { from, places }: { readonly from: string; readonly places: readonly string[] }): string {
  const found = places.find((directory) => nameOf(directory) !== undefined);
  if (found === undefined) throw new ConsentError("options_invalid", `Cannot find the package "${name}" that "${from}" needs`);
  return realpathSync(found);
}
