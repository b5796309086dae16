/**
 * Review walk: reads the layer of an overlay beside the workspace that it lies over, and says what
 * is different. The layer was written by an agent, which may still be writing.
 */
import { closeSync } from "node:fs";
import {
  type FolderNames,
  isSameState,
  listFolder,
  lookAt,
  openFolder,
  type ReadBudget,
  readState,
  type TakeBytes,
} from "./review-folder.js";
import type { FileState, ReviewChange, ReviewRefusal } from "./review-parts.js";
import type { Sliced } from "./slices.js";

/** A change before it is known what it means for others. */
export type FoundChange = Omit<ReviewChange, "apart">;

/** Where contents go. */
export interface ContentStore {
  readonly take: TakeBytes;
  /**
   * Ends a file: keeps what was taken since the last end, or gives its room back. @returns Where it
   * begins.
   */
  readonly end: (isKept: boolean) => number;
}

/** What is walked. */
export interface WalkParts {
  /** Open folders: the layer, and the workspace. */
  readonly upper: number;
  readonly lower: number;
  /** `o`: a folder that hides what is below it; `x`: attributes that are no content. By path. */
  readonly attributes: ReadonlyMap<string, string>;
  readonly content: ContentStore;
  /** Changes in the workspace after this moment are somebody else's. */
  readonly sinceMs: number;
  readonly budget: ReadBudget;
}

/** What was found. */
export interface Walked {
  readonly changes: readonly FoundChange[];
  readonly refused: readonly ReviewRefusal[];
  readonly isComplete: boolean;
}

/** What a change has in the list besides its path: two states, one of them with a hash. */
const CHANGE_BYTES = 320;
const DEPTH_MAX = 128;
/** A path that is longer leads nowhere: nobody can open it in one go. */
const PATH_BYTES_MAX = 4_095;
const SET_ID = 0o6000;

interface Walk extends WalkParts {
  readonly changes: FoundChange[];
  readonly refused: ReviewRefusal[];
  isComplete: boolean;
}

/** Walks all of it, as far as the budget goes. */
export function* walkLayer(parts: WalkParts): Sliced<Walked> {
  const walk: Walk = { ...parts, changes: [], refused: [], isComplete: true };
  yield* walkFolder(walk, {
    upper: parts.upper,
    lower: parts.lower,
    path: "",
    depth: 0,
    hidesLower: false,
  });
  const { changes, refused, isComplete } = walk;
  return { changes, refused, isComplete };
}

interface Folder {
  readonly upper: number;
  /** Left out: there is no such folder in the workspace. */
  readonly lower: number | undefined;
  /** Empty, or with a slash at its end. */
  readonly path: string;
  readonly depth: number;
  readonly hidesLower: boolean;
}

function* walkFolder(walk: Walk, folder: Folder): Sliced<void> {
  const { names } = noted(walk, folder.path, yield* listFolder(folder.upper, walk.budget));
  for (const name of names) {
    if (walk.budget.text < 0) return;
    yield* walkEntry(walk, folder, name);
    yield;
  }
  if (!folder.hidesLower || folder.lower === undefined) return;
  const kept = new Set(names);
  const below = noted(walk, folder.path, yield* listFolder(folder.lower, walk.budget));
  for (const name of below.names)
    if (!kept.has(name) && walk.budget.text >= 0)
      yield* walkGone(walk, { folder: folder.lower, path: folder.path, depth: folder.depth }, name);
}

function noted(walk: Walk, path: string, found: FolderNames): FolderNames {
  walk.isComplete &&= found.isWhole;
  for (const name of found.odd) refuse(walk, `${path}${name}`, "its name is not UTF-8");
  return found;
}

function* walkEntry(walk: Walk, folder: Folder, name: string): Sliced<void> {
  const path = `${folder.path}${name}`;
  const found = lookAt(folder.upper, name);
  if (found === undefined) return;
  // The kernel's sign for what was removed.
  if (found.isCharacterDevice() && found.rdev === 0) {
    if (folder.lower !== undefined)
      yield* walkGone(walk, { folder: folder.lower, path: folder.path, depth: folder.depth }, name);
    return;
  }
  const attribute = walk.attributes.get(path);
  if (attribute === "x") return refuse(walk, path, "it has attributes that are not content");
  if (found.isDirectory())
    return yield* walkSubfolder(walk, folder, { name, isOpaque: attribute === "o" });
  if (found.isFile() && (found.mode & SET_ID) !== 0)
    return refuse(walk, path, "it has the set-user-ID or set-group-ID bit");
  if (!found.isFile() && !found.isSymbolicLink())
    return refuse(walk, path, "it is a device, a pipe or a socket");
  const after = yield* readState(folder.upper, name, {
    budget: walk.budget,
    take: walk.content.take,
  });
  const isReadable = after !== null && after.kind !== "other";
  const before = isReadable ? yield* beforeOf(walk, folder, name) : null;
  const isKept = isReadable && before?.kind !== "other" && !isSameState(before, after);
  const at = walk.content.end(isKept && after.kind === "file");
  if (!isReadable)
    return refuse(
      walk,
      path,
      "it cannot be read whole: it is closed, is changing, or is too large",
    );
  if (before?.kind === "other")
    return refuse(walk, path, "what is there in the workspace cannot be compared");
  if (!isKept) return;
  if (before?.kind === "folder" && folder.lower !== undefined)
    yield* removeBelow(walk, folder, name);
  add(walk, folder, { name, before, after, at });
}

