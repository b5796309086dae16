/**
 * What it costs to import an entry of the pure packages: kilobytes (of 1,024 bytes) bundled whole,
 * minified and gzipped, as a program that imports every name would ship them. The main entry of
 * core has a budget; the others are printed.
 */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { packages, root as home } from "../workspace.mjs";
import type { Check } from "./check.js";

/**
 * Kilobytes that an entry may cost. Lower it when it costs less;
 * docs/adr/0139-what-a-gate-weighs.md says why it stands where it does.
 */
const BUDGETS_KB: Readonly<Record<string, number>> = { "@acp/core": 58.8 };
/** Packages whose entries programs bundle. */
const BUNDLED: readonly string[] = ["core", "exec-safety", "suggest"];

interface Entry {
  readonly name: string;
  readonly file: string;
}

interface Esbuild {
  build(
    options: object,
  ): Promise<{ readonly outputFiles: readonly { readonly contents: Uint8Array }[] }>;
}

function entriesOf(root: string): readonly Entry[] {
  return packages(root)
    .filter(({ folder }) => BUNDLED.includes(folder))
    .flatMap(({ dir, manifest }) =>
      Object.entries(manifest.exports ?? {}).flatMap(([subpath, target]) =>
        typeof target === "string"
          ? []
          : [{ name: join(manifest.name, subpath), file: join(dir, target["default"] ?? "") }],
      ),
    );
}

/** The bundler that comes with the one that builds the packages. */
function esbuild(): Esbuild {
  const fromTsup = createRequire(createRequire(join(home, "package.json")).resolve("tsup"));
  const found: unknown = fromTsup("esbuild");
  if (typeof found !== "object" || found === null || !("build" in found))
    throw new Error("esbuild is not there");
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- looked at above; its types come with a package that is not ours
  return found as Esbuild;
}

async function costKb({ build }: Esbuild, file: string): Promise<number> {
  const { outputFiles } = await build({
    stdin: { contents: `export * from ${JSON.stringify(file)}`, resolveDir: home },
    bundle: true,
    minify: true,
    format: "esm",
    platform: "node",
    write: false,
    logLevel: "error",
    external: ["node:*"],
  });
  const [output] = outputFiles;
  if (output === undefined) throw new Error(`${file} gave no bundle`);
  return gzipSync(output.contents, { level: 9 }).length / 1024;
}

export const entryCost: Check = {
  name: "entry cost",
  remedy:
    "Put what only some programs need behind a subpath, or pass it in as an argument; docs/adr/0050 says how the entries are cut",
  async run({ root }) {
    const bundler = esbuild();
    const problems: string[] = [];
    const notes: string[] = [];
    for (const { name, file } of entriesOf(root)) {
      if (!existsSync(file)) {
        problems.push(`${name}: is not built`);
        continue;
      }
      const cost = await costKb(bundler, file);
      const budget = BUDGETS_KB[name];
      const line = `${name}: ${cost.toFixed(1)} kB gzip${budget === undefined ? "" : `, at most ${budget}`}`;
      (budget !== undefined && cost > budget ? problems : notes).push(line);
    }
    return { problems, notes };
  },
};
