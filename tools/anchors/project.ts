/** A checkout as data: its commit, its published packages, and which files are source and tests. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { gitFiles, readManifest } from "../workspace.mjs";
import type { Manifest } from "../workspace.mjs";

/** One package that is published. */
export interface Package {
  /** Absolute path of its folder. */
  readonly dir: string;
  readonly manifest: Manifest;
}

/** One checkout. */
export interface Project {
  readonly root: string;
  readonly commit: string;
  /** Of the commit, as YYYY-MM-DD. */
  readonly date: string;
  readonly packages: readonly Package[];
  /** Names of what its packages need at run time, without its own packages. */
  readonly dependencies: readonly string[];
}

const TEST =
  /(?:\.(?:test|spec|test-d)\.[cm]?[jt]sx?$)|(?:^|\/)(?:tests?|__tests__|test-d|tap|runtime-tests)\//;
const SOURCE = /^(?:src|lib)\/.*\.tsx?$/;
const DECLARATION = /\.d\.ts$/;

function git(root: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync("git", args, { cwd: root, encoding: "utf8" });
  if (status !== 0) throw new Error(`Cannot read the checkout "${root}": ${stderr.trim()}`);
  return stdout.trim();
}

/** Reads a checkout. */
export function projectAt(root: string): Project {
  const found = gitFiles(root)
    .filter((file) => /^(?:packages\/[^/]+\/)?package\.json$/.test(file))
    .map((file) => ({
      dir: dirname(join(root, file)),
      manifest: readManifest(dirname(join(root, file))),
    }))
    .filter(({ dir, manifest }) => manifest["private"] !== true && existsSync(dir));
  const inFolders = found.filter(({ dir }) => dir !== root);
  // A root beside packages only holds them together.
  const packages = inFolders.length === 0 ? found : inFolders;
  const own = new Set(packages.map(({ manifest }) => manifest.name));
  const needed = packages.flatMap(({ manifest }) => Object.keys(manifest.dependencies ?? {}));
  const [commit = "", date = ""] = git(root, "log", "-1", "--format=%h %cs").split(" ");
  return {
    root,
    commit,
    date,
    packages,
    dependencies: [...new Set(needed)].filter((name) => !own.has(name)),
  };
}

/** Files of the published packages, each with its path inside its package. */
function filesOf({
  root,
  packages,
}: Project): readonly { readonly file: string; readonly inside: string }[] {
  const files = gitFiles(root).map((file) => join(root, file));
  return packages.flatMap(({ dir }) =>
    files
      .filter((file) => file.startsWith(`${dir}/`))
      .map((file) => ({ file, inside: file.slice(dir.length + 1) })),
  );
}

/** Source files, absolute. */
export const sourcesOf = (project: Project): readonly string[] =>
  filesOf(project)
    .filter(({ inside }) => SOURCE.test(inside) && !TEST.test(inside) && !DECLARATION.test(inside))
    .map(({ file }) => file);

/** Test files, absolute, with what only tests import. */
export const testsOf = (project: Project): readonly string[] =>
  filesOf(project)
    .filter(({ inside }) => TEST.test(inside) && /\.[cm]?[jt]sx?$/.test(inside))
    .map(({ file }) => file);
