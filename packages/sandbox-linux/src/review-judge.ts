/**
 * Review judge: what each change means, once all are known. Judged by what the workspace will be
 * with all of them, and by what it is already: a review is taken in parts, and a part may complete
 * what an earlier one began.
 */
import { closeSync, openSync, readSync } from "node:fs";
import { basename, dirname, join, normalize } from "node:path";
import { gitConfigNames } from "./git-config-names.js";
import { isGitsOwn, isPlainConfig } from "./git-own.js";
import { isThere as isOnDisk } from "./guarded-look.js";
import { findingPersistent } from "./persistent.js";
import { GIT_NAMES, isPersistentFile, isPersistentFolder } from "./persistent-names.js";
import { createFindApart } from "./review-apart.js";
import { leadsOut } from "./review-links.js";
import type { ReviewChange, ReviewListing, ReviewRefusal } from "./review-parts.js";
import { readTarget } from "./review-target.js";
import type { FoundChange, Walked } from "./review-walk.js";
import type { Sliced } from "./slices.js";

const CONFIG_BYTES_MAX = 65_536;
/** Files that include one another. */
const CONFIGS_MAX = 20;

/** What is judged. */
export interface JudgeParts extends Pick<Walked, "changes" | "refused"> {
  /** A real path. */
  readonly workspace: string;
  /** The file with all contents. */
  readonly content: string;
}

/**
 * Sorts the changes by path, sets apart what other programs run by themselves, and refuses links
 * that lead out.
 */
export function* judgeChanges({
  workspace,
  changes,
  refused,
  content,
}: JudgeParts): Sliced<Pick<ReviewListing, "changes" | "refused">> {
  const byPath = new Map(changes.map((change) => [change.path, change]));
  const targetOf = (path: string): string | undefined => readTarget(workspace, path, byPath);
  const isThere = (path: string): boolean => {
    const change = byPath.get(path);
    return change === undefined ? isOnDisk(join(workspace, path)) : change.after !== null;
  };
  const isOut = new Set<string>();
  for (const { path, after } of changes) {
    if (after?.kind === "link" && leadsOut(path, { workspace, targetOf })) isOut.add(path);
    yield;
  }
  const outside = [...isOut].map(
    (path): ReviewRefusal => ({ path, reason: "it is a link that leads out of the workspace" }),
  );
  const { places } = yield* findingPersistent(workspace);
  const held = new Set(places.map((place) => place.slice(workspace.length + 1)));
  const changed: Changed = {
    at: (path) => byPath.get(path),
    textOf: (change) => textIn(content, change),
  };
  for (const change of changes) {
    for (const path of namedBy(change, changed)) held.add(path);
    yield;
  }
  const findApart = createFindApart({ isThere, held });
  const judged: ReviewChange[] = [];
  for (const change of changes.filter(({ path }) => !isOut.has(path)).sort(byPathOrder)) {
    const apart = apartOf(change, { workspace, findApart, textOf: changed.textOf });
    judged.push({ ...change, apart });
    yield;
  }
  return { changes: judged, refused: [...refused, ...outside].sort(byPathOrder) };
}

interface Judging {
  readonly workspace: string;
  readonly findApart: ReturnType<typeof createFindApart>;
  readonly textOf: (change: FoundChange) => string | undefined;
}

/** A repository that Git has just made has a configuration that names no program. */
function apartOf(change: FoundChange, { workspace, findApart, textOf }: Judging): string | null {
  const { path, before, after } = change;
  if (before === null && after !== null && completesRepository(workspace, path)) return path;
  const apart = findApart(path, after?.kind === "folder");
  const isNewConfig = apart === path && path.endsWith("/config") && before === null;
  return isNewConfig && isPlainConfig(textOf(change) ?? "[include]") ? null : apart;
}

/** Whether Git begins to run what lies there already. */
function completesRepository(workspace: string, path: string): boolean {
  if (basename(path) !== "HEAD") return false;
  const beside = GIT_NAMES.map((name) => join(workspace, dirname(path), name));
  return beside.some((place) => isOnDisk(place) && !isGitsOwn(place));
}

interface Changed {
  readonly at: (path: string) => FoundChange | undefined;
  readonly textOf: (change: FoundChange) => string | undefined;
}

/**
 * What a changed configuration of Git's names, with those that it includes, and what a link of such
 * a name leads to; below the workspace.
 */
function namedBy({ path, after }: FoundChange, { at, textOf }: Changed): readonly string[] {
  const name = basename(path);
  if (after?.kind === "link")
    return isPersistentFile(name) || isPersistentFolder(name)
      ? below(dirname(path), [after.target])
      : [];
  if (after?.kind !== "file" || !["config", "config.worktree"].includes(name.toLowerCase()))
    return [];
  const workTree = dirname(dirname(path));
  // A word of a command may be the name of a folder by chance.
  const isProgram = (each: string): boolean =>
    ["file", "link"].includes(at(each)?.after?.kind ?? "folder");
  const configs = [path];
  const named: string[] = [];
  for (const each of configs) {
    const change = at(each);
    const { includes, hooks, programs } = gitConfigNames(
      (change === undefined ? undefined : textOf(change)) ?? "",
    );
    const included = below(dirname(each), includes);
    named.push(
      ...included,
      ...below(workTree, hooks),
      ...below(workTree, programs).filter(isProgram),
    );
    for (const more of included)
      if (configs.length < CONFIGS_MAX && !configs.includes(more)) configs.push(more);
  }
  return named;
}

/** Those that lie below the workspace, by their paths in it. */
function below(folder: string, names: readonly string[]): readonly string[] {
  return names
    .filter((name) => !name.startsWith("/"))
    .map((name) => normalize(join(folder, name)).replace(/\/$/u, ""))
    .filter((path) => path !== "." && path !== ".." && !path.startsWith("../"));
}

function textIn(path: string, change: FoundChange): string | undefined {
  if (change.after?.kind !== "file" || change.after.size > CONFIG_BYTES_MAX) return undefined;
  const fd = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(change.after.size);
    return bytes.toString("utf8", 0, readSync(fd, bytes, 0, bytes.length, change.at));
  } finally {
    closeSync(fd);
  }
}

function byPathOrder(one: { readonly path: string }, other: { readonly path: string }): number {
  return one.path < other.path ? -1 : one.path > other.path ? 1 : 0;
}
