/**
 * Review snapshot: what an agent wrote into an overlay, frozen. A list of changes and one file with all contents, in a directory of ours; what is shown and
 * what is taken comes from there, and the digest of the list is what an answer names.
 */
import { createHash } from "node:crypto";
import { closeSync, constants, lstatSync, openSync, readFileSync, readSync, renameSync, writeSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ConsentError } from "@acp/core";
import { UPPER } from "./layers.js";
import { overlayHelper } from "./native-helper.js";
import { findPersistent, isPlainConfig, isThere as isOnDisk } from "./persistent.js";
import { fileIdOf, openPath } from "./places.js";
import { removeTree } from "./remove-tree.js";
import { type ApartView, findApart } from "./review-apart.js";
import type { ReadBudget } from "./review-folder.js";
import { leadsOut } from "./review-links.js";
import type { ReviewChange, ReviewListing, ReviewRefusal, ReviewSnapshot } from "./review-parts.js";
import { type ContentStore, type FoundChange, walkLayer, type Walked } from "./review-walk.js";
import { runTool } from "./tools.js";
import { readTarget } from "./review-target.js";

/** What a snapshot is made of. */
export interface SnapshotParts {
  /** A real path. */
  readonly workspace: string;
  /** The directory of `layers` that the agent had. */
  readonly layers: string;
  /** Where the snapshot goes, in place of an older one; a directory that is ours alone is above it. */
  readonly directory: string;
  /** When the agent started, by this machine's clock. */
  readonly sinceMs: number;
  /** The most that is read: names, and bytes. */
  readonly limits?: { readonly entries?: number; readonly bytes?: number };
}

/** An installation of a large project's dependencies is 100,000 files and 2 GB. */
const LIMITS: Readonly<ReadBudget> = { entries: 400_000, bytes: 8 * 2 ** 30 };
const LISTING = "changes.json";
const CONTENT = "content";
const LISTING_BYTES_MAX = 256 * 2 ** 20;
const CONFIG_BYTES_MAX = 65_536;
const ATTRIBUTES_TIMEOUT_MS = 120_000;

/**
 * Makes one. Where nothing is different, its list is empty.
 *
 * @throws ConsentError `sandbox_failed` where the layer or the workspace cannot be read; `sandbox_unavailable` without a compiler.
 */
export async function makeSnapshot({ workspace, layers, directory, sinceMs, limits }: SnapshotParts): Promise<ReviewSnapshot> {
  const attributes = await readAttributes(join(layers, UPPER));
  const fresh = `${directory}.new`;
  await removeTree(fresh);
  await mkdir(fresh, { mode: 0o700 });
  const [upper, lower] = [openPath(join(layers, UPPER)).fd, openPath(workspace).fd];
  const content = openSync(join(fresh, CONTENT), constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    const budget = { ...LIMITS, ...limits };
    const walked = walkLayer({ upper, lower, attributes: attributes.all, content: storeIn(content), sinceMs, budget });
    const listing: ReviewListing = {
      format: 1,
      workspace: { path: workspace, ...fileIdOf(lower) },
      ...judge(workspace, walked, join(fresh, CONTENT)),
      isComplete: walked.isComplete && attributes.isComplete,
    };
    const text = JSON.stringify(listing);
    await writeFile(join(fresh, LISTING), text, { mode: 0o600 });
    await removeTree(directory);
    renameSync(fresh, directory);
    return { directory, digest: digestOf(text), listing };
  } finally {
    for (const fd of [upper, lower, content]) closeSync(fd);
  }
}

/**
 * Reads one that was made before.
 *
 * @returns `undefined` where there is none.
 * @throws ConsentError `sandbox_failed` where it is not one of ours.
 */
export function readSnapshot(directory: string): ReviewSnapshot | undefined {
  const path = join(directory, LISTING);
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  if (!found.isFile() || found.size > LISTING_BYTES_MAX) throw broken(path);
  const text = readFileSync(path, "utf8");
  const listing: unknown = JSON.parse(text);
  if (!isListing(listing)) throw broken(path);
  return { directory, digest: digestOf(text), listing };
}

