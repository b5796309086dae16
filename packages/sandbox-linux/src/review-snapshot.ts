/**
 * Review snapshot: what an agent wrote into an overlay, frozen. A list of changes and one file with
 * all contents, in a directory of ours; what is shown and what is taken comes from there, and the
 * digest of the list is what an answer names.
 */
import { createHash } from "node:crypto";
import {
  closeSync,
  constants,
  ftruncateSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ConsentError } from "@acp/core";
import { UPPER } from "./layers.js";
import { overlayHelper } from "./native-helper.js";
import { type FileId, fileIdOf, openPath } from "./places.js";
import { removeTree } from "./remove-tree.js";
import { judgeChanges } from "./review-judge.js";
import type { ReviewListing, ReviewSnapshot, SnapshotLimits } from "./review-parts.js";
import { type ContentStore, type Walked, walkLayer } from "./review-walk.js";
import { inSlices, type Sliced } from "./slices.js";
import { runTool } from "./tools.js";

/** Options of {@link makeSnapshot}. */
export interface SnapshotParts {
  /** Real path of the workspace. */
  readonly workspace: string;
  /** The `layers` directory that the agent had. */
  readonly layers: string;
  /**
   * Where the snapshot is written, replacing an older one; only this user may access the directory
   * above it.
   */
  readonly directory: string;
  /** When the agent started: wall time of this machine, milliseconds since 1970. */
  readonly sinceMs: number;
  /** Limits of what is read; {@link SNAPSHOT_LIMITS} unless given. */
  readonly limits?: Partial<SnapshotLimits>;
  /** Stops making the snapshot. */
  readonly signal?: AbortSignal | undefined;
  /** Called repeatedly with the number of files and folders that were looked at. */
  readonly onProgress?: ((entries: number) => void) | undefined;
}

/**
 * Default limits of a snapshot. For comparison, the installed dependencies of a large project are
 * 100,000 files and 2 GB.
 */
export const SNAPSHOT_LIMITS: SnapshotLimits = {
  entries: 400_000,
  bytes: 8 * 2 ** 30,
  text: 240 * 2 ** 20,
};
const LISTING = "changes.json";
const CONTENT = "content";
const LISTING_BYTES_MAX = 256 * 2 ** 20;
const ZEROS = Buffer.alloc(1_048_576);
const ATTRIBUTES_TIMEOUT_MS = 120_000;

/**
 * Makes a snapshot of what an agent wrote into the overlay of its workspace; its list is empty
 * where nothing differs. It stops nobody: a file that an agent is writing meanwhile is refused as
 * changing.
 *
 * @throws ConsentError `sandbox_failed` where the overlay or the workspace cannot be read;
 *   `sandbox_unavailable` without a compiler; the signal's reason once it is aborted. Then nothing
 *   of the new snapshot is kept, and an older one stays.
 */
export async function makeSnapshot(parts: SnapshotParts): Promise<ReviewSnapshot> {
  const { directory, workspace } = parts;
  const fresh = freshOf(directory);
  await removeTree(fresh);
  await mkdir(fresh, { mode: 0o700 });
  let content: number | undefined;
  try {
    content = openSync(
      join(fresh, CONTENT),
      constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL,
      0o600,
    );
    const walked = await walkBoth(parts, storeIn(content));
    const judging = judgeChanges({ workspace, ...walked, content: join(fresh, CONTENT) });
    const judged = await inSlices(judging, parts);
    const { isComplete, folder } = walked;
    const listing: ReviewListing = {
      format: 1,
      workspace: { path: workspace, ...folder },
      ...judged,
      isComplete,
    };
    const text = await inSlices(textOf(listing), parts);
    await writeFile(join(fresh, LISTING), text, { mode: 0o600, signal: parts.signal });
    await removeTree(directory);
    renameSync(fresh, directory);
    return { directory, digest: digestOf(text), listing };
  } catch (error) {
    // It may have filled the disk, which others need.
    await removeTree(fresh);
    throw error;
  } finally {
    if (content !== undefined) closeSync(content);
  }
}

/**
 * Whether a workspace already is as an agent wanted it, so that a snapshot would be empty. Reads up
 * to the first difference, and copies nothing.
 *
 * @throws As {@link makeSnapshot}.
 */
export async function isAsWanted(parts: Omit<SnapshotParts, "directory">): Promise<boolean> {
  // A list without room ends with the first difference, and is not complete.
  const limits = { ...parts.limits, text: 0 };
  const found = await walkBoth({ ...parts, limits }, NOWHERE);
  return found.isComplete;
}

