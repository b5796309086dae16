/**
 * File store: the one place that writes. Appends to the log's file, durable before it counts, and
 * starts a new file when one is full.
 */
import { constants } from "node:fs";
import { type FileHandle, access, rename } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { STATE_EVENTS } from "./event-facts.js";
import { createFileCheck, type Recheck } from "./file-check.js";
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

/**
 * The end of a log's file that its writer wrote since it opened the log, where no event of it notes
 * a state of a file of the home.
 */
export interface PlainTail {
  /** Of the file. */
  readonly inode: bigint;
  /** The first byte. */
  readonly from: number;
  /** Behind the last one, as far as it was handed to the system; the file may still end before it. */
  readonly to: number;
}

/** The store of an open log. */
export interface FileStore extends LogStore {
  /** What whoever follows the log need not read. */
  plainTail(): PlainTail;
}

/** What a store is told. */
export interface StoreOptions {
  readonly rotation?: Rotation | undefined;
  readonly now: () => number;
  /**
   * Reads the file again where somebody else touched it; resolves with why nothing may be added to
   * it. Left out: only another size or another file counts.
   */
  readonly recheck?: Recheck | undefined;
  /** Hears every group when it is durable, and where it stands. */
  readonly onDurable?: ((group: LineGroup, at: GroupPlace) => void) | undefined;
}

/** Opens the store of a log. */
export async function createFileStore(
  open: OpenLog,
  { rotation, now, recheck, onDurable }: StoreOptions,
): Promise<FileStore> {
  const { path } = open;
  let { handle, size, firstSeq, startedMs } = open;
  const plain = createPlainEnd(size);
  const check = createFileCheck(path, recheck);
  check.take(handle);

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
    check.take(next);
    [size, firstSeq, startedMs] = [0, nextSeq, now()];
    plain.begin(0);
    await old.close();
  }

  return {
    async append(group) {
      const isDoubtful = await check.before(group, size);
      if (isFull(group.bytes.length)) await startNextFile(group.firstSeq);
      plain.write(group, size);
      try {
        await writeAll(handle, group.bytes);
        if (!WRITES_ARE_SYNCED) await handle.datasync();
      } catch (error) {
        await takeBack(handle, size);
        throw error;
      }
      const from = size;
      size += group.bytes.length;
      if (!isPlain(group)) plain.begin(size);
      if (!isDoubtful) check.wrote(handle);
      onDurable?.(group, { file: firstSeq, from });
    },
    plainTail: () => ({ inode: check.inode(), ...plain.range() }),
    close() {
      // From now on others may write to it.
      plain.begin(size);
      return handle.close();
    },
  };
}

/** Follows where the end of a file is plain. */
interface PlainEnd {
  /** Nothing of what stands before is, or is known to be. */
  begin(size: number): void;
  /** The group is about to be written where the file has this size. */
  write(group: LineGroup, size: number): void;
  range(): Pick<PlainTail, "from" | "to">;
}

function createPlainEnd(size: number): PlainEnd {
  let [from, to] = [size, size];
  return {
    begin: (at) => void ([from, to] = [at, at]),
    write: (group, at) => void (to = isPlain(group) ? at + group.bytes.length : at),
    range: () => ({ from, to }),
  };
}

/** Whether it is known of each line that it notes no state. */
const isPlain = ({ facts }: LineGroup): boolean =>
  facts !== undefined &&
  facts.length > 0 &&
  facts.every(({ eventType }) => !STATE_EVENTS.has(eventType));

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
