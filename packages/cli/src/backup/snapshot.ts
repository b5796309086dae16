/**
 * Snapshot: what of a home goes into a backup, taken while gates may write. Checkpoints are read
 * before logs, and logs before everything else: a checkpoint never promises what the log does not
 * have, and the log never notes a vault or a grant that is newer than the one beside it. A log ends
 * at a whole line.
 */
import { constants } from "node:fs";
import { lstat, open, readdir } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { LINE_BYTES_MAX as LOG_LINE_BYTES_MAX } from "@acp/audit";
import { ConsentError, quoteText } from "@acp/core";
import { whileWriting } from "@acp/home";
import { isLeftOut, isLogFile, isSafePath, named } from "./format.js";

/** A file as it goes into a backup. */
export interface PinnedFile {
  readonly path: string;
  readonly bytes: number;
  readonly modifiedAtMs: number;
  /** Its contents, or where they are read from. */
  readonly from: Uint8Array | FileHandle | string;
}

/** What a home holds at one time. */
export interface Snapshot extends AsyncDisposable {
  /** Each after the folder that it is in. */
  readonly directories: readonly string[];
  readonly files: readonly PinnedFile[];
  /** What is neither a file nor a folder, such as links: no backup holds them. */
  readonly passedOver: readonly string[];
}

/** Larger files that change are held open instead. */
const HELD_BYTES_MAX: number = 1024 * 1024;
const TRIES = 5;
const NEWLINE = 0x0a;
/** Written once: the full files of a log, what was set aside, and texts under their hash. */
const UNCHANGING = /^audit[^/]*\.jsonl\.\d+$|^quarantined\/|^policies\//;

/** The file of a log that is written to, and one that is full. */
const CURRENT_LOG = /^audit[^/]*\.jsonl$/;
const FULL_LOG = /^audit[^/]*\.jsonl\.\d+$/;

/** Written to at the end, a line at a time. */
const GROWING = /\.(?:jsonl|checkpoints|seams)$/;

/** A file that changed while it was read: everything is looked at again. */
class Changed extends Error {}

/**
 * Takes a snapshot. No key, vault, grant, passkey or claim changes meanwhile.
 *
 * @throws ConsentError `home_busy` where the home does not hold still, `home_invalid` where a file
 *   cannot be read: a backup without it would only seem to be one.
 */
export function takeSnapshot(dir: string, hasLogs: boolean): Promise<Snapshot> {
  return whileWriting(dir, async () => {
    for (let tries = 1; ; tries++) {
      const handles: FileHandle[] = [];
      try {
        return await snapshotOnce(dir, hasLogs, handles);
      } catch (error) {
        for (const handle of handles) await handle.close();
        const isGone = error instanceof Error && "code" in error && error.code === "ENOENT";
        if (!(error instanceof Changed) && !isGone) throw error;
        if (tries >= TRIES)
          throw new ConsentError(
            "home_busy",
            `Cannot back up ${quoteText(dir)}: its files change too fast; try again`,
            { cause: error },
          );
      }
    }
  });
}

interface Walked {
  readonly directories: string[];
  readonly files: string[];
  readonly passedOver: string[];
}

async function snapshotOnce(dir: string, hasLogs: boolean, held: FileHandle[]): Promise<Snapshot> {
  const before = await walk(dir, hasLogs);
  const pinned = new Map<string, PinnedFile>();
  const pinAll = async (paths: readonly string[]): Promise<void> => {
    for (const path of paths) {
      const file = await pin(dir, path);
      if (typeof file.from === "object" && "close" in file.from) held.push(file.from);
      pinned.set(path, file);
    }
  };
  await pinAll(before.files.filter((path) => path.endsWith(".checkpoints")));
  await pinAll(before.files.filter((path) => CURRENT_LOG.test(path)));
  const after = await walk(dir, hasLogs);
  const full = (paths: readonly string[]): readonly string[] =>
    paths.filter((path) => FULL_LOG.test(path));
  // Retention notes in the log what it removes; this log was read before that.
  if (full(before.files).some((path) => !after.files.includes(path))) throw new Changed("logs");
  const unknown = after.files.filter(
    (path) => !pinned.has(path) && !path.endsWith(".checkpoints") && !FULL_LOG.test(path),
  );
  await pinAll(unknown);
  await pinAll(await fullFilesOf(dir, full(after.files), pinned));
  return {
    directories: after.directories,
    files: [...pinned.values()],
    passedOver: after.passedOver,
    async [Symbol.asyncDispose]() {
      for (const handle of held) await handle.close();
    },
  };
}

