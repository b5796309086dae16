/**
 * Persistent: what in a workspace outlasts a sandbox by being run later, by itself, outside of it. Found by a walk that is bounded and begins with what
 * is nearest; what it does not reach is said.
 */
import { type Dirent, lstatSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, normalize } from "node:path";
import { GIT_NAMES, isPersistentFile, isPersistentFolder } from "./persistent-names.js";
import { liesIn } from "./workspace.js";

/** What was found. */
export interface Persistent {
  /** Absolute paths of files and folders, each folder with everything below it. */
  readonly places: readonly string[];
  /** Whether all of the workspace was looked at. */
  readonly isComplete: boolean;
}

const ENTRIES_MAX = 50_000;
/** Full of code that is run anyway, and of nobody's own settings. */
const PASSED_OVER: ReadonlySet<string> = new Set(["node_modules"]);
/** A configuration is a page or two. */
const CONFIG_BYTES_MAX = 1_048_576;

/** What Git itself writes into the configuration of a repository that it makes or clones, line by line; none of it names a program. */
const PLAIN_LINES = [
  /^(?:[#;].*)?$/u,
  /^\[(?:core|user|(?:branch|remote|submodule) "[^"]*")\]$/iu,
  /^(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|name|email|merge|fetch|active|remote)\s*=/iu,
  /^url\s*=(?!\s*"?-)(?!.*::)/iu, // ext::sh runs a shell
];

/** Whether a place is as Git makes it in each new repository: hooks that are samples, a configuration that names no program. */
export function isGitsOwn(place: string): boolean {
  if (basename(place) === "hooks") return list(place).every(({ name }) => name.endsWith(".sample"));
  if (basename(place) !== "config") return false;
  try {
    if (lstatSync(place).size > CONFIG_BYTES_MAX) return false;
    const lines = readFileSync(place, "utf8").split("\n");
    return lines.every((line) => PLAIN_LINES.some((plain) => plain.test(line.trim())));
  } catch {
    return false;
  }
}

/** Finds them. `workspace` is a real path; links are not followed, and count where they have such a name. */
export function findPersistent(workspace: string, entriesMax: number = ENTRIES_MAX): Persistent {
  const found = new Set<string>();
  const walk: Walk = { workspace, found, open: [workspace], left: entriesMax };
  for (const directory of walk.open) {
    const entries = list(directory);
    walk.left -= entries.length;
    if (walk.left < 0) break;
    const names = new Set(entries.map(({ name }) => name));
    if (names.has("HEAD") && (names.has("commondir") || (names.has("objects") && names.has("refs")))) takeGit(walk, directory, entries);
    else for (const entry of entries) take(walk, join(directory, entry.name), entry);
  }
  return { places: [...found].sort(), isComplete: walk.left >= 0 };
}

/** What must keep its name so that a place keeps its own: the folders between it and the workspace, outermost first. */
export function parentsBetween(workspace: string, places: readonly string[]): readonly string[] {
  const parents = places.flatMap((place) => foldersAbove(place, workspace));
  return [...new Set(parents)].sort((a, b) => (a.length === b.length ? (a < b ? -1 : 1) : a.length - b.length));
}

interface Walk {
  readonly workspace: string;
  readonly found: Set<string>;
  /** Folders to look at, nearest first; grows. */
  readonly open: string[];
  left: number;
}

function take({ found, open }: Walk, path: string, entry: Dirent): void {
  const name = entry.name.toLowerCase();
  if (entry.isDirectory()) {
    if (isPersistentFolder(name)) found.add(path);
    else if (!PASSED_OVER.has(name)) open.push(path);
    return;
  }
  // `.git` is a file in submodules and in worktrees: it says where the repository is.
  const isNamed = isPersistentFile(name) || name === ".git" || (entry.isSymbolicLink() && isPersistentFolder(name));
  if (isNamed) found.add(path);
}

/** A folder of Git's, whatever it is called: `.git`, one in `modules` or `worktrees`, a bare repository. */
function takeGit({ workspace, found, open }: Walk, directory: string, entries: readonly Dirent[]): void {
  for (const { name } of entries) if (GIT_NAMES.some((each) => each === name.toLowerCase())) found.add(join(directory, name));
  for (const name of ["modules", "worktrees"])
    if (entries.some((entry) => entry.name === name && entry.isDirectory())) open.push(join(directory, name));
  const hooks = hooksPath(directory);
  const path = hooks === undefined ? undefined : normalize(join(hooks.startsWith("/") ? "/" : dirname(directory), hooks));
  if (path !== undefined && path !== workspace && liesIn(path, workspace) && lstatSync(path, { throwIfNoEntry: false }) !== undefined)
    found.add(path);
}

/** `core.hooksPath` of a repository's own configuration; relative to its work tree. */
function hooksPath(directory: string): string | undefined {
  try {
    const path = join(directory, "config");
    const { size } = lstatSync(path);
    if (size > CONFIG_BYTES_MAX) return undefined;
    return /^\s*hookspath\s*=\s*"?([^"\n#;]+?)"?\s*(?:[#;].*)?$/imu.exec(readFileSync(path, "utf8"))?.[1];
  } catch {
    return undefined;
  }
}

function list(directory: string): readonly Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return []; // gone, or nobody's to look at
  }
}

function foldersAbove(place: string, workspace: string): readonly string[] {
  const parent = dirname(place);
  return parent === workspace || !liesIn(parent, workspace) ? [] : [...foldersAbove(parent, workspace), parent];
}
