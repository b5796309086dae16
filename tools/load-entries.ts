/** Loads entries of packages by their names, as users do. */
import type { Manifest } from "./workspace.mjs";

/** What one entry exports, by `import` and by `require`. */
export interface Loaded {
  readonly name: string;
  readonly imported: string;
  readonly required: string;
}

/** The names under which a package's entries are imported. */
export function entryNames({ name, exports = {} }: Manifest): readonly string[] {
  const subpaths = Object.keys(exports).filter((subpath) => subpath !== "./package.json");
  return subpaths.map((subpath) => name + subpath.slice(1));
}

/**
 * A module that prints a {@link Loaded} on a line for each name; it looks them up from the folder
 * that it runs in.
 */
export const loadScript = (names: readonly string[]): string => `
  const { createRequire } = await import("node:module");
  const require = createRequire(process.cwd() + "/package.json");
  for (const name of ${JSON.stringify(names)}) {
    const imported = Object.keys(await import(name)).sort().join();
    const required = Object.keys(require(name)).filter((key) => key !== "__esModule").sort().join();
    console.log(JSON.stringify({ name, imported, required }));
  }`;

/** Reads what {@link loadScript} printed. */
export const readLoaded = (output: string): readonly Loaded[] =>
  output
    .trim()
    .split("\n")
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by loadScript
    .map((line) => JSON.parse(line) as Loaded);

/** `fetch-patch` does not load in a program that has no proxy. */
export const LOAD_ENV = { HTTP_PROXY: "http://127.0.0.1:9" };
