/**
 * Own packages: every package that this process loads code from. It runs outside of every sandbox,
 * so an agent must not be able to change it.
 */
import { existsSync, readFileSync, realpathSync } from "node:fs";
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
  const installed = rememberInstalled();
  for (const directory of found) {
    const names = dependenciesOf(directory);
    const places = names.length === 0 ? [] : placesAround(directory);
    for (const name of names) {
      const path = firstOf(places, (place) => installed(`${place}/${name}`));
      if (path === undefined)
        throw new ConsentError(
          "options_invalid",
          `Cannot find the package "${name}" that "${directory}" needs`,
        );
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
  return typeof dependencies === "object" && dependencies !== null
    ? Object.keys(dependencies).filter((name) => NAME.test(name))
    : [];
}

/**
 * Where Node looks: in the `node_modules` beside the package and above it. The same for every name.
 */
function placesAround(directory: string): readonly string[] {
  const above = dirname(directory);
  const further = above === directory ? [] : placesAround(above);
  return directory.endsWith("/node_modules")
    ? further
    : [`${directory === "/" ? "" : directory}/node_modules`, ...further];
}

/**
 * The real path of a package, if there is one. Most are needed by several, and every start waits
 * for this: `path.join()` was half of it.
 */
function rememberInstalled(): (path: string) => string | undefined {
  const known = new Map<string, string | undefined>();
  return (path) => {
    if (!known.has(path))
      known.set(path, existsSync(`${path}/package.json`) ? realpathSync.native(path) : undefined);
    return known.get(path);
  };
}

function firstOf(
  places: readonly string[],
  look: (place: string) => string | undefined,
): string | undefined {
  for (const place of places) {
    const path = look(place);
    if (path !== undefined) return path;
  }
  return undefined;
}