/** Opens the contents of a snapshot. */
export function openContent({ directory }: ReviewSnapshot): number {
  return openSync(join(directory, CONTENT), constants.O_RDONLY | constants.O_NOFOLLOW);
}

function broken(path: string): ConsentError {
  return new ConsentError("sandbox_failed", `Cannot read the review "${path}": it is no list of changes of this version; drop it`);
}

/** Only its outside: the digest, which whoever takes from it has seen, says that it is just what we wrote. */
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

function storeIn(fd: number): ContentStore {
  let [kept, written] = [0, 0];
  return {
    take(chunk) {
      for (let done = 0; done < chunk.length; ) done += writeSync(fd, chunk, done, chunk.length - done, written + done);
      written += chunk.length;
    },
    end(isKept) {
      const at = kept;
      kept = written = isKept ? written : kept;
      return at;
    },
  };
}

/** Node reads no attributes, so a helper does. */
async function readAttributes(upper: string): Promise<{ readonly all: ReadonlyMap<string, string>; readonly isComplete: boolean }> {
  const helper = await overlayHelper();
  if (!helper.isAvailable)
    throw new ConsentError("sandbox_unavailable", `Cannot look at what was written: ${helper.reason}; ${helper.fix}`);
  const options = { env: {}, timeoutMs: ATTRIBUTES_TIMEOUT_MS, outputBytesMax: 2 * 2 ** 20 };
  const { stdout, stderr, code, failure } = await runTool([helper.path, "--xattrs", upper], options);
  if (code !== 0 && code !== 3) {
    throw new ConsentError("sandbox_failed", `Cannot look at what was written: ${failure ?? stderr.trim().slice(0, 200)}`);
  }
  const words = stdout.split("\0");
  const all = new Map<string, string>();
  for (let index = 0; index + 1 < words.length; index += 2) all.set(words[index] ?? "", words[index + 1] ?? "");
  return { all, isComplete: code === 0 };
}

/** What each change means, once all are known. */
function judge(workspace: string, { changes, refused }: Walked, content: string): Pick<ReviewListing, "changes" | "refused"> {
  const byPath = new Map(changes.map((change) => [change.path, change]));
  const targetOf = (path: string): string | undefined => readTarget(workspace, path, byPath);
  const isThere = (path: string): boolean => {
    const change = byPath.get(path);
    return change === undefined ? isOnDisk(join(workspace, path)) : change.after !== null;
  };
  const held = findPersistent(workspace).places.map((place) => place.slice(workspace.length + 1));
  const out = changes.filter(({ path, after }) => after?.kind === "link" && leadsOut(path, { workspace, targetOf }));
  const isOut = new Set(out.map(({ path }) => path));
  const outside: readonly ReviewRefusal[] = out.map(({ path }) => ({ path, reason: "it is a link that leads out of the workspace" }));
  const view = { isThere, held };
  return {
    changes: [...changes]
      .filter(({ path }) => !isOut.has(path))
      .sort(byPathOrder)
      .map((change) => withApart(change, view, content)),
    refused: [...refused, ...outside].sort(byPathOrder),
  };
}

/** A repository that Git has just made has a configuration that names no program. */
function withApart(change: FoundChange, view: ApartView, content: string): ReviewChange {
  const { path, before, after, at } = change;
  const apart = findApart(path, view, after?.kind === "folder");
  const isNewConfig =
    apart === path && path.endsWith("/config") && before === null && after?.kind === "file" && after.size <= CONFIG_BYTES_MAX;
  return { ...change, apart: isNewConfig && isPlainConfig(readText(content, at, after.size)) ? null : apart };
}

function readText(path: string, at: number, size: number): string {
  const fd = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(size);
    return bytes.toString("utf8", 0, readSync(fd, bytes, 0, size, at));
  } finally {
    closeSync(fd);
  }
}

function byPathOrder(one: { readonly path: string }, other: { readonly path: string }): number {
  return one.path < other.path ? -1 : one.path > other.path ? 1 : 0;
}
