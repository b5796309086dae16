/**
 * Review store: what agents of `acp run --review` wrote and nobody has settled yet, each in a
 * directory of the home. It outlasts the run, also one that was killed.
 */
import { randomBytes } from "node:crypto";
import { lstat, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { ConsentError, isConsentError, isJsonObject } from "@acp/core";
import { createFileAtomic, holdWriter, makePrivateDirectory, whileWriting } from "@acp/home";
import type { Home } from "@acp/home";
import {
  isAsWanted,
  makeSnapshot,
  readSnapshot,
  removeTree,
  removeUnfinished,
} from "@acp/sandbox-linux";
import type { ReviewSnapshot } from "@acp/sandbox-linux";
import { listFolder } from "../home/list-folder.js";

/** One of them. */
export interface Review {
  /** 12 hexadecimal digits. */
  readonly id: string;
  readonly directory: string;
  /** The workspace's real path. */
  readonly workspace: string;
  readonly agent: string;
  /** What ran, its beginning; left out where the record says nothing of it. */
  readonly command?: string;
  readonly startedMs: number;
}

/** A review whose agent is about to run. */
export interface OpenedReview {
  readonly review: Review;
  /** What the sandbox keeps there. */
  readonly layers: string;
  /** Says that the agent has ended. */
  readonly end: () => Promise<void>;
}

const ID = /^[0-9a-f]{12}$/u;
const RECORD = "review.json";
const RECORD_BYTES_MAX = 65_536;
/** So that a long command makes no record that is not read. */
const COMMAND_CHARS_MAX = 500;
const RUNNING = "run";
/** What was shown, and what is left beside it. */
const FROZEN = "snapshot";
const REST = "rest";
/** A person has a handful. */
const REVIEWS_MAX = 1_000;

/** Makes one, and holds it as running until its end or that of this process. */
export async function openReview(
  home: Home,
  {
    workspace,
    agent,
    argv,
    nowMs,
  }: Pick<Review, "workspace" | "agent"> & {
    readonly argv: readonly string[];
    readonly nowMs: number;
  },
): Promise<OpenedReview> {
  const all = join(home.dir, "reviews");
  await makePrivateDirectory(all);
  const id = randomBytes(6).toString("hex");
  const directory = join(all, id);
  await makePrivateDirectory(directory);
  await makePrivateDirectory(join(directory, RUNNING));
  const held = await holdWriter(join(directory, RUNNING), 1);
  const command = argv.join(" ").slice(0, COMMAND_CHARS_MAX);
  const review: Review = { id, directory, workspace, agent, command, startedMs: nowMs };
  await createFileAtomic(
    join(directory, RECORD),
    JSON.stringify({ workspace, agent, command, startedMs: nowMs }),
  );
  return {
    review,
    layers: join(directory, "layers"),
    end: async () => await held[Symbol.asyncDispose](),
  };
}

/**
 * Says that the agent has ended, and removes a review in which it wrote nothing. @returns Whether
 * it did.
 */
export async function endUnwritten({ review, layers, end }: OpenedReview): Promise<boolean> {
  await end();
  const written = await readdir(join(layers, "upper")).catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  });
  if (written.length > 0) return false;
  await removeReview(review);
  return true;
}

/**
 * All of them, the oldest first. What is no review of ours is passed over.
 *
 * @throws ConsentError `home_invalid` where they cannot be looked at.
 */
export async function listReviews(home: Home): Promise<readonly Review[]> {
  const all = join(home.dir, "reviews");
  const names = await listFolder(all, "is_empty");
  const found: Review[] = [];
  for (const id of names.filter((name) => ID.test(name)).slice(0, REVIEWS_MAX)) {
    const review = await readReview(join(all, id), id);
    if (review !== undefined) found.push(review);
  }
  return found.sort((one, other) => one.startedMs - other.startedMs);
}

/**
 * One of them, by its id or how that begins; the only one where none is named.
 *
 * @throws ConsentError `options_invalid` where that is none or several.
 */
export async function findReview(home: Home, id: string | undefined): Promise<Review> {
  const all = await listReviews(home);
  const [found, ...others] = all.filter(
    (each) => id === undefined || (id !== "" && each.id.startsWith(id)),
  );
  if (found !== undefined && others.length === 0) return found;
  const fix = all.length === 0 ? "there is none" : "acp review list shows their ids";
  throw new ConsentError(
    "options_invalid",
    `Cannot find the review${id === undefined ? "" : ` "${id}"`}: ${found === undefined ? "there is no such review" : "the ID fits several"}; ${fix}`,
  );
}

/** Whether its agent may still be writing. */
export async function isRunning({ directory }: Review): Promise<boolean> {
  try {
    const held = await holdWriter(join(directory, RUNNING), 1);
    await held[Symbol.asyncDispose]();
    return false;
  } catch (error) {
    if (isConsentError(error, "home_busy")) return true;
    throw error;
  }
}

/**
 * Removes copies that were being made by processes which were killed; each may be as large as what
 * an agent wrote.
 */
export async function sweepReviews(home: Pick<Home, "dir">): Promise<void> {
  const all = join(home.dir, "reviews");
  const names = await readdir(all).catch(() => []);
  for (const id of names.filter((name) => ID.test(name)).slice(0, REVIEWS_MAX))
    await sweep(join(all, id)).catch(leaveIt);
}

async function sweep(directory: string): Promise<void> {
  const names = await readdir(directory);
  if (![`${FROZEN}.new`, REST, `${REST}.new`].some((name) => names.includes(name))) return;
  // Somebody who is at it holds it.
  await using _held = await holdWriter(directory, 1);
  for (const name of [FROZEN, REST]) await removeUnfinished(join(directory, name));
  await removeTree(join(directory, REST));
}

function leaveIt(): void {}

/** Freezes what there is now, in place of what was frozen before. */
export function freeze(review: Review): Promise<ReviewSnapshot> {
  return whileWriting(review.directory, () => makeSnapshot(partsOf(review, FROZEN)));
}

/** Whether the workspace is as the agent wanted it, beside what was frozen. */
export function isEmpty(review: Review): Promise<boolean> {
  return whileWriting(review.directory, () => isAsWanted(partsOf(review, FROZEN)));
}

function partsOf(
  { directory, workspace, startedMs }: Review,
  name: string,
): Parameters<typeof makeSnapshot>[0] {
  return {
    workspace,
    layers: join(directory, "layers"),
    directory: join(directory, name),
    sinceMs: startedMs,
  };
}

/** What was frozen last, while nobody else changes it. */
export function withFrozen<T>(
  { directory }: Review,
  act: (snapshot: ReviewSnapshot | undefined) => Promise<T>,
): Promise<T> {
  return whileWriting(directory, () => act(readSnapshot(join(directory, FROZEN))));
}

/** Removes it, with all that the agent wrote. */
export async function removeReview({ directory }: Review): Promise<void> {
  await removeTree(directory);
}

async function readReview(directory: string, id: string): Promise<Review | undefined> {
  try {
    const path = join(directory, RECORD);
    const found = await lstat(path);
    if (!found.isFile() || found.size > RECORD_BYTES_MAX) return undefined;
    const value: unknown = JSON.parse(await readFile(path, "utf8"));
    if (!isJsonObject(value)) return undefined;
    const { workspace, agent, command, startedMs } = value;
    if (typeof workspace !== "string" || typeof agent !== "string" || typeof startedMs !== "number")
      return undefined;
    return {
      id,
      directory,
      workspace,
      agent,
      startedMs,
      ...(typeof command === "string" && { command }),
    };
  } catch {
    return undefined; // begun and not finished, or settled this moment
  }
}
