/**
 * File store: the one place that writes. Appends to the log's file, durable before it counts, and
 * starts a new file when one is full.
 */
import { constants, statSync } from "node:fs";
import { type FileHandle, access, rename } from "node:fs/promises";
import { basename, dirname } from "node:path";
import type { LineGroup, LogStore } from "./group-commit.js";
import { openLogFile, syncDirectory, WRITES_ARE_SYNCED, writeAll } from "./log-file.js";
import { archivePath } from "./log-parts.js";

/** When a file of the log is full and a new one is started. */
export interface Rotation {
  /** A file is full before it would get larger than this, in bytes; no limit unless given. */
  readonly maxBytes?: number;
  /** A file is full when its first event is this old, in milliseconds; no limit unless given. */
  readonly maxAgeMs?: number;
}

/** An open file and where it is. Taken over by the store. */
export interface OpenLog {
  readonly path: string;
  readonly handle: FileHandle;
  /** Bytes of it. */
  readonly size: number;
  /** Number of its first event, or of the next one where it is empty. */
  readonly firstSeq: number;
  /** Wall time of its first event. */
  readonly startedMs: number;
}

/** Where a group of lines stands: in the file whose first event has the number `file`. */
export interface GroupPlace {
  readonly file: number;
  readonly from: number;
}

/** What a store is told. */
export interface StoreOptions {
  readonly rotation?: Rotation | undefined;
  readonly now: () => number;
  /**
   * Reads the file again where somebody else touched it; resolves with why nothing may be added to
   * it. Left out: only another size or another file counts.
   */
  readonly recheck?: ((next: LineGroup) => Promise<Error | undefined>) | undefined;
  /** Hears every group when it is durable, and where it stands. */
  readonly onDurable?: ((group: LineGroup, at: GroupPlace) => void) | undefined;
}

/** The store of an open log. */
export async function createFileStore(
  open: OpenLog,
  { rotation, now, recheck, onDurable }: StoreOptions,
): Promise<LogStore> {
  const { path } = open;
  let { handle, size, firstSeq, startedMs } = open;
  let { dev, ino, mtimeNs: written } = await handle.stat({ bigint: true });
  const lookAgain = recheck === undefined ? undefined : seldom(recheck);

  /**
   * Synchronous on purpose: a few microseconds, once a group.
   *
   * @returns When it was written to.
   */
  function checkPlace(): bigint {
    const found = statSync(path, { throwIfNoEntry: false, bigint: true });
    if (found === undefined || found.ino !== ino || found.dev !== dev)
      throw new Error("it was removed or replaced");
    if (found.size !== BigInt(size))
      throw new Error(`it has ${found.size} bytes, expected ${size}: something else changed it`);
    return found.mtimeNs;
  }

  /**
   * Bytes can be other ones although the size is the same.
   *
   * @returns Whether it is still to be read again.
   */
  async function checkBytes(next: LineGroup): Promise<boolean> {
    const touched = checkPlace();
    if (touched === written || lookAgain === undefined) return false;
    const end = await lookAgain(next);
    if (end instanceof Error) throw end;
    return end === "later";
  }

  function isFull(more: number): boolean {
    if (size === 0 || rotation === undefined) return false;
    const { maxBytes = Number.POSITIVE_INFINITY, maxAgeMs = Number.POSITIVE_INFINITY } = rotation;
    return size + more > maxBytes || now() - startedMs >= maxAgeMs;
  }

  /**
   * A crash at any moment leaves either one full file and none to write to, which the next opening
   * makes, or the old state.
   */
  async function startNextFile(nextSeq: number): Promise<void> {
    const full = archivePath(path, firstSeq);
    await refuseExisting(full);
    await rename(path, full);
    await syncDirectory(dirname(path));
    const next = await openLogFile(path);
    const old = handle;
    handle = next;
    ({ dev, ino, mtimeNs: written } = await next.stat({ bigint: true }));
    [size, firstSeq, startedMs] = [0, nextSeq, now()];
    await old.close();
  }

  return {
    async append(group) {
      const isDoubtful = await checkBytes(group);
      if (isFull(group.bytes.length)) await startNextFile(group.firstSeq);
      try {
        await writeAll(handle, group.bytes);
        if (!WRITES_ARE_SYNCED) await handle.datasync();
      } catch (error) {
        await takeBack(handle, size);
        throw error;
      }
      const from = size;
      size += group.bytes.length;
      if (!isDoubtful) written = (await handle.stat({ bigint: true })).mtimeNs;
      onDurable?.(group, { file: firstSeq, from });
    },
    close: () => handle.close(),
  };
}

/**
 * Reads a file again at most a twentieth of the time: where its time changes by itself, every
 * append would read all of it.
 */
function seldom(
  recheck: NonNullable<StoreOptions["recheck"]>,
): (next: LineGroup) => Promise<Error | undefined | "later"> {
  let notBefore = 0;
  return async (next) => {
    const startMs = performance.now();
    if (startMs < notBefore) return "later";
    const end = await recheck(next);
    const endMs = performance.now();
    notBefore = endMs + 19 * (endMs - startMs);
    return end;
  };
}

/** Renaming would replace it. */
async function refuseExisting(path: string): Promise<void> {
  const exists = await access(path, constants.F_OK).then(
    () => true,
    () => false,
  );
  if (exists) throw new Error(`a file "${basename(path)}" already exists`);
}

/**
 * After a failed write: none of it should stay. Where even that fails, the next opening cuts what
 * is torn and says so.
 */
async function takeBack(handle: FileHandle, size: number): Promise<void> {
  try {
    await handle.truncate(size);
    await handle.datasync();
  } catch {
    // The append has failed already, and no event after it is taken.
  }
}
