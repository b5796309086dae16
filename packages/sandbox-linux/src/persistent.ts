/**
 * Persistent: what in a workspace outlasts a sandbox by being run later, by itself, outside of it.
 * Found by a walk that is bounded and begins with what is nearest; what it does not reach is said.
 */
import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  opendirSync,
  openSync,
  readFileSync,
  realpathSync,
  type Stats,
} from "node:fs";
import { isUtf8 } from "node:buffer";
import { basename, dirname, join, normalize } from "node:path";
import { gitConfigNames } from "./git-config-names.js";
import {
  GIT_NAMES,
  isPersistentFile,
  isPersistentFolder,
  PERSISTENT_NAMES,
} from "./persistent-names.js";
import { openPath } from "./places.js";
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
/** A folder that its owner may read, write and enter. */
const OWNERS = 0o700;
/** Files that include one another. */
const CONFIGS_MAX = 20;
/** Git has fourteen. */
const SAMPLES_MAX = 100;

/**
 * What Git itself writes into the configuration of a repository that it makes or clones, line by
 * line; none of it names a program.
 */
const PLAIN_LINES = [
  /^(?:[#;].*)?$/u,
  /^\[(?:core|user|(?:branch|remote|submodule) "[^"]*")\]$/iu,
  /^(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|name|email|merge|fetch|active|remote)\s*=/iu,
  /^url\s*=(?!\s*"?-)(?!.*::)/iu, // ext::sh runs a shell
];

/**
 * Whether a place is as Git makes it in each new repository, submodule or worktree: hooks that are
 * samples, a configuration that names no program, a `.git` that leads to a folder of a repository
 * above it.
 */
export function isGitsOwn(place: string): boolean {
  switch (basename(place)) {
    case "hooks": {
      const { entries, isWhole } = list(place, SAMPLES_MAX);
      // A link may lead to where hooks come later.
      return !isLink(place) && isWhole && entries.every(({ name }) => name.endsWith(".sample"));
    }
    case "config":
    case "config.worktree":
      return (
        readPlain(place)
          ?.split("\n")
          .every((line) => isPlain(line.trim(), place)) === true
      );
    case "commondir":
      return readPlain(place)?.trimEnd() === "../.." && isRepository(join(dirname(place), "../.."));
    case "gitdir": // where a worktree is; nothing is run by it
      return readPlain(place) !== undefined;
    case ".git":
      return leadsToOwn(place);
    default:
      return false;
  }
}

/** Whether the text of a repository's configuration names no program. */
export function isPlainConfig(text: string): boolean {
  return text.split("\n").every((line) => PLAIN_LINES.some((plain) => plain.test(line.trim())));
}

function isPlain(line: string, place: string): boolean {
  // A submodule's repository says where its files are.
  const worktree = /^worktree\s*=\s*(?<path>(?:\.\.\/)+[^"\\#;]+)$/u.exec(line)?.groups?.["path"];
  if (worktree === undefined) return PLAIN_LINES.some((plain) => plain.test(line));
  const above = aboveGit(place);
  return above !== undefined && liesIn(join(dirname(place), worktree), above);
}

/**
 * Whether the walk has taken a folder for a repository. Git asks the one that `commondir` names for
 * no `HEAD`, and runs what its configuration says.
 */
function isRepository(folder: string): boolean {
  return ["HEAD", "objects", "refs"].every((name) => isThere(join(folder, name)));
}

/** The folder whose repository keeps a submodule or worktree at this path. */
function aboveGit(path: string): string | undefined {
  return /^(?<above>\/.*)\/\.git\/(?:modules|worktrees)\/./u.exec(path)?.groups?.["above"];
}

/**
 * Whether a file `.git` leads to where a repository above it keeps its submodules and worktrees,
 * through no link, so that the walk has seen it.
 */
function leadsToOwn(place: string): boolean {
  const named = /^gitdir: (?<path>[^\n]+)\n?$/u.exec(readPlain(place) ?? "")?.groups?.["path"];
  if (named === undefined) return false;
  const path = named.startsWith("/") ? normalize(named) : join(dirname(place), named);
  const above = aboveGit(path);
  if (
    above === undefined ||
    path.split("/").some((name) => PASSED_OVER.has(name.toLowerCase())) ||
    !liesIn(place, above)
  )
    return false;
  try {
    closeSync(openPath(path).fd);
    return true;
  } catch {
    return false; // not there, or behind a link
  }
}

/** How far it looks. */
export interface FindOptions {
  /** 50,000 unless given. */
  readonly entriesMax?: number;
  /**
   * Opens a folder that an agent has closed to us: it would be looked into by nobody, and be opened
   * by the agent again.
   */
  readonly reopen?: (folder: string) => void;
  /** Paths that are looked for first, however full the workspace is. */
  readonly known?: readonly string[];
}

/**
 * Finds them. `workspace` is a real path; links are not followed, and count where they have such a
 * name.
 */
export function findPersistent(
  workspace: string,
  { entriesMax = ENTRIES_MAX, reopen = nothing, known = [] }: FindOptions = {},
): Persistent {
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
    const { entries, isWhole } = list(directory, walk.left);
    walk.left -= entries.length;
    walk.isComplete &&= isWhole;
    const has = isWhole ? hasOf(entries) : (name: string) => isThere(join(directory, name));
    if (has("HEAD") && (has("commondir") || (has("objects") && has("refs"))))
      takeGit(walk, directory);
    else for (const entry of entries) take(walk, join(directory, entry.name), entry);
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

type Entry = Pick<Dirent, "name" | "isDirectory" | "isSymbolicLink">;

interface Listing {
  readonly entries: readonly Entry[];
  /** Whether these are all that may count. */
  readonly isWhole: boolean;
}

/** The first entries of a folder: one that an agent has filled must not stop us. */
function list(directory: string, entriesMax: number): Listing {
  const entries: Entry[] = [];
  let isWhole = true;
  try {
    const open = opendirSync(directory, { encoding: "latin1" });
    try {
      for (let entry = open.readSync(); entry !== null; entry = open.readSync()) {
        if (entries.length >= entriesMax) return { entries, isWhole: false };
        const read = readEntry(entry);
        if (read === undefined) isWhole &&= !mayCount(entry);
        else entries.push(read);
      }
    } finally {
      open.closeSync();
    }
    return { entries, isWhole };
  } catch (error) {
    // What is gone, or was no folder, has nothing in it; what an agent has closed to us may have.
    return {
      entries,
      isWhole:
        error instanceof Error &&
        "code" in error &&
        (error.code === "ENOENT" || error.code === "ENOTDIR"),
    };
  }
}

/** `undefined` where its name, read byte by byte, is not UTF-8: no text leads to it. */
function readEntry(entry: Dirent): Entry | undefined {
  const bytes = Buffer.from(entry.name, "latin1");
  if (!isUtf8(bytes)) return undefined;
  return {
    name: bytes.toString("utf8"),
    isDirectory: () => entry.isDirectory(),
    isSymbolicLink: () => entry.isSymbolicLink(),
  };
}

/** Of a name that no text leads to. */
function mayCount(entry: Dirent): boolean {
  return entry.isDirectory() || isPersistentFile(entry.name);
}

/**
 * The text of a file of ordinary size, and of nothing else: a pipe of that name would keep us
 * waiting.
 */
function readPlain(path: string): string | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    const found = fstatSync(fd);
    return found.isFile() && found.size <= CONFIG_BYTES_MAX ? readFileSync(fd, "utf8") : undefined;
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** What an agent has closed to us is not there: nothing of it must end a start, or a run. */
export function isThere(path: string): boolean {
  return kindOf(path) !== undefined;
}

/**
 * Whether a path is a link, of which there is nothing to hold; one that cannot be looked at counts
 * as one.
 */
export function isLink(path: string): boolean {
  return kindOf(path)?.isSymbolicLink() !== false;
}

function kindOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function foldersAbove(place: string, workspace: string): readonly string[] {
  const parent = dirname(place);
  return parent === workspace || !liesIn(parent, workspace)
    ? []
    : [...foldersAbove(parent, workspace), parent];
}
