/**
 * Opening the end of a log: the file that is written to, where the chain goes on, and the repair of
 * a last line that was cut short.
 */
import type { FileHandle } from "node:fs/promises";
import type { Stamp } from "./stamp.js";
import { openLogFile } from "./log-file.js";
import { listArchives } from "./log-parts.js";
import { openSource } from "./source.js";
import { readFirst, readTail, recoverTail, type Tail } from "./tail.js";

/** A log that can be appended to. */
export interface OpenedTail extends Tail {
  readonly handle: FileHandle;
  /** Number of the first event of this file, or of the next one where it is empty. */
  readonly firstSeq: number;
  /** Wall time of its first event. */
  readonly startedMs: number | undefined;
}

/**
 * Opens a log at its end. A torn last line is cut off and recorded with `stamp`.
 *
 * @throws ConsentError `audit_failed`.
 */
export async function openTail(path: string, stamp: () => Stamp): Promise<OpenedTail> {
  const handle = await openLogFile(path);
  try {
    const found = await readTail(path, handle, await readArchiveEnd(path));
    const { torn } = found;
    const tail =
      torn === undefined
        ? found
        : await recoverTail({ path, handle, tail: { ...found, torn } }, stamp());
    const first = await readFirst(path, handle);
    const nextSeq = tail.head === undefined ? 0 : tail.head.seq + 1;
    return { ...tail, handle, firstSeq: first?.seq ?? nextSeq, startedMs: first?.atMs };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** How the newest full file ends: a file without events goes on from there. */
async function readArchiveEnd(path: string): Promise<Tail | undefined> {
  const newest = (await listArchives(path)).at(-1);
  if (newest === undefined) return undefined;
  await using handle = await openSource(newest.path, "may_be_missing");
  return handle === undefined ? undefined : await readTail(newest.path, handle);
}

/** How a log ends, for a reader; `undefined` where there is none. */
export async function readEndOf(path: string): Promise<Tail | undefined> {
  await using handle = await openSource(path, "may_be_missing");
  const before = await readArchiveEnd(path);
  return handle === undefined ? before : await readTail(path, handle, before);
}