/** A folder keeps what is below it in the workspace, unless it took the place of something else. */
function* walkSubfolder(
  walk: Walk,
  folder: Folder,
  { name, isOpaque }: { readonly name: string; readonly isOpaque: boolean },
): Sliced<void> {
  const path = `${folder.path}${name}`;
  if (folder.depth >= DEPTH_MAX || isTooLong(path)) return refuse(walk, path, "it lies too deep");
  const upper = openFolder(folder.upper, name);
  if (upper === undefined) return refuse(walk, path, "it is a folder that is closed to its owner");
  const lower = folder.lower === undefined ? undefined : openFolder(folder.lower, name);
  try {
    const before = yield* beforeOf(walk, folder, name);
    if (before?.kind === "other" || (before?.kind === "folder" && lower === undefined)) {
      return refuse(walk, path, "what is there in the workspace cannot be compared");
    }
    const after = yield* readState(folder.upper, name, { budget: walk.budget });
    if (after?.kind === "folder" && !isSameState(before, after))
      add(walk, folder, { name, before, after, at: 0 });
    yield* walkFolder(walk, {
      upper,
      lower,
      path: `${path}/`,
      depth: folder.depth + 1,
      hidesLower: isOpaque,
    });
  } finally {
    closeSync(upper);
    if (lower !== undefined) closeSync(lower);
  }
}

/** Whether names in a folder would be. */
function isTooLong(path: string): boolean {
  return Buffer.byteLength(path) + 256 > PATH_BYTES_MAX;
}

function* beforeOf(walk: Walk, { lower }: Folder, name: string): Sliced<FileState | null> {
  return lower === undefined ? null : yield* readState(lower, name, { budget: walk.budget });
}

interface LowerFolder {
  readonly folder: number;
  readonly path: string;
  readonly depth: number;
}

/**
 * Something of the workspace that is not there any more, with all below it: each is a change of its
 * own, so that nothing goes that was not shown.
 */
function* walkGone(walk: Walk, { folder, path, depth }: LowerFolder, name: string): Sliced<void> {
  const before = yield* readState(folder, name, { budget: walk.budget });
  if (before === null) return;
  if (before.kind === "other" || depth >= DEPTH_MAX || isTooLong(`${path}${name}`))
    return refuse(walk, `${path}${name}`, "what is there in the workspace cannot be compared");
  add(walk, { lower: folder, path }, { name, before, after: null, at: 0 });
  if (before.kind === "folder") yield* removeBelow(walk, { lower: folder, path, depth }, name);
}

function* removeBelow(
  walk: Walk,
  { lower = -1, path, depth }: Pick<Folder, "lower" | "path" | "depth">,
  name: string,
): Sliced<void> {
  const fd = openFolder(lower, name);
  if (fd === undefined)
    return refuse(walk, `${path}${name}`, "it is a folder that cannot be looked into");
  try {
    const found = yield* listFolder(fd, walk.budget);
    const { names } = noted(walk, `${path}${name}/`, found);
    for (const each of names) {
      if (walk.budget.text < 0) return;
      yield* walkGone(walk, { folder: fd, path: `${path}${name}/`, depth: depth + 1 }, each);
      yield;
    }
  } finally {
    closeSync(fd);
  }
}

interface Difference {
  readonly name: string;
  readonly before: FileState | null;
  readonly after: FileState | null;
  readonly at: number;
}

function add(
  walk: Walk,
  { lower, path }: Pick<Folder, "lower" | "path">,
  { name, before, after, at }: Difference,
): void {
  const changedMs =
    before === null || lower === undefined ? 0 : (lookAt(lower, name)?.ctimeMs ?? 0);
  // A folder changes with every name in it.
  const isChangedHere = before?.kind !== "folder" && changedMs > walk.sinceMs;
  const change = { path: `${path}${name}`, before, after, at, isChangedHere };
  if (hasRoom(walk, change.path, after?.kind === "link" ? after.target : ""))
    walk.changes.push(change);
}

function refuse(walk: Walk, path: string, reason: string): void {
  if (hasRoom(walk, path, reason)) walk.refused.push({ path, reason });
}

/** Where the list is full, nothing more is looked at. */
function hasRoom(walk: Walk, ...texts: readonly string[]): boolean {
  const { budget } = walk;
  // A path is there twice where it is apart.
  budget.text -= texts.reduce(
    (sum, text) => sum + 2 * Buffer.byteLength(JSON.stringify(text)),
    CHANGE_BYTES,
  );
  if (budget.text >= 0) return true;
  walk.isComplete = false;
  budget.entries = 0;
  return false;
}
