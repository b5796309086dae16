/**
 * Review take: puts changes of a snapshot into the workspace, below it and nowhere else. Each step
 * goes from an open folder to one of its entries, never through a link; a file is written beside
 * its place and exchanged. What is there has to be what the snapshot says was there; what is as
 * wanted already is done.
 */
import { closeSync } from "node:fs";
import { ConsentError } from "@acp/core";
import { fileIdOf, isSame, openPath } from "./places.js";
import { isSameState, openFolder } from "./review-folder.js";
import { createLinkWatch, type LinkWatch } from "./review-link-watch.js";
import type { FileState, ReviewChange, ReviewSnapshot } from "./review-parts.js";
import {
  putFile,
  putFolder,
  putLink,
  type PutPlace,
  type PutResult,
  remove,
  setRights,
  stateOf,
} from "./review-put.js";
import { openRenames, type Renames } from "./review-renames.js";
import { openContent } from "./review-snapshot.js";
import { liesIn } from "./workspace.js";

/** Which changes to take. */
export interface TakeOrder {
  /** Digest of the snapshot that the person saw. */
  readonly digest: string;
  /**
   * Paths below the workspace, each with everything below it; `all` is every change that other
   * programs do not run by themselves.
   */
  readonly paths: readonly string[] | "all";
  /** Whether to overwrite what somebody changed in the workspace meanwhile. */
  readonly overwrites: boolean;
}

/** What became of each path. Nothing else was changed. */
export interface Taken {
  /** Paths that were written or removed now. */
  readonly taken: readonly string[];
  /** Paths that were as wanted already. */
  readonly already: readonly string[];
  /**
   * Paths that changed since the snapshot was made or since the agent started, and were left alone.
   */
  readonly conflicts: readonly string[];
  /** Paths that other programs run by themselves, and that were not named. */
  readonly apart: readonly string[];
  /** Paths that could not be written, each with the reason. */
  readonly failed: readonly { readonly path: string; readonly reason: string }[];
}

/**
 * Copies changes of a snapshot into the workspace.
 *
 * @throws ConsentError `options_invalid` where the snapshot is not the one that was seen, or a path
 *   is not one of its changes; `sandbox_failed` where the workspace is now another folder. Nothing
 *   is changed then.
 */
export async function takeChanges(snapshot: ReviewSnapshot, order: TakeOrder): Promise<Taken> {
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
        `Cannot take changes into "${workspace.path}": it is not the folder that the agent had`,
      );
    }
    await using renames = await openRenames(root);
    const links = createLinkWatch(workspace.path, root);
    const outcome = await takeAll(
      { root, content, renames, links, overwrites: order.overwrites },
      chosen,
    );
    return { ...outcome, apart };
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
      `Cannot take "${unknown}": it is not one of the changes`,
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
  readonly renames: Renames;
  readonly links: LinkWatch;
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
 * since they may close them. What would have a link lead out waits for the others, which may change
 * where it leads.
 */
async function takeAll(taking: Taking, chosen: readonly ReviewChange[]): Promise<Outcome> {
  const outcome: Outcome = { taken: [], already: [], conflicts: [], failed: [] };
  const gone = chosen.filter(({ after }) => after === null).toReversed();
  const come = chosen.filter(({ after }) => after !== null);
  let left: readonly ReviewChange[] = [...gone, ...come];
  for (let before = Infinity; left.length > 0 && left.length < before; ) {
    before = left.length;
    left = await takeEach(taking, left, outcome);
  }
  for (const { path } of left) outcome.failed.push({ path, reason: LEADS_OUT });
  const done = new Set(outcome.taken);
  for (const { path, after } of come.toReversed()) {
    if (after?.kind !== "folder" || !done.has(path)) continue;
    await inParent(taking.root, path, (folder, name) => {
      if (folder !== undefined) setRights(folder, name, after.mode);
    });
  }
  return outcome;
}

const LEADS_OUT = "with it, a link leads out of the workspace as that is now";

/** Returns those that wait. */
async function takeEach(
  taking: Taking,
  changes: readonly ReviewChange[],
  outcome: Outcome,
): Promise<readonly ReviewChange[]> {
  const waiting: ReviewChange[] = [];
  for (const change of changes) {
    try {
      const result = await takeOne(taking, change);
      if (result === "waits") waiting.push(change);
      else outcome[result].push(change.path);
    } catch (error) {
      if (error instanceof ConsentError && error.code === "sandbox_failed") throw error;
      outcome.failed.push({ path: change.path, reason: reasonOf(error) });
    }
  }
  return waiting;
}

type OneResult = "taken" | "already" | "conflicts" | "waits";

async function takeOne(taking: Taking, change: ReviewChange): Promise<OneResult> {
  const { path, before, after, isChangedHere } = change;
  return await inParent(taking.root, path, async (folder, name): Promise<OneResult> => {
    if (folder === undefined) return after === null ? "already" : "conflicts";
    const now = await stateOf(folder, name);
    if (isSameState(now, after)) return "already";
    const isWanted = taking.overwrites
      ? canGiveUp(now) || isSameState(now, before)
      : !isChangedHere && isFit(now, change);
    if (!isWanted) return "conflicts";
    const target = after?.kind === "link" ? after.target : undefined;
    const isAboutLinks = target !== undefined || now?.kind === "link";
    if (isAboutLinks && (await taking.links.breaks(path, target))) return "waits";
    const result = await put(taking, { folder, path: dirnameOf(path), name, now }, change);
    if (isAboutLinks && result === "taken") await taking.links.set(path, target);
    return result;
  });
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

async function put(
  { content, renames }: Taking,
  at: Omit<PutPlace, "renames">,
  change: ReviewChange,
): Promise<PutResult> {
  const { after } = change;
  const place = { ...at, renames };
  if (after === null) return await remove(place);
  if (after.kind === "folder") return await putFolder(place, after);
  if (after.kind === "link") return await putLink(place, after);
  if (after.kind === "file") return await putFile(place, after, { content, at: change.at });
  throw new Error("it is something that a review never takes");
}

function dirnameOf(path: string): string {
  return path.split("/").slice(0, -1).join("/");
}

/**
 * Goes to the folder that a path is in; `undefined` where there is none, or a link is on the way.
 */
async function inParent<T>(
  root: number,
  path: string,
  act: (folder: number | undefined, name: string) => T,
): Promise<Awaited<T>> {
  const [name = "", ...rest] = path.split("/");
  if (name === "" || name === "." || name === "..")
    throw new Error("it is not a path below the workspace");
  if (rest.length === 0) return await act(root, name);
  const fd = openFolder(root, name);
  if (fd === undefined) return await act(undefined, rest.at(-1) ?? "");
  try {
    return await inParent(fd, rest.join("/"), act);
  } finally {
    closeSync(fd);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error && "code" in error
    ? String(error.code)
    : String(error instanceof Error ? error.message : error);
}