/** Reads the layer beside the workspace; what the kernel calls the latter is in `folder`. */
async function walkBoth(
  { workspace, layers, sinceMs, limits, signal, onProgress }: Omit<SnapshotParts, "directory">,
  content: ContentStore,
): Promise<Walked & { readonly folder: FileId }> {
  const attributes = await readAttributes(join(layers, UPPER));
  const budget = { ...SNAPSHOT_LIMITS, ...limits };
  const all = budget.entries;
  const open: number[] = [];
  try {
    const opened = (fd: number): number => (open.push(fd), fd);
    const upper = opened(openPath(join(layers, UPPER)).fd);
    const lower = opened(openPath(workspace).fd);
    const parts = { upper, lower, attributes: attributes.all, content, sinceMs, budget };
    const onSlice = (): void => onProgress?.(all - budget.entries);
    const walked = await inSlices(walkLayer(parts), { signal, onSlice });
    const isComplete = walked.isComplete && attributes.isComplete;
    return { ...walked, isComplete, folder: fileIdOf(lower) };
  } finally {
    for (const fd of open) closeSync(fd);
  }
}

/** For a comparison. */
const NOWHERE: ContentStore = { take: () => {}, end: () => 0 };

/** As JSON.stringify() writes it, change by change. */
function* textOf({ changes, ...listing }: ReviewListing): Sliced<string> {
  const words: string[] = [];
  for (const change of changes) {
    words.push(JSON.stringify(change));
    yield;
  }
  const { format, workspace, ...rest } = listing;
  const head = JSON.stringify({ format, workspace }).slice(0, -1);
  return `${head},"changes":[${words.join(",")}],${JSON.stringify(rest).slice(1)}`;
}

/**
 * Removes what is left of a snapshot whose maker was killed. Call it only while nobody is making a
 * snapshot there.
 */
export async function removeUnfinished(directory: string): Promise<void> {
  await removeTree(freshOf(directory));
}

function freshOf(directory: string): string {
  return `${directory}.new`;
}

/**
 * Reads a snapshot that was made before.
 *
 * @returns The snapshot; `undefined` where there is none.
 * @throws ConsentError `sandbox_failed` where it is no snapshot of this version.
 */
export function readSnapshot(directory: string): ReviewSnapshot | undefined {
  const path = join(directory, LISTING);
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  if (!found.isFile() || found.size > LISTING_BYTES_MAX) throw broken(path);
  const text = readFileSync(path, "utf8");
  const listing = listingIn(text);
  if (listing === undefined) throw broken(path);
  return { directory, digest: digestOf(text), listing };
}

/** Opens the contents of a snapshot. */
export function openContent({ directory }: ReviewSnapshot): number {
  return openSync(join(directory, CONTENT), constants.O_RDONLY | constants.O_NOFOLLOW);
}

function broken(path: string): ConsentError {
  return new ConsentError(
    "sandbox_failed",
    `Cannot read the review "${path}": it is not a list of changes of this version; drop it`,
  );
}

function listingIn(text: string): ReviewListing | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isListing(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Only its outside: the digest, which whoever takes from it has seen, says that it is just what we
 * wrote.
 */
function isListing(value: unknown): value is ReviewListing {
  return (
    typeof value === "object" &&
    value !== null &&
    "format" in value &&
    value.format === 1 &&
    "changes" in value &&
    Array.isArray(value.changes)
  );
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/**
 * What is empty in a file takes no room here either: an agent can make a file of gigabytes at once
 * that has none.
 */
function storeIn(fd: number): ContentStore {
  let [kept, written] = [0, 0];
  return {
    take(chunk) {
      const isEmpty = chunk.length <= ZEROS.length && ZEROS.subarray(0, chunk.length).equals(chunk);
      for (let done = 0; !isEmpty && done < chunk.length; )
        done += writeSync(fd, chunk, done, chunk.length - done, written + done);
      written += chunk.length;
    },
    end(isKept) {
      const at = kept;
      kept = isKept ? written : kept;
      // What was not kept must not be in the holes of what comes next.
      if (written !== kept || kept !== at) ftruncateSync(fd, kept);
      written = kept;
      return at;
    },
  };
}

/** Node reads no attributes, so a helper does. */
async function readAttributes(
  upper: string,
): Promise<{ readonly all: ReadonlyMap<string, string>; readonly isComplete: boolean }> {
  const helper = await overlayHelper();
  if (!helper.isAvailable)
    throw new ConsentError(
      "sandbox_unavailable",
      `Cannot look at what was written: ${helper.reason}; ${helper.fix}`,
    );
  const options = { env: {}, timeoutMs: ATTRIBUTES_TIMEOUT_MS, outputBytesMax: 2 * 2 ** 20 };
  const { stdout, stderr, code, failure } = await runTool(
    [helper.path, "--xattrs", upper],
    options,
  );
  if (code !== 0 && code !== 3) {
    throw new ConsentError(
      "sandbox_failed",
      `Cannot look at what was written: ${failure ?? stderr.trim().slice(0, 200)}`,
    );
  }
  const words = stdout.split("\0");
  const all = new Map<string, string>();
  for (let index = 0; index + 1 < words.length; index += 2)
    all.set(words[index] ?? "", words[index + 1] ?? "");
  return { all, isComplete: code === 0 };
}
