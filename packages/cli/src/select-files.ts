/**
 * Select files: the files that a command line names, by their names or by patterns (globs). A
 * pattern is matched one name at a time, so that only folders that can hold a match are read and no
 * regular expression sees more than one name.
 */
import { lstat, readdir, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { ConsentError } from "@acp/core";
import type { Invocation } from "./command.js";

/** Files that one pattern may match. */
const MATCHES_MAX = 10_000;
/** Entries of folders that one pattern may look at. */
const ENTRIES_MAX = 200_000;
const PATTERN_CHARS_MAX = 1_024;
/** Folders that a pattern may lie deep, `**` included. */
const DEPTH_MAX = 64;
/**
 * `*` in one name of a pattern. Regular expressions backtrack: with three, a name of 255 characters
 * takes most of a second, with two less than a millisecond.
 */
const STARS_MAX = 2;

/** What picomatch would read as part of a regular expression, and a shell as part of a name. */
const NOT_GLOB = /[()|+]/g;
const IS_GLOB = /[*?[{]/;

type Test = (name: string) => boolean;

/** One name of a pattern: as it is, any number of folders, or a pattern of one name. */
type Part =
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "folders" }
  | { readonly kind: "pattern"; readonly test: Test };

/** What the search for one pattern knows. */
interface Search {
  readonly cwd: string;
  fail(why: string, cause?: unknown): ConsentError;
  readonly found: Set<string>;
  entries: number;
}

/**
 * Resolves the files of a command line. An operand that names something that exists is that file,
 * whatever characters it has, and so is every word after `--`. Any other operand with `*`, `?`, `[`
 * or `{` is a pattern: `*` and `?` stand for characters of one name, `**` for any number of folders,
 * `[ab]` and `{a,b}` for one of several. Names that start with a period match only a pattern that
 * does, and `**` follows no links.
 *
 * @param what - Plural, for the error text, such as `policies`.
 * @returns Names in the order of the operands, those of one pattern sorted by code units, each file
 *   once; relative names stay relative to the working directory. `-` stays as it is.
 * @throws ConsentError `options_invalid` if a pattern matches no file, cannot be read or searched,
 *   or matches more than 10,000 files.
 */
export async function selectFiles(
  {
    operands,
    rest,
    io: { cwd },
  }: Pick<Invocation, "operands" | "rest"> & {
    readonly io: Pick<Invocation["io"], "cwd">;
  },
  what: string,
): Promise<readonly string[]> {
  const names: string[] = [];
  for (const operand of operands) {
    const isPattern = IS_GLOB.test(operand) && !(await exists(resolve(cwd, operand)));
    if (isPattern) names.push(...(await filesMatching(operand, cwd, what)));
    else names.push(operand);
  }
  names.push(...rest.map((name) => (name === "-" ? "./-" : name)));
  const byPath = new Map<string, string>();
  for (const name of names) {
    const path = name === "-" ? name : resolve(cwd, name);
    if (!byPath.has(path)) byPath.set(path, name);
  }
  return [...byPath.values()];
}

async function filesMatching(
  pattern: string,
  cwd: string,
  what: string,
): Promise<readonly string[]> {
  const fail: Search["fail"] = (why, cause) =>
    new ConsentError("options_invalid", `Cannot find ${what} "${pattern}": ${why}`, { cause });
  if (pattern.length > PATTERN_CHARS_MAX)
    throw fail(`the pattern has more than ${PATTERN_CHARS_MAX} characters`);
  const isAbsolute = pattern.startsWith("/");
  const names = pattern.split("/").filter((name) => name !== "" && name !== ".");
  if (names.length > DEPTH_MAX) throw fail(`the pattern has more than ${DEPTH_MAX} names`);
  const parts = await Promise.all(names.map((name) => partOf(name, fail)));
  const search: Search = { cwd, fail, found: new Set(), entries: 0 };
  await walk(search, isAbsolute ? "/" : "", parts);
  if (search.found.size === 0) throw fail("no file matches the pattern");
  return [...search.found].sort((a, b) => (a < b ? -1 : 1));
}

async function partOf(name: string, fail: Search["fail"]): Promise<Part> {
  if (name === "**") return { kind: "folders" };
  if (!IS_GLOB.test(name)) return { kind: "name", name };
  if (name.split(/\*+/).length - 1 > STARS_MAX)
    throw fail(`a name in a pattern may have ${STARS_MAX} asterisks at most`);
  // Loaded where a command line has a pattern, and by no other start.
  const { default: picomatch } = await import("picomatch");
  // `posix`: as in a shell, `[!ab]` is any character but these.
  const options = { nonegate: true, noextglob: true, posix: true };
  const test = picomatch(name.replace(NOT_GLOB, "\\$&"), options);
  // picomatch takes `[!a]` for a period too.
  const isHidden = name.startsWith(".");
  return { kind: "pattern", test: (each) => (isHidden || !each.startsWith(".")) && test(each) };
}

/** Adds to `found` the files below `at` that the rest of the pattern matches. */
async function walk(search: Search, at: string, parts: readonly Part[]): Promise<void> {
  const [part, ...rest] = parts;
  if (part === undefined) return take(search, at);
  if (part.kind === "name") return walk(search, join(at, part.name), rest);
  const isFolders = part.kind === "folders";
  // Also a pattern that ends in `**` means the files.
  if (isFolders && rest.length > 0) await walk(search, at, rest);
  for (const entry of await entriesOf(search, at)) {
    const next = join(at, entry.name);
    if (part.kind === "pattern") {
      if (part.test(entry.name)) await walk(search, next, rest);
    } else if (!entry.name.startsWith(".")) {
      if (entry.isDirectory()) await walk(search, next, parts);
      else if (rest.length === 0) await take(search, next);
    }
  }
}

async function take({ cwd, found, fail }: Search, name: string): Promise<void> {
  const stats = await stat(resolve(cwd, name)).catch((error: unknown) => {
    if (isAbsent(error)) return undefined;
    throw fail(`"${name}" cannot be inspected`, error);
  });
  if (stats?.isFile() !== true) return;
  found.add(name);
  if (found.size > MATCHES_MAX) throw fail(`more than ${MATCHES_MAX} files match the pattern`);
}

/** A folder that cannot be read fails the search: what is in it would be left out silently. */
async function entriesOf(search: Search, folder: string) {
  const { cwd, fail } = search;
  const entries = await readdir(resolve(cwd, folder), { withFileTypes: true }).catch(
    (error: unknown) => {
      if (isAbsent(error)) return [];
      throw fail(`the folder "${folder === "" ? "." : folder}" cannot be read`, error);
    },
  );
  search.entries += entries.length;
  if (search.entries > ENTRIES_MAX)
    throw fail(`more than ${ENTRIES_MAX} files and folders would have to be examined`);
  return entries;
}

/** There is no such file or folder, or a file is where a folder would have to be. */
function isAbsent(error: unknown): boolean {
  return (
    error instanceof Error &&
    "code" in error &&
    (error.code === "ENOENT" || error.code === "ENOTDIR")
  );
}

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );
