/**
 * Persistent: what in a workspace outlasts a sandbox by being run later, by itself, outside of it.
 * Found by a walk that is bounded and begins with what is nearest; what it does not reach is said.
 */
import { closeSync, realpathSync } from "node:fs";
import { basename, dirname, join, normalize } from "node:path";
import { gitConfigNames } from "./git-config-names.js";
import { type Entry, isLink, isThere, kindOf, listEntries, readPlain } from "./guarded-look.js";
import {
  GIT_NAMES,
  isPersistentFile,
  isPersistentFolder,
  PASSED_OVER,
  PERSISTENT_NAMES,
} from "./persistent-names.js";
import { openPath } from "./places.js";
import { atOnce, type Sliced } from "./slices.js";
import { liesIn } from "./workspace.js";

/** The result of {@link findPersistent}. */
export interface Persistent {
  /**
   * Absolute paths of the files and folders that were found; a folder counts with everything below
   * it.
   */
  readonly places: readonly string[];
  /** True if all of the workspace was looked at. */
  readonly isComplete: boolean;
}

const ENTRIES_MAX = 50_000;
/** A folder that its owner may read, write and enter. */
const OWNERS = 0o700;
/** Files that include one another. */
const CONFIGS_MAX = 20;

/** Options of {@link findPersistent}. */
export interface FindOptions {
  /** How many files and folders to look at, at most; 50,000 unless given. */
  readonly entriesMax?: number;
  /**
   * Opens a folder that an agent has made unreadable. Otherwise it would not be looked into, and
   * the agent could make it readable again.
   */
  readonly reopen?: (folder: string) => void;
  /** Paths to look for first, however full the workspace is. */
  readonly known?: readonly string[];
}

/**
 * Finds the files and folders of a workspace that other programs run by themselves, such as hooks
 * and editor settings. Links are not followed, and count by their own names.
 *
 * @param workspace - A real path.
 */
export function findPersistent(workspace: string, options?: FindOptions): Persistent {
  return atOnce(findingPersistent(workspace, options));
}

/** The same in slices. */
export function* findingPersistent(
  workspace: string,
  { entriesMax = ENTRIES_MAX, reopen = nothing, known = [] }: FindOptions = {},
): Sliced<Persistent> {
  const remembered = known.filter(
    (place) => place !== workspace && liesIn(place, workspace) && canReach(place),
  );
  // What is nearest counts most, and is found by its name also where a folder is too full to be
  // read; so is what was there before.
  const names = [
    ...PERSISTENT_NAMES.map((name) => join(workspace, name)).filter(isThere),
    ...remembered.filter(saysItself),
  ];
  const open = [join(workspace, ".git"), ...remembered.map((place) => dirname(place)), workspace];
  const walk: Walk = { workspace, found: new Set(names), open, left: entriesMax, isComplete: true };
  const seen = new Set<string>();
  for (const directory of walk.open) {
    if (seen.has(directory)) continue;
    seen.add(directory);
    if (isClosed(directory)) reopen(directory);
    const { entries, isWhole } = listEntries(directory, walk.left);
    walk.left -= entries.length;
    walk.isComplete &&= isWhole;
    const has = isWhole ? hasOf(entries) : (name: string) => isThere(join(directory, name));
    if (has("HEAD") && (has("commondir") || (has("objects") && has("refs"))))
      takeGit(walk, directory);
    else for (const entry of entries) take(walk, join(directory, entry.name), entry);
    yield;
  }
  for (const place of [...walk.found].filter(isLink)) takeTarget(walk, place);
  return { places: [...walk.found].sort(), isComplete: walk.isComplete };
}

function nothing(): void {}

/** A name that says it alone; what a configuration of Git's names is found through that. */
function saysItself(place: string): boolean {
  const name = basename(place);
  return isPersistentFolder(name) || isPersistentFile(name) || name === ".git";
}

/**
 * What a link of such a name leads to in the workspace: whoever runs the one runs the other. A link
 * `.git` leads to a repository, which the walk finds.
 */
