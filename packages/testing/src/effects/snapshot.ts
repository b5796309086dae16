/** Snapshot: every file below a folder, before and after a run. */
import { createHash } from "node:crypto";
import { lstat, readdir, readFile, readlink } from "node:fs/promises";
import { join, relative } from "node:path";
import type { FileChange } from "./effects.js";

/**
 * A path below the folder, and what has to stay as it is. Folders have no times: what is in them
 * speaks for itself.
 */
export type Snapshot = ReadonlyMap<string, string>;

async function stateOf(path: string): Promise<string> {
  const { mode, size, mtimeNs, ino } = await lstat(path, { bigint: true });
  const kind = Number(mode & 0o170_000n);
  if (kind === 0o040_000) return `folder ${mode}`;
  return kind === 0o120_000 ? `link ${await readlink(path)}` : `${mode} ${size} ${mtimeNs} ${ino}`;
}

/** Reads a folder to its ground. */
export async function takeSnapshot(folder: string): Promise<Snapshot> {
  // With types, or links to folders are followed.
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.map(({ parentPath, name }) => join(parentPath, name));
  return new Map(
    await Promise.all(
      paths.map(async (path) => [relative(folder, path), await stateOf(path)] as const),
    ),
  );
}

async function digestOf(path: string): Promise<string | undefined> {
  if (!(await lstat(path)).isFile()) return undefined;
  return `sha256:${createHash("sha256")
    .update(await readFile(path))
    .digest("hex")}`;
}

/** What differs from an earlier snapshot, with paths that begin with `shownAs`. */
export async function changesSince(
  before: Snapshot,
  folder: string,
  shownAs: string,
): Promise<readonly FileChange[]> {
  const after = await takeSnapshot(folder);
  const deleted = [...before.keys()]
    .filter((path) => !after.has(path))
    .map((path) => ({ kind: "deleted" as const, path: join(shownAs, path) }));
  const others = [...after].filter(([path, state]) => before.get(path) !== state);
  const written = others.map(async ([path]): Promise<FileChange> => {
    const digest = await digestOf(join(folder, path));
    return {
      kind: before.has(path) ? "modified" : "created",
      path: join(shownAs, path),
      ...(digest === undefined ? {} : { digest }),
    };
  });
  return [...(await Promise.all(written)), ...deleted];
}
