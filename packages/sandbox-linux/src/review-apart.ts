/**
 * Review apart: which of the changes are to files that other programs run by themselves. By name,
 * by what Git calls its own, and by what the workspace has already.
 */
import { GIT_NAMES, isPersistentFile, isPersistentFolder } from "./persistent-names.js";

/** What is known of a workspace with its changes. */
export interface ApartView {
  /** Whether there is something at a path, with all changes. */
  readonly isThere: (path: string) => boolean;
  /** Paths that the workspace's guard would hold. */
  readonly held: ReadonlySet<string>;
}

const GIT: ReadonlySet<string> = new Set(GIT_NAMES);

/**
 * Finds the first of a path and what is above it, from the top, that other programs run by
 * themselves; null where there is none. What is found of a folder is kept: an agent can make
 * thousands of files in one that lies deep.
 */
export function createFindApart({
  isThere,
  held,
}: ApartView): (path: string, isFolder?: boolean) => string | null {
  const folders = new Map<string, string | null>([["", null]]);
  const isOne = (above: string, path: string, name: string): boolean =>
    isPersistentFolder(name) || held.has(path) || (GIT.has(name) && isGitFolder(above, isThere));
  const ofFolder = (path: string): string | null => {
    const known = folders.get(path);
    if (known !== undefined) return known;
    const { above, name } = split(path);
    const found = ofFolder(above) ?? (isOne(above, path, name) ? path : null);
    folders.set(path, found);
    return found;
  };
  return (path, isFolder = false) => {
    const { above, name } = split(path);
    // `.git` is a file in submodules and in worktrees: it says where the repository is.
    const isFile = !isFolder && (isPersistentFile(name) || name === ".git");
    const found = ofFolder(above) ?? (isFile || isOne(above, path, name) ? path : null);
    // Git never runs its samples.
    return found !== null && split(found).name === "hooks" && path.endsWith(".sample")
      ? null
      : found;
  };
}

/** The folder above, empty at the top, and the name in lower case. */
function split(path: string): { readonly above: string; readonly name: string } {
  const at = path.lastIndexOf("/");
  return { above: path.slice(0, Math.max(at, 0)), name: path.slice(at + 1).toLowerCase() };
}

function isGitFolder(path: string, isThere: ApartView["isThere"]): boolean {
  return split(path).name === ".git" || isThere(path === "" ? "HEAD" : `${path}/HEAD`);
}
