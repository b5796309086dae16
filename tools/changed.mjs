// What changed since a base, and which packages that can reach: those with a changed file, and all
// that depend on one of them. Where nothing says what the base is, everything changed.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { readManifest, root } from "./workspace.mjs";

/**
 * What no package's tests depend on beyond those that every run has: pages, records, what a test
 * costs, and tools with tests of their own.
 */
const BESIDE =
  /^(?:docs|bench|etc|\.changeset|\.github|tools\/(?:new|pnpm|site))\/|^[^/]+\.md$|^spec\/[^/]+\.md$|^packages\/[^/]+\/README\.md$|^tools\/lanes\./;
/** `testing` belongs to nobody alone: tests of every package use it, whatever their manifest says. */
const MEMBER = /^(?:(?:packages|examples)\/(?!testing\/)[^/]+|tools\/(?:checks|release))(?=\/)/;
/** Tools that nothing depends on, with tests that only the deep lane runs. */
const TOOLS = ["tools/checks", "tools/release"];

/** @param {string} from @param {readonly string[]} args */
function git(from, args) {
  const { status, stdout } = spawnSync("git", args, { cwd: from, encoding: "utf8" });
  return status === 0 ? stdout : undefined;
}

/**
 * The commit to compare with: `ACP_CI_BASE`, else where this branch left `origin/main`.
 *
 * @param {string | undefined} asked - `ACP_CI_BASE`.
 * @param {string} [from] - Another repository root, for tests.
 * @returns {string | undefined} `undefined` where nothing names one: no remote, a shallow clone, or
 *   HEAD itself is what the remote has.
 */
export function findBase(asked, from = root) {
  const head = git(from, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
  const base =
    asked === undefined || asked === ""
      ? git(from, ["merge-base", "HEAD", "origin/main"])
      : git(from, ["rev-parse", "--verify", "--quiet", `${asked}^{commit}`]);
  return base === undefined || (base === head && (asked ?? "") === "") ? undefined : base.trim();
}

/**
 * @param {string} base - A commit.
 * @param {string} [from]
 * @returns {string[] | undefined} Files that differ from it, committed or not; `undefined` where
 *   git cannot say.
 */
export function changedSince(base, from = root) {
  const tracked = git(from, ["diff", "--name-only", "-z", "--no-renames", base, "--"]);
  const others = git(from, ["ls-files", "-z", "--others", "--exclude-standard"]);
  if (tracked === undefined || others === undefined) return undefined;
  return `${tracked}${others}`.split("\0").filter((file) => file !== "");
}

/**
 * Folders of members that a change reaches.
 *
 * @param {readonly string[]} files - Changed ones, from the root.
 * @param {readonly { folder: string, name: string, needs: readonly string[] }[]} all - `folder`
 *   like `packages/core`, `needs` by name.
 * @returns {string[] | undefined} `undefined`: all of them.
 */
export function reached(files, all) {
  const touched = new Set();
  for (const file of files) {
    if (BESIDE.test(file)) continue;
    const folder = MEMBER.exec(file)?.[0];
    const member = all.find((each) => each.folder === folder);
    // What lies outside of every member, or belongs to one that is gone, can reach any.
    if (member === undefined) return undefined;
    touched.add(member.name);
  }
  const isNew = (/** @type {(typeof all)[number]} */ { name, needs }) =>
    !touched.has(name) && needs.some((need) => touched.has(need));
  for (let more = all.filter(isNew); more.length > 0; more = all.filter(isNew))
    for (const { name } of more) touched.add(name);
  return all.filter(({ name }) => touched.has(name)).map(({ folder }) => folder);
}

/** Members of the workspace and tools that have tests of their own. @param {string} [from] */
export function members(from = root) {
  const tools = TOOLS.map((folder) => ({ folder, name: folder, needs: [] }));
  const packages = ["packages", "examples"]
    .filter((base) => existsSync(join(from, base)))
    .flatMap((base) => readdirSync(join(from, base)).map((name) => `${base}/${name}`))
    .filter((folder) => existsSync(join(from, folder, "package.json")))
    .map((folder) => {
      const { name, dependencies, devDependencies, peerDependencies } = readManifest(
        join(from, folder),
      );
      const needs = Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies });
      return { folder, name, needs };
    });
  return [...packages, ...tools];
}

/**
 * What a run has to look at again.
 *
 * @param {string | undefined} asked - `ACP_CI_BASE`.
 * @param {string} [from]
 * @returns {{ base: string | undefined, folders: string[] | undefined, files: string[] | undefined }}
 *   `folders` and `files` are `undefined` for everything.
 */
export function toLookAt(asked, from = root) {
  const base = findBase(asked, from);
  const files = base === undefined ? undefined : changedSince(base, from);
  return { base, files, folders: files === undefined ? undefined : reached(files, members(from)) };
}

/** @param {readonly string[] | undefined} folders @param {string} file */
export const isIn = (folders, file) =>
  folders === undefined || folders.some((folder) => file.startsWith(`${folder}/`));
