/**
 * Known places: what of a workspace other programs ran by themselves the last time an agent started
 * there, kept in the home, where no agent gets. It says only what is looked for and held first: an
 * agent can fill a workspace with what would otherwise come before.
 */
import { createHash } from "node:crypto";
import { lstat, mkdir, readdir, rm, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isJsonObject } from "@acp/core";
import { readPrivateFile, writeFileAtomic } from "@acp/home";
import type { Home } from "@acp/home";

/** A workspace where thousands of repositories lie is a disk. */
const PLACES_MAX = 5_000;
const BYTES_MAX = 32 * 1024 * 1024;
const DAY_MS = 86_400_000;
/** A workspace where no agent has started for so long is forgotten. */
export const UNUSED_DAYS_MAX = 365;
/**
 * A workspace that is gone is forgotten after so long: a disk that is not mounted today may be back
 * tomorrow.
 */
export const GONE_DAYS_MAX = 30;
const FILE = /^[0-9a-f]{32}\.json$/;

/**
 * The oldest first. None where nothing is kept, or what is kept cannot be read: then a workspace is
 * searched as if it were new.
 */
export async function readKnownPlaces(
  home: Pick<Home, "dir">,
  workspace: string,
): Promise<readonly string[]> {
  try {
    const kept: unknown = JSON.parse(await readPrivateFile(fileOf(home, workspace), BYTES_MAX));
    if (!isJsonObject(kept) || kept["workspace"] !== workspace || !Array.isArray(kept["places"]))
      return [];
    return kept["places"].filter((place) => typeof place === "string").slice(0, PLACES_MAX);
  } catch {
    return [];
  }
}

/**
 * Keeps what is there still of what was known, then the rest of what was found; and forgets other
 * workspaces that are not used any more.
 */
export async function keepKnownPlaces(
  home: Pick<Home, "dir">,
  workspace: string,
  { known, found }: { readonly known: readonly string[]; readonly found: readonly string[] },
): Promise<void> {
  const there = new Set(found);
  const places = [...new Set([...known.filter((place) => there.has(place)), ...found])].slice(
    0,
    PLACES_MAX,
  );
  const path = fileOf(home, workspace);
  await keep(path, { workspace, places, isSame: isSameList(places, known) });
  await forgetUnused(directoryOf(home), path).catch(() => {}); // only room is lost
}

interface Kept {
  readonly workspace: string;
  readonly places: readonly string[];
  /** Whether they are what the file says already. */
  readonly isSame: boolean;
}

async function keep(path: string, { workspace, places, isSame }: Kept): Promise<void> {
  if (places.length === 0) return rm(path, { force: true });
  if (isSame) {
    const now = new Date();
    return utimes(path, now, now).catch(() => {}); // it counts as not used, which changes nothing today
  }
  await mkdir(dirname(path), { mode: 0o700, recursive: true });
  await writeFileAtomic(path, `${JSON.stringify({ workspace, places })}\n`);
}

async function forgetUnused(directory: string, used: string): Promise<void> {
  const names = await readdir(directory);
  for (const name of names.filter((each) => FILE.test(each))) {
    const path = join(directory, name);
    if (path === used) continue;
    const unusedMs = Date.now() - (await lstat(path)).mtimeMs;
    const isOld = unusedMs > UNUSED_DAYS_MAX * DAY_MS;
    if (isOld || (unusedMs > GONE_DAYS_MAX * DAY_MS && (await isOfGone(path))))
      await rm(path, { force: true });
  }
}

/** Whether the workspace that the file is about does not exist. */
async function isOfGone(path: string): Promise<boolean> {
  try {
    const kept: unknown = JSON.parse(await readPrivateFile(path, BYTES_MAX));
    const workspace = isJsonObject(kept) ? kept["workspace"] : undefined;
    if (typeof workspace !== "string") return true;
    return await lstat(workspace).then(
      () => false,
      (error: unknown) => isMissingCode(error),
    );
  } catch {
    return true; // nobody can read it, and no start would
  }
}

function isMissingCode(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "ENOENT" || code === "ENOTDIR";
}

function isSameList(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((each, at) => each === others[at]);
}

function fileOf(home: Pick<Home, "dir">, workspace: string): string {
  return join(
    directoryOf(home),
    `${createHash("sha256").update(workspace).digest("hex").slice(0, 32)}.json`,
  );
}

function directoryOf({ dir }: Pick<Home, "dir">): string {
  return join(dir, "known-places");
}
