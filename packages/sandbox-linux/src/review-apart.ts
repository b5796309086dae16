/**
 * Review apart: which of the changes are to files that other programs run by themselves. By name, by what Git calls its own, and by what the workspace
 * has already.
 */
import { GIT_NAMES, isPersistentFile, isPersistentFolder } from "./persistent-names.js";
import { liesIn } from "./workspace.js";

/** What is known of a workspace with its changes. */
export interface ApartView {
  /** Whether there is something at a path, with all changes. */
  readonly isThere: (path: string) => boolean;
  /** Paths that the workspace's guard would hold. */
  readonly held: readonly string[];
}

const GIT: ReadonlySet<string> = new Set(GIT_NAMES);

/** The first of a path and what is above it, from the top, that other programs run by themselves; null where there is none. */
export function findApart(path: string, { isThere, held }: ApartView, isFolder = false): string | null {
  const words = path.split("/");
  const found = words.findIndex((word, index) => {
    const name = word.toLowerCase();
    const here = words.slice(0, index + 1).join("/");
    if (isPersistentFolder(name) || held.some((each) => liesIn(here, each))) return true;
    if (GIT.has(name) && isGitFolder(words.slice(0, index), isThere)) return true;
    // `.git` is a file in submodules and in worktrees: it says where the repository is.
    return index === words.length - 1 && !isFolder && (isPersistentFile(name) || name === ".git");
  });
  // Git never runs its samples.
  if (found === -1 || (words[found] === "hooks" && path.endsWith(".sample"))) return null;
  return words.slice(0, found + 1).join("/");
}

function isGitFolder(words: readonly string[], isThere: ApartView["isThere"]): boolean {
  const path = words.join("/");
  return words.at(-1)?.toLowerCase() === ".git" || isThere(path === "" ? "HEAD" : `${path}/HEAD`);
}
