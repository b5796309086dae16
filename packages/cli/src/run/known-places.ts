/**
 * Known places: what of a workspace other programs ran by themselves the last time an agent started
 * there, kept in the home, where no agent gets. It says only what is looked for and held first: an
 * agent can fill a workspace with what would otherwise come before.
 */
import { createHash } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { isJsonObject } from "@acp/core";
import { readPrivateFile, writeFileAtomic } from "@acp/home";
import type { Home } from "@acp/home";

/** A workspace where thousands of repositories lie is a disk. */
const PLACES_MAX = 5_000;
const BYTES_MAX = 32 * 1024 * 1024;

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

/** Keeps what is there still of what was known, then the rest of what was found. */
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
  if (places.length === known.length && places.every((place, index) => place === known[index]))
    return;
  const path = fileOf(home, workspace);
  if (places.length === 0) return rm(path, { force: true });
  await mkdir(directoryOf(home), { mode: 0o700, recursive: true });
  await writeFileAtomic(path, `${JSON.stringify({ workspace, places })}\n`);
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