/**
 * The full files of logs, up to what was current when it was pinned: that one may have become full
 * since, and others after it.
 */
async function fullFilesOf(
  dir: string,
  paths: readonly string[],
  pinned: ReadonlyMap<string, PinnedFile>,
): Promise<readonly string[]> {
  const wanted: string[] = [];
  const over = new Set<string>();
  for (const path of paths) {
    const log = path.replace(/\.\d+$/, "");
    const from = pinned.get(log)?.from;
    const own = typeof from === "object" && "stat" in from ? (await from.stat()).ino : undefined;
    if ((await lstat(join(dir, path))).ino === own) over.add(log);
    if (!over.has(log)) wanted.push(path);
  }
  return wanted;
}

async function walk(dir: string, hasLogs: boolean, below = ""): Promise<Walked> {
  const all: Walked = { directories: [], files: [], passedOver: [] };
  const entries = await readdir(join(dir, below), { withFileTypes: true }).catch(unreadable(dir));
  for (const entry of entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    if (isLeftOut(path) || entry.isSocket() || (!hasLogs && isLogFile(path))) continue;
    if (!isSafePath(path))
      throw new ConsentError("home_invalid", `Cannot back up ${named(path)}: rename it first`);
    if (entry.isDirectory()) {
      const inside = await walk(dir, hasLogs, path);
      all.directories.push(path, ...inside.directories);
      all.files.push(...inside.files);
      all.passedOver.push(...inside.passedOver);
    } else (entry.isFile() ? all.files : all.passedOver).push(path);
  }
  return all;
}

const unreadable =
  (path: string) =>
  (cause: NodeJS.ErrnoException): never => {
    if (cause.code === "ENOENT") throw cause;
    throw new ConsentError(
      "home_invalid",
      `Cannot back up ${quoteText(path)}: ${cause.message}; run: acp doctor`,
      { cause },
    );
  };

/** Opens a plain file of the home. */
export async function openPlain(path: string): Promise<FileHandle> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  return open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(unreadable(path));
}

async function pin(dir: string, path: string): Promise<PinnedFile> {
  const full = join(dir, path);
  if (UNCHANGING.test(path)) {
    const { size, mtimeMs } = await lstat(full);
    return { path, bytes: size, modifiedAtMs: Math.floor(mtimeMs), from: full };
  }
  const handle = await openPlain(full);
  let isHeld = false;
  try {
    const { size, mtimeMs } = await handle.stat();
    const isGrowing = GROWING.test(path);
    const bytes = isGrowing ? await wholeLines(handle, size) : size;
    const pinned = { path, bytes, modifiedAtMs: Math.floor(mtimeMs) };
    if (isGrowing || size > HELD_BYTES_MAX) {
      isHeld = true;
      return { ...pinned, from: handle };
    }
    const contents = await handle.readFile();
    const after = await handle.stat();
    // An editor may be writing it just now.
    if (contents.length !== size || after.mtimeMs !== mtimeMs) throw new Changed(path);
    return { ...pinned, from: contents };
  } finally {
    if (!isHeld) await handle.close();
  }
}

/** How many bytes the whole lines of a file have. */
async function wholeLines(handle: FileHandle, size: number): Promise<number> {
  const piece = Buffer.alloc(Math.min(size, 65_536));
  for (let end = size; end > Math.max(0, size - 2 * LOG_LINE_BYTES_MAX); end -= piece.length) {
    const start = Math.max(0, end - piece.length);
    const { bytesRead } = await handle.read(piece, 0, end - start, start);
    const at = piece.subarray(0, bytesRead).lastIndexOf(NEWLINE);
    if (at !== -1) return start + at + 1;
  }
  // What has no line break is no log; it is kept as it is, and the doctor says so.
  return size > LOG_LINE_BYTES_MAX ? size : 0;
}
