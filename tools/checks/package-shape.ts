/**
 * What would be published: the archives of tools/release/pack.mjs. publint and arethetypeswrong
 * read each as a user's tools would. It holds the license and the readme, no test, and every source
 * that its maps name: what was built from others' sources would need their notices.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, normalize } from "node:path";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { pack } from "../release/pack.mjs";
import { bin, capture } from "../workspace.mjs";
import type { Check } from "./check.js";

/** Where each map, named by a file or lying in the package, must lead. */
function mapProblems(dir: string, file: string): readonly string[] {
  const text = readFileSync(join(dir, file), "utf8");
  const near = (path: string): string => normalize(join(dirname(file), path));
  if (/\.(?:c?js|d\.ts)$/.test(file)) {
    const [, map] = /^\/\/# sourceMappingURL=(\S+)\s*$/m.exec(text) ?? [];
    return map === undefined || existsSync(join(dir, near(map)))
      ? []
      : [`${file} names the map ${map}, which is not there`];
  }
  if (!file.endsWith(".map")) return [];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by our build
  const { sources = [] } = JSON.parse(text) as { readonly sources?: readonly string[] };
  const strangers = sources.filter(
    (source) =>
      !hasNotice(dir, source) &&
      (near(source).startsWith("..") || !existsSync(join(dir, near(source)))),
  );
  return strangers.map((source) => `${file} was made from ${source}, which is not in the package`);
}

/**
 * A library that is built in brings its notice, not its sources. @see `builtIn()` of
 * tools/workspace.mjs
 */
function hasNotice(dir: string, source: string): boolean {
  const [, library] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(source) ?? [];
  return (
    library !== undefined &&
    existsSync(join(dir, "dist", `NOTICE-${library.replace("/", "-")}.txt`))
  );
}

async function contentProblems(archive: string, to: string): Promise<readonly string[]> {
  mkdirSync(to);
  await capture("tar", ["-xzf", archive, "-C", to]);
  const dir = join(to, "package");
  const files = readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(dir.length + 1))
    .sort();
  const missing = ["LICENSE", "README.md"]
    .filter((file) => !files.includes(file))
    .map((file) => `lacks ${file}`);
  const stray = files
    .filter((file) => /\.test(-d)?\.|tsbuildinfo|\.env|\.pem$/.test(file))
    .map((file) => `ships ${file}`);
  return [...missing, ...stray, ...files.flatMap((file) => mapProblems(dir, file))];
}

async function publintProblems(archive: string): Promise<readonly string[]> {
  const { status, output } = await capture(bin("publint"), ["run", archive, "--strict"]);
  return status === 0 ? [] : [`publint says:\n${output.trim()}`];
}

/** What only `import` can load is not wrong where Node has `require` of modules. */
const NOT_OURS: readonly unknown[] = ["node10", "node16-cjs"];

/** Here and not as a program: the compiler that it reads types with is loaded once for all. */
async function typesProblems(archive: string): Promise<readonly string[]> {
  const analysis = await checkPackage(createPackageFromTarballData(readFileSync(archive)));
  if (analysis.types === false) return ["arethetypeswrong finds no types"];
  return (
    analysis.problems
      .filter(
        (problem) => !("resolutionKind" in problem && NOT_OURS.includes(problem.resolutionKind)),
      )
      // Not how it looked for what it did not find.
      .map(
        (problem) => `arethetypeswrong says: ${JSON.stringify({ ...problem, trace: undefined })}`,
      )
  );
}

async function problemsOf(archive: string, to: string): Promise<readonly string[]> {
  const found = await Promise.all([
    contentProblems(archive, to),
    publintProblems(archive),
    typesProblems(archive),
  ]);
  return found.flat();
}

export const packageShape: Check = {
  name: "package shape",
  remedy: "Mend the manifest's exports and files; every entry needs types and JavaScript in dist",
  async run({ root }) {
    const room = mkdtempSync(join(tmpdir(), "acp-pack-"));
    try {
      const found: string[] = [];
      for (const { folder, archive } of await pack(room, root)) {
        const problems = await problemsOf(archive, join(room, folder));
        found.push(...problems.map((problem) => `packages/${folder}: ${problem}`));
      }
      return { problems: found };
    } finally {
      rmSync(room, { recursive: true, force: true });
    }
  },
};
