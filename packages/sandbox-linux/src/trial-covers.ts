/**
 * Trial covers: which places of a workspace a trial must find empty. A search that cannot see
 * everything finds nothing, and there is no trial.
 */
import { type Dirent, lstatSync, realpathSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { ConsentError } from "@acp/core";
import type { TrialOrder } from "@acp/core";
import { liesIn } from "./workspace.js";

/** Each is a look at its name. */
const ENTRIES_MAX = 50_000;
/** Each is a mount. */
const COVERS_MAX = 256;

/** What was found on the way. */
interface Search {
  readonly workspace: string;
  readonly covers: Set<string>;
  readonly files: string[];
  entries: number;
}

/**
 * Finds them, by real paths, the outermost of each.
 *
 * @throws ConsentError `sandbox_unavailable` where not everything could be looked at, or it is too
 *   much.
 */
export async function findCovers({
  workspace,
  cwd,
  isCovered,
  signal,
}: TrialOrder): Promise<readonly string[]> {
  if (isCovered(workspace)) throw unavailable("its whole workspace would have to be covered");
  const search: Search = { workspace, covers: new Set(), files: [], entries: 0 };
  const open = [workspace];
  for (const folder of open) {
    signal.throwIfAborted();
    for (const entry of await list(folder)) {
      search.entries += 1;
      if (search.entries > ENTRIES_MAX)
        throw unavailable(`its workspace has more than ${ENTRIES_MAX} files and folders`);
      // A name that is no text would be covered at another one.
      if (entry.name.includes("\uFFFD"))
        throw unavailable(`a name in "${folder}" is not valid UTF-8`);
      const path = join(folder, entry.name);
      if (isCovered(path)) cover(search, path);
      else if (entry.isDirectory()) open.push(path);
      else if (entry.isFile()) search.files.push(path);
    }
  }
  coverOtherNames(search);
  const all = [...search.covers].sort();
  if (all.length > COVERS_MAX)
    throw unavailable(`more than ${COVERS_MAX} places of its workspace would have to be covered`);
  const around = all.find((each) => liesIn(cwd, each) || liesIn(workspace, each));
  if (around !== undefined)
    throw unavailable(`its directory lies in "${around}", which is covered`);
  return all.filter((path) => !all.some((each) => each !== path && liesIn(path, each)));
}

async function list(folder: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    // What we may not list, the command could open to itself.
    throw unavailable(
      `"${folder}" cannot be inspected: ${error instanceof Error && "code" in error ? String(error.code) : "it failed"}`,
    );
  }
}

/** Of a link, what it leads to is covered; outside of the workspace there is nothing to see. */
function cover({ workspace, covers }: Search, path: string): void {
  if (!lstatSync(path).isSymbolicLink()) {
    covers.add(path);
    return;
  }
  try {
    const real = realpathSync(path);
    if (liesIn(real, workspace)) covers.add(real);
  } catch {
    // it leads nowhere
  }
}

/** Another name of a covered file is the same file. */
function coverOtherNames({ covers, files }: Search): void {
  const linked = new Set([...covers].flatMap((path) => manyNamed(path)));
  if (linked.size === 0) return;
  for (const path of files) if (manyNamed(path).some((each) => linked.has(each))) covers.add(path);
}

function manyNamed(path: string): readonly string[] {
  const found = lstatSync(path, { throwIfNoEntry: false, bigint: true });
  return found !== undefined && found.isFile() && found.nlink > 1n
    ? [`${found.dev}:${found.ino}`]
    : [];
}

function unavailable(why: string): ConsentError {
  return new ConsentError("sandbox_unavailable", `Cannot run a trial: ${why}`);
}
