/**
 * Review take: puts changes of a snapshot into the workspace, below it and nowhere else. Each step
 * goes from an open folder to one of its entries, never through a link; a file is written beside
 * its place and renamed. What is there has to be what the snapshot says was there; what is as
 * wanted already is done.
 */
import { closeSync } from "node:fs";
import { ConsentError } from "@acp/core";
import { fileIdOf, isSame, openPath } from "./places.js";
import { inFolder, isSameState, type ReadBudget, readState } from "./review-folder.js";
import { leadsOut } from "./review-links.js";
import type { FileState, ReviewChange, ReviewSnapshot } from "./review-parts.js";
import { putFile, putFolder, putLink, remove, setRights } from "./review-put.js";
import { openContent } from "./review-snapshot.js";
import { readTarget } from "./review-target.js";
import { liesIn } from "./workspace.js";

/** What is taken. */
export interface TakeOrder {
  /** What the person has seen. */
  readonly digest: string;
  /** Paths below the workspace, each with all below it; `all` is everything that is not apart. */
  readonly paths: readonly string[] | "all";
  /** Whether what somebody changed in the workspace is given up for it. */
  readonly overwrites: boolean;
}

/** What came of it, by path. Nothing else was changed. */
export interface Taken {
  /** Were written or removed now. */
  readonly taken: readonly string[];
  /** Were as wanted already. */
  readonly already: readonly string[];
  /** Are not what they were when the snapshot was made, or were changed since the agent started. */
  readonly conflicts: readonly string[];
  /** Run by themselves, and were not named. */
  readonly apart: readonly string[];
  /** Could not be written, each with the reason. */
  readonly failed: readonly { readonly path: string; readonly reason: string }[];
}

/**
 * Takes them.
 *
 * @throws ConsentError `options_invalid` where the snapshot is not what was seen, or a path is none
 *   of its changes; `sandbox_failed` where the workspace is another folder now. Nothing is changed
 *   then.
 */
export function takeChanges(snapshot: ReviewSnapshot, order: TakeOrder): Taken {
  if (order.digest !== snapshot.digest) {
    throw new ConsentError(
      "options_invalid",
      "Cannot take changes: they are not the ones that were shown; look at the review again",
    );
  }
  const { workspace } = snapshot.listing;
  const { chosen, apart } = choose(snapshot.listing.changes, order.paths);
  const { fd: root } = openPath(workspace.path);
  const content = openContent(snapshot);
  try {
    if (!isSame(fileIdOf(root), workspace)) {
      throw new ConsentError(
        "sandbox_failed",
        `Cannot take changes into "${workspace.path}": it is another folder than the agent had`,
      );
    }
    return {
      ...takeAll(
        { root, content, workspace: workspace.path, overwrites: order.overwrites },
        chosen,
      ),
      apart,
    };
  } finally {
    closeSync(root);
    closeSync(content);
  }
}

interface Choice {
  readonly chosen: readonly ReviewChange[];
  readonly apart: readonly string[];
}

/**
 * The folders above what is named come along where there is none yet; what others made of their
 * rights does not.
 */
function choose(changes: readonly ReviewChange[], paths: TakeOrder["paths"]): Choice {
  const isNamed = (path: string): boolean =>
    paths === "all" || paths.some((each) => liesIn(path, each));
  const isMeant = ({ path, apart }: ReviewChange): boolean =>
    apart === null ||
    (paths !== "all" && paths.some((each) => liesIn(each, apart) && liesIn(path, each)));
  const unknown =
    paths === "all"
      ? undefined
      : paths.find((path) => !changes.some((each) => liesIn(each.path, path)));
  if (unknown !== undefined)
    throw new ConsentError(
      "options_invalid",
      `Cannot take "${unknown}": it is none of the changes`,
    );
  const named = changes.filter(({ path }) => isNamed(path));
  const meant = new Set(named.filter(isMeant));
  const above = new Set([...meant].flatMap(({ path }) => foldersAbove(path)));
  const isNeeded = ({ path, before, after }: ReviewChange): boolean =>
    above.has(path) && after?.kind === "folder" && before?.kind !== "folder";
  return {
    chosen: changes.filter((change) => meant.has(change) || isNeeded(change)),
    apart: named
      .filter((change) => !meant.has(change) && !isNeeded(change))
      .map(({ path }) => path),
  };
}

