/**
 * Git's own: whether a place is as Git itself makes it, and so runs nothing that an agent wrote.
 */
import { closeSync } from "node:fs";
import { basename, dirname, join, normalize } from "node:path";
import { isLink, isThere, listEntries, readPlain } from "./guarded-look.js";
import { PASSED_OVER } from "./persistent-names.js";
import { openPath } from "./places.js";
import { liesIn } from "./workspace.js";

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
 * samples, a configuration that names no program, or a `.git` that leads to a folder of a
 * repository above it.
 */
export function isGitsOwn(place: string): boolean {
  switch (basename(place)) {
    case "hooks": {
      const { entries, isWhole } = listEntries(place, SAMPLES_MAX);
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
