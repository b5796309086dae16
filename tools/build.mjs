// Builds every package: declarations with one `tsc -b` (also the type check), JavaScript with tsup.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "tsup";
import { stampBuild } from "./stamp.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const require = createRequire(import.meta.url);
const tsc = join(dirname(require.resolve("typescript7/package.json")), "bin/tsc");

const types = spawnSync(process.execPath, [tsc, "-b", "tsconfig.build.json"], { cwd: root, stdio: "inherit" });
if (types.status !== 0) process.exit(types.status ?? 1);

/** The entry files of a package: whatever its exports, imports and bin point to in dist. */
function entriesOf(manifest) {
  const targets = JSON.stringify([manifest.exports, manifest.imports, manifest.bin]).match(/\.\/dist\/[\w/.-]+\.js/g) ?? [];
  return Object.fromEntries([...new Set(targets)].map((target) => [target.slice("./dist/".length, -".js".length), target]));
}

for (const name of readdirSync(join(root, "packages")).sort()) {
  const dir = join(root, "packages", name);
  const manifest = JSON.parse(readFileSync(join(dir, "package.json"), "utf8"));
  const entry = Object.fromEntries(
    Object.keys(entriesOf(manifest))
      .map((key) => [key, join(dir, "src", `${key}.ts`)])
      .filter(([, file]) => existsSync(file)),
  );
  await build({
    entry,
    outDir: join(dir, "dist"),
    format: "esm",
    target: "node20",
    platform: "neutral",
    skipNodeModulesBundle: true,
    external: [/^node:/, /^#/, /^@acp\//],
    splitting: true,
    sourcemap: true,
    dts: false,
    silent: true,
    config: false,
    clean: false,
    tsconfig: join(root, "tsconfig.base.json"),
    esbuildOptions: (options) => {
      options.outbase = join(dir, "src");
      options.mainFields = ["module", "main"];
    },
  });
  console.log(`  built @acp/${name} (${Object.keys(entry).join(", ")})`);
}
stampBuild();