function foldersAbove(path: string): readonly string[] {
  const words = path.split("/").slice(0, -1);
  return words.map((_, index) => words.slice(0, index + 1).join("/"));
}

interface Taking {
  readonly root: number;
  readonly content: number;
  readonly workspace: string;
  readonly overwrites: boolean;
}

interface Outcome {
  readonly taken: string[];
  readonly already: string[];
  readonly conflicts: string[];
  readonly failed: { readonly path: string; readonly reason: string }[];
}

/**
 * What goes, goes first and from below; then what comes, from above; the rights of folders last,
 * since they may close them.
 */
function takeAll(taking: Taking, chosen: readonly ReviewChange[]): Outcome {
  const outcome: Outcome = { taken: [], already: [], conflicts: [], failed: [] };
  const byPath = new Map(chosen.map((change) => [change.path, change]));
  const gone = chosen.filter(({ after }) => after === null).toReversed();
  const come = chosen.filter(({ after }) => after !== null);
  for (const change of [...gone, ...come]) {
    try {
      outcome[takeOne(taking, change, byPath)].push(change.path);
    } catch (error) {
      if (error instanceof ConsentError && error.code === "sandbox_failed") throw error;
      outcome.failed.push({ path: change.path, reason: reasonOf(error) });
    }
  }
  const done = new Set(outcome.taken);
  for (const { path, after } of come.toReversed()) {
    if (after?.kind === "folder" && done.has(path))
      inParent(
        taking.root,
        path,
        (folder, name) => folder !== undefined && setRights(folder, name, after.mode),
      );
  }
  return outcome;
}

function takeOne(
  taking: Taking,
  change: ReviewChange,
  byPath: ReadonlyMap<string, ReviewChange>,
): "taken" | "already" | "conflicts" {
  const { path, before, after, isChangedHere } = change;
  const { workspace } = taking;
  if (
    after?.kind === "link" &&
    leadsOut(path, { workspace, targetOf: (each) => readTarget(workspace, each, byPath) })
  ) {
    throw new Error("it is a link that leads out of the workspace as that is now");
  }
  let result: "taken" | "already" | "conflicts" = "conflicts";
  inParent(taking.root, path, (folder, name) => {
    if (folder === undefined) {
      if (after === null) result = "already";
      return;
    }
    const now = readState(folder, name, { budget: unbounded() });
    if (isSameState(now, after)) result = "already";
    else if (
      taking.overwrites
        ? canGiveUp(now) || isSameState(now, before)
        : !isChangedHere && isFit(now, change)
    ) {
      put(taking, { folder, name, now }, change);
      result = "taken";
    }
  });
  return result;
}

/** What was a folder before is gone by now, or empty. */
function isFit(now: FileState | null, { before, after }: ReviewChange): boolean {
  return (
    isSameState(now, before) ||
    (before?.kind === "folder" && after !== null && after.kind !== "folder" && now === null)
  );
}

function canGiveUp(now: FileState | null): boolean {
  return now === null || now.kind === "file" || now.kind === "link";
}

interface Place {
  readonly folder: number;
  readonly name: string;
  readonly now: FileState | null;
}

function put({ content }: Taking, place: Place, { after, at }: ReviewChange): void {
  if (after === null) return remove(place);
  if (after.kind === "folder") return putFolder(place, after);
  if (after.kind === "link") return putLink(place, after);
  if (after.kind === "file") return putFile(place, after, { content, at });
}

/**
 * Goes to the folder that a path is in; `undefined` where there is none, or a link is on the way.
 */
function inParent(
  root: number,
  path: string,
  act: (folder: number | undefined, name: string) => void,
): void {
  const [name = "", ...rest] = path.split("/");
  if (name === "" || name === "." || name === "..")
    throw new Error("it is no path below the workspace");
  if (rest.length === 0) return act(root, name);
  inFolder(root, name, (fd) =>
    fd === undefined ? act(undefined, rest.at(-1) ?? "") : inParent(fd, rest.join("/"), act),
  );
}

/** What is compared was read within a budget when the snapshot was made. */
function unbounded(): ReadBudget {
  return { entries: Number.MAX_SAFE_INTEGER, bytes: Number.MAX_SAFE_INTEGER, text: 0 };
}

function reasonOf(error: unknown): string {
  return error instanceof Error && "code" in error
    ? String(error.code)
    : String(error instanceof Error ? error.message : error);
}
