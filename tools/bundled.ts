/**
 * Programs that tests start, each as one file of JavaScript: a process that translates TypeScript
 * first needs five times as long to start, and many tests start hundreds. The sources of the
 * packages are in it, as in the tests themselves.
 */
import { mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Options } from "tsup";
import { root } from "./workspace.mjs";

/** tsup's own esbuild: to load tsup takes longer than to bundle. */
const { build }: { readonly build: (options: object) => Promise<unknown> } = createRequire(
  createRequire(import.meta.url).resolve("tsup"),
)("esbuild");

/**
 * Where Vite keeps what it made: nothing that git knows, and whoever runs the tests may write
 * there.
 */
const BUNDLES = join(root, "node_modules/.vite/bundled");

/** What lies beside a source is still looked for there. */
const keepPlaces: NonNullable<Options["esbuildPlugins"]>[number] = {
  name: "keep-places",
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      return {
        loader: "ts",
        contents: source.replaceAll("import.meta.url", JSON.stringify(pathToFileURL(path).href)),
      };
    });
  },
};

/** CommonJS in a module: Node's own modules come by a `require` that a module does not have. */
const REQUIRE =
  'import { createRequire as makeRequire } from "node:module"; const require = makeRequire(import.meta.url);';

/**
 * @param source - A program in TypeScript.
 * @returns The path of a file that does the same, and that anybody may read who may read the
 *   checkout.
 */
export async function bundled(source: URL): Promise<string> {
  const file = fileURLToPath(source);
  const name = relative(root, file).replace(/\.ts$/, "").replaceAll("/", "_");
  await mkdir(BUNDLES, { recursive: true });
  // Tests side by side need the same one: each is put in place whole.
  const own = await mkdtemp(join(BUNDLES, "new-"));
  try {
    await build({
      entryPoints: { [name]: file },
      outdir: own,
      bundle: true,
      format: "esm",
      outExtension: { ".js": ".mjs" },
      target: "node20",
      platform: "node",
      banner: { js: REQUIRE },
      plugins: [keepPlaces],
      // Where it says which name of ours is which source.
      tsconfig: join(root, "tsconfig.json"),
      logLevel: "error",
    });
    await rename(join(own, `${name}.mjs`), join(BUNDLES, `${name}.mjs`));
  } finally {
    await rm(own, { recursive: true });
  }
  return join(BUNDLES, `${name}.mjs`);
}
