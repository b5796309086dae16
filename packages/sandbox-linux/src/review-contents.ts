/**
 * Review contents: what a file was and what it becomes, for somebody to look at. Both are compared
 * with the list's hashes.
 */
import { createHash } from "node:crypto";
import { closeSync, readSync } from "node:fs";
import { openPath } from "./places.js";
import { inFolder, readState } from "./review-folder.js";
import type { FileState, ReviewChange, ReviewSnapshot } from "./review-parts.js";
import { openContent } from "./review-snapshot.js";
import { atOnce } from "./slices.js";

/**
 * Contents of a file before and after a change. Each is absent where there is no file, it is larger
 * than wanted, or it is no longer what the snapshot says.
 */
export interface FileContents {
  /** Bytes in the workspace; absent where the agent created the file. */
  readonly before?: Uint8Array;
  /** Bytes that the agent wrote; absent where it removed the file. */
  readonly after?: Uint8Array;
}

/**
 * Reads the contents of a change, to show what differs.
 *
 * @param bytesMax - The most that is read of each.
 */
export function readContents(
  snapshot: ReviewSnapshot,
  { path, before, after, at }: ReviewChange,
  bytesMax: number,
): FileContents {
  const old =
    before?.kind === "file" && before.size <= bytesMax
      ? readBefore(snapshot, path, before)
      : undefined;
  const fresh =
    after?.kind === "file" && after.size <= bytesMax ? readAfter(snapshot, at, after) : undefined;
  return {
    ...(old !== undefined && { before: old }),
    ...(fresh !== undefined && { after: fresh }),
  };
}

type File = Extract<FileState, { readonly kind: "file" }>;

function readAfter(
  snapshot: ReviewSnapshot,
  at: number,
  { size, sha256 }: File,
): Uint8Array | undefined {
  const fd = openContent(snapshot);
  try {
    const bytes = Buffer.alloc(size);
    for (let done = 0; done < size; ) {
      const got = readSync(fd, bytes, done, size - done, at + done);
      if (got === 0) return undefined;
      done += got;
    }
    return createHash("sha256").update(bytes).digest("hex") === sha256 ? bytes : undefined;
  } finally {
    closeSync(fd);
  }
}

function readBefore(
  { listing }: ReviewSnapshot,
  path: string,
  { size, sha256 }: File,
): Uint8Array | undefined {
  const { fd } = openPath(listing.workspace.path);
  const chunks: Uint8Array[] = [];
  let isSame = false;
  try {
    below(fd, path.split("/"), (folder, name) => {
      // A byte more than it had is too much already.
      const state = atOnce(
        readState(folder, name, {
          budget: { entries: 0, bytes: size + 1, text: 0 },
          take: (chunk) => chunks.push(Uint8Array.from(chunk)),
        }),
      );
      isSame = state?.kind === "file" && state.sha256 === sha256;
    });
  } finally {
    closeSync(fd);
  }
  return isSame ? Buffer.concat(chunks) : undefined;
}

function below(
  folder: number,
  [name = "", ...rest]: readonly string[],
  act: (folder: number, name: string) => void,
): void {
  if (rest.length === 0) return act(folder, name);
  inFolder(folder, name, (fd) => fd !== undefined && below(fd, rest, act));
}