function takeTarget({ workspace, found }: Pick<Walk, "workspace" | "found">, link: string): void {
  if (basename(link).toLowerCase() === ".git") return;
  try {
    const target = realpathSync(link);
    if (target !== workspace && liesIn(target, workspace) && !liesIn(link, target))
      found.add(target);
  } catch {
    // leads nowhere, or where nobody gets
  }
}

/** Whether something is there, and no link on the way to it. */
function canReach(place: string): boolean {
  try {
    closeSync(openPath(dirname(place)).fd);
    return isThere(place);
  } catch {
    return false;
  }
}

/** Whether its owner may not look into a folder; root may, whatever it says. */
function isClosed(folder: string): boolean {
  const found = kindOf(folder);
  return found !== undefined && found.isDirectory() && (found.mode & OWNERS) !== OWNERS;
}

function hasOf(entries: readonly Entry[]): (name: string) => boolean {
  const names = new Set(entries.map(({ name }) => name));
  return (name) => names.has(name);
}

/**
 * What must keep its name so that a place keeps its own: the folders between it and the workspace,
 * outermost first.
 */
export function parentsBetween(workspace: string, places: readonly string[]): readonly string[] {
  const parents = places.flatMap((place) => foldersAbove(place, workspace));
  return [...new Set(parents)].sort((a, b) =>
    a.length === b.length ? (a < b ? -1 : 1) : a.length - b.length,
  );
}

interface Walk {
  readonly workspace: string;
  readonly found: Set<string>;
  /** Folders to look at, nearest first; grows. */
  readonly open: string[];
  left: number;
  isComplete: boolean;
}

function take({ workspace, found, open }: Walk, path: string, entry: Entry): void {
  const name = entry.name.toLowerCase();
  if (entry.isDirectory()) {
    if (isPersistentFolder(name)) found.add(path);
    else if (!PASSED_OVER.has(name) && path !== join(workspace, ".git")) open.push(path);
    return;
  }
  // `.git` is a file in submodules and in worktrees: it says where the repository is.
  const isNamed =
    isPersistentFile(name) ||
    name === ".git" ||
    (entry.isSymbolicLink() && isPersistentFolder(name));
  if (isNamed) found.add(path);
}

/**
 * A folder of Git's, whatever it is called: `.git`, one in `modules` or `worktrees`, a bare
 * repository.
 */
function takeGit({ workspace, found, open }: Walk, directory: string): void {
  for (const name of GIT_NAMES)
    if (isThere(join(directory, name))) found.add(join(directory, name));
  open.push(join(directory, "modules"), join(directory, "worktrees"));
  for (const name of ["config", "config.worktree"])
    takeNamed({ workspace, found }, join(directory, name), dirname(directory));
}

/**
 * What a configuration of Git's leads to, in the workspace: files that it includes or runs, and the
 * folder of hooks.
 */
function takeNamed(
  { workspace, found }: Pick<Walk, "workspace" | "found">,
  config: string,
  workTree: string,
): void {
  const configs = [config];
  for (const each of configs) {
    const { includes, hooks, programs } = gitConfigNames(readPlain(each) ?? "");
    const included = includes.map((name) =>
      normalize(join(name.startsWith("/") ? "/" : dirname(each), name)),
    );
    const atWorkTree = (name: string): string =>
      normalize(join(name.startsWith("/") ? "/" : workTree, name));
    // A word of a command may be the name of a folder by chance.
    const files = programs.map(atWorkTree).filter((path) => kindOf(path)?.isDirectory() === false);
    for (const path of [...included, ...hooks.map(atWorkTree), ...files]) {
      if (path !== workspace && liesIn(path, workspace) && isThere(path)) found.add(path);
    }
    for (const path of included)
      if (configs.length < CONFIGS_MAX && !configs.includes(path)) configs.push(path);
  }
}

function foldersAbove(place: string, workspace: string): readonly string[] {
  const parent = dirname(place);
  return parent === workspace || !liesIn(parent, workspace)
    ? []
    : [...foldersAbove(parent, workspace), parent];
}
