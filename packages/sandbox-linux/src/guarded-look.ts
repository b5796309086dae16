/**
 * Guarded look: reads of a workspace that an agent may have prepared. They follow no link, wait for
 * no pipe and end at a bound; what an agent has closed to us is not there.
 */
import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  opendirSync,
  openSync,
  readFileSync,
  type Stats,
} from "node:fs";
import { isUtf8 } from "node:buffer";
import { isPersistentFile } from "./persistent-names.js";

/** A configuration is a page or two. */
const CONFIG_BYTES_MAX = 1_048_576;

/** One name in a folder. */
export type Entry = Pick<Dirent, "name" | "isDirectory" | "isSymbolicLink">;

/** What is in a folder. */
export interface Listing {
  readonly entries: readonly Entry[];
  /** Whether these are all that may count. */
  readonly isWhole: boolean;
}

/** The first entries of a folder: one that an agent has filled must not stop us. */
export function listEntries(directory: string, entriesMax: number): Listing {
  const entries: Entry[] = [];
  let isWhole = true;
  try {
    const open = opendirSync(directory, { encoding: "latin1" });
    try {
      for (let entry = open.readSync(); entry !== null; entry = open.readSync()) {
        if (entries.length >= entriesMax) return { entries, isWhole: false };
        const read = readEntry(entry);
        if (read === undefined) isWhole &&= !mayCount(entry);
        else entries.push(read);
      }
    } finally {
      open.closeSync();
    }
    return { entries, isWhole };
  } catch (error) {
    // What is gone, or was no folder, has nothing in it; what an agent has closed to us may have.
    return {
      entries,
      isWhole:
        error instanceof Error &&
        "code" in error &&
        (error.code === "ENOENT" || error.code === "ENOTDIR"),
    };
  }
}

/** `undefined` where its name, read byte by byte, is not UTF-8: no text leads to it. */
function readEntry(entry: Dirent): Entry | undefined {
  const bytes = Buffer.from(entry.name, "latin1");
  if (!isUtf8(bytes)) return undefined;
  return {
    name: bytes.toString("utf8"),
    isDirectory: () => entry.isDirectory(),
    isSymbolicLink: () => entry.isSymbolicLink(),
  };
}

/** Of a name that no text leads to. */
function mayCount(entry: Dirent): boolean {
  return entry.isDirectory() || isPersistentFile(entry.name);
}

/**
 * The text of a file of ordinary size, and of nothing else: a pipe of that name would keep us
 * waiting.
 */
export function readPlain(path: string): string | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    const found = fstatSync(fd);
    return found.isFile() && found.size <= CONFIG_BYTES_MAX ? readFileSync(fd, "utf8") : undefined;
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** What an agent has closed to us is not there: nothing of it must end a start, or a run. */
export function isThere(path: string): boolean {
  return kindOf(path) !== undefined;
}

/**
 * Whether a path is a link, of which there is nothing to hold; one that cannot be looked at counts
 * as one.
 */
export function isLink(path: string): boolean {
  return kindOf(path)?.isSymbolicLink() !== false;
}

/** What a path is, without following a link; `undefined` where nobody can say. */
export function kindOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
