/**
 * Log parts: the files of one log. `<log>` is written to; `<log>.<seq>` are full ones, named after
 * the sequence number of their first event in twelve digits, so that their names sort as their
 * events do. Format: spec/audit.md §7.
 */
import { createHash } from "node:crypto";
import { type FileHandle, readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { causeText, cannot, hasErrno } from "./errors.js";
import { type LineBlock, splitLines } from "./lines.js";
import { seekSeq } from "./seek.js";
import { openSource, readBlocksInPlace, readChunks } from "./source.js";
import { readFirst, readRange } from "./tail.js";

/** A full file of a log: it was started before the one that is written to. */
export interface Archive {
  /** Its path, in the directory of the log. */
  readonly path: string;
  /** Number of its first event. */
  readonly firstSeq: number;
}

const SEQ_DIGITS = 12;
const ARCHIVE = /\.(\d{12})$/;

/** Where a file whose first event has this number goes when it is full. */
export function archivePath(path: string, firstSeq: number): string {
  return `${path}.${String(firstSeq).padStart(SEQ_DIGITS, "0")}`;
}

/** The number in an archive's name; `undefined` for any other name. */
function archiveSeq(path: string): number | undefined {
  const digits = ARCHIVE.exec(path)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/**
 * Lists the full files of a log, oldest first.
 *
 * @param path - Of the file that is written to, which may be missing.
 * @throws ConsentError `audit_failed` if the directory cannot be read.
 */
export async function listArchives(path: string): Promise<readonly Archive[]> {
  const name = basename(path);
  const names = await readdir(dirname(path)).catch((error: unknown) => {
    if (hasErrno(error, "ENOENT", "ENOTDIR")) return [];
    throw cannot("read", path)(causeText(error), error);
  });
  return names
    .filter(
      (each) =>
        each.length === name.length + 1 + SEQ_DIGITS &&
        each.startsWith(`${name}.`) &&
        ARCHIVE.test(each),
    )
    .sort()
    .map((each) => ({ path: join(dirname(path), each), firstSeq: archiveSeq(each) ?? 0 }));
}

/** From one offset to another: to the end of the file, unless given. */
export interface ByteRange {
  readonly from?: number;
  readonly to?: number | undefined;
  /** Whether each block may take the place of the one before: see `readBlocksInPlace`. */
  readonly inPlace?: boolean;
}

/** Lines of one file of a log. */
export interface PartLines {
  /** Its name without the directory. */
  readonly name: string;
  /** Number of its first event; `undefined` for the file that is written to. */
  readonly firstSeq: number | undefined;
  /** Its lines: all of them, or those of whole lines from one offset to another. */
  blocks(range?: ByteRange): AsyncGenerator<LineBlock>;
}

/** One file of a log being read. */
export interface LogPart extends PartLines {
  /** Bytes of it when it was opened. */
  readonly size: number;
  /** When it was last written to, as the file system says. */
  readonly changedMs: number;
  /** Number of its first event, read where its name does not say it; `undefined` without one. */
  startSeq(): Promise<number | undefined>;
  /** Bytes of it. */
  read(from: number, to: number): Promise<Buffer>;
  /** Hex SHA-256 of bytes of it. One at a time for all parts of a log. */
  digest(from: number, to: number): Promise<string>;
  /** Where to read on to come to an event: see `seekSeq`. */
  seek(seq: number): Promise<number>;
}

/** All files of a log being read, as they were at one moment. */
export interface LogParts extends AsyncDisposable {
  /** Oldest first. */
  readonly parts: readonly LogPart[];
  readonly bytesTotal: number;
  bytesRead(): number;
  /** Whether the path named one full file, not a whole log. */
  readonly isOneArchive: boolean;
}

/**
 * Opens a log, or one full file of it.
 *
 * @throws ConsentError `audit_failed` where there is none.
 */
export async function openParts(path: string, signal?: AbortSignal): Promise<LogParts> {
  const named = archiveSeq(path);
  // The file that is written to comes first: it may become an archive meanwhile, and is then known
  // by its number on the disk.
  const handles: FileHandle[] = [];
  const close = async (): Promise<void> =>
    void (await Promise.all(handles.map((handle) => handle.close())));
  try {
    const current = await openSource(path, named === undefined ? "may_be_missing" : "must_exist");
    if (current !== undefined) handles.push(current);
    const archives = named === undefined ? await listArchives(path) : [];
    if (current === undefined && archives.length === 0)
      throw cannot("read", path)("it does not exist");
    return {
      ...(await joinParts({ path, current, archives, handles, signal })),
      isOneArchive: named !== undefined,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Read at once: much for the system, little for the process. */
const DIGEST_BYTES: number = 512 * 1024;

interface Range {
  readonly from: number;
  readonly to: number;
  readonly buffer: Buffer;
}

async function digestRange(handle: FileHandle, { from, to, buffer }: Range): Promise<string> {
  const hash = createHash("sha256");
  for (let at = from; at < to; ) {
    const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.length, to - at), at);
    if (bytesRead === 0) throw new Error("the file became shorter while it was read");
    hash.update(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
  return hash.digest("hex");
}

interface Opening {
  readonly path: string;
  readonly current: FileHandle | undefined;
  readonly archives: readonly Archive[];
  readonly handles: FileHandle[];
  readonly signal: AbortSignal | undefined;
}

async function joinParts({
  path,
  current,
  archives,
  handles,
  signal,
}: Opening): Promise<Pick<LogParts, "parts" | "bytesTotal" | "bytesRead">> {
  let bytesRead = 0;
  let bytesTotal = 0;
  let buffer: Buffer | undefined;
  const ownId = current === undefined ? undefined : (await current.stat({ bigint: true })).ino;
  const parts: LogPart[] = [];
  const add = async (
    handle: FileHandle,
    at: { readonly path: string; readonly firstSeq: number | undefined },
  ): Promise<void> => {
    const { size, mtimeMs: changedMs } = await handle.stat();
    bytesTotal += size;
    const count = (bytes: number): void => {
      bytesRead += bytes;
    };
    let startSeq: Promise<number | undefined> | undefined;
    const readStart = async (): Promise<number | undefined> =>
      at.firstSeq ?? (await readFirst(at.path, handle))?.seq;
    parts.push({
      name: basename(at.path),
      firstSeq: at.firstSeq,
      size,
      changedMs,
      startSeq: () => (startSeq ??= readStart()),
      blocks({ from: position = 0, to: end, inPlace = false } = {}) {
        const reading = { path: at.path, signal, count, position, end };
        return inPlace
          ? readBlocksInPlace(handle, reading)
          : splitLines(readChunks(handle, reading));
      },
      read: (from, to) =>
        readRange(handle, from, to).catch((error: unknown) => {
          throw cannot("read", at.path)(causeText(error), error);
        }),
      digest: (from, to) =>
        digestRange(handle, { from, to, buffer: (buffer ??= Buffer.allocUnsafe(DIGEST_BYTES)) }),
      seek: (seq) => seekSeq(handle, seq),
    });
  };
  for (const archive of archives) {
    // retention may have removed it just now
    const handle = await openSource(archive.path, "may_be_missing");
    if (handle === undefined) continue;
    handles.push(handle);
    const isOurs = (await handle.stat({ bigint: true })).ino === ownId;
    await add(handle, archive);
    if (isOurs) return { parts, bytesTotal, bytesRead: () => bytesRead };
  }
  if (current !== undefined) await add(current, { path, firstSeq: archiveSeq(path) });
  return { parts, bytesTotal, bytesRead: () => bytesRead };
}
