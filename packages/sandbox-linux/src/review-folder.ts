/**
 * Review folder: reads folders and files by descriptor, one step at a time and never through a
 * link, within a budget. What is read may be changing.
 */
import { createHash } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  opendirSync,
  openSync,
  readlinkSync,
  readSync,
  type Stats,
} from "node:fs";
import { hasCode } from "./review-errors.js";
import type { FileState, SnapshotLimits } from "./review-parts.js";
import type { Sliced } from "./slices.js";

/** What may still be read. */
export type ReadBudget = { -readonly [Name in keyof SnapshotLimits]: number };

/** The nine bits of rights. */
export const RIGHTS = 0o777;
const CHUNK_BYTES = 1_048_576;
const ENTRIES_AT_ONCE = 256;

/** A path that leads to one entry of an open folder, and nowhere else. */
export function within(folder: number, name: string): string {
  return `/proc/self/fd/${folder}/${name}`;
}

/** Opens a folder of a folder; `undefined` where it is none, is a link, or is closed to us. */
export function openFolder(folder: number, name: string): number | undefined {
  try {
    return openSync(
      within(folder, name),
      constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW,
    );
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR", "ELOOP", "EACCES")) return undefined;
    throw error;
  }
}

/** Does something with a folder of a folder; `undefined`: as {@link openFolder} says. */
export function inFolder<T>(folder: number, name: string, act: (fd: number | undefined) => T): T {
  const fd = openFolder(folder, name);
  try {
    return act(fd);
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** What a folder holds. */
export interface FolderNames {
  /** In the order of their UTF-16 units. */
  readonly names: readonly string[];
  /** Names that are no text, as one can be shown. */
  readonly odd: readonly string[];
  readonly isWhole: boolean;
}

/** Names of an open folder, as many as the budget has. */
export function* listFolder(folder: number, budget: ReadBudget): Sliced<FolderNames> {
  const names: string[] = [];
  const odd: string[] = [];
  const open = opendirSync(`/proc/self/fd/${folder}`, { encoding: "latin1" });
  try {
    for (let entry = open.readSync(); entry !== null; entry = open.readSync()) {
      if (budget.entries <= 0) return { names: names.sort(), odd, isWhole: false };
      budget.entries -= 1;
      if (budget.entries % ENTRIES_AT_ONCE === 0) yield;
      const bytes = Buffer.from(entry.name, "latin1");
      const name = bytes.toString("utf8");
      if (Buffer.from(name, "utf8").equals(bytes)) names.push(name);
      else odd.push(name);
    }
  } finally {
    open.closeSync();
  }
  return { names: names.sort(), odd, isWhole: true };
}

/** What is at a name, without its content; `undefined` where there is nothing. */
export function lookAt(folder: number, name: string): Stats | undefined {
  return lstatSync(within(folder, name), { throwIfNoEntry: false });
}

/** Takes the bytes of a file as they are read. */
export type TakeBytes = (chunk: Uint8Array) => void;

/**
 * What is at a name; null where there is nothing.
 *
 * @param take - Gets the bytes of a file.
 */
export function* readState(
  folder: number,
  name: string,
  { budget, take }: { readonly budget: ReadBudget; readonly take?: TakeBytes },
): Sliced<FileState | null> {
  const found = lookAt(folder, name);
  if (found === undefined) return null;
  if (found.isDirectory()) return { kind: "folder", mode: found.mode & RIGHTS };
  if (found.isSymbolicLink()) {
    const bytes = readlinkSync(within(folder, name), { encoding: "buffer" });
    const target = bytes.toString("utf8");
    return Buffer.from(target, "utf8").equals(bytes) ? { kind: "link", target } : { kind: "other" };
  }
  if (!found.isFile() || found.size > budget.bytes) return { kind: "other" };
  return yield* readFileState(within(folder, name), {
    budget,
    ...(take !== undefined && { take }),
  });
}

/**
 * A file's state by its content; one that grows meanwhile is read no further than the budget goes.
 */
function* readFileState(
  path: string,
  { budget, take }: { readonly budget: ReadBudget; readonly take?: TakeBytes },
): Sliced<FileState> {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (hasCode(error, "EACCES", "ELOOP", "ENXIO", "ENOENT", "EPERM")) return { kind: "other" };
    throw error;
  }
  try {
    const found = fstatSync(fd);
    if (!found.isFile()) return { kind: "other" };
    const hash = createHash("sha256");
    const chunk = Buffer.alloc(Math.min(CHUNK_BYTES, Math.max(found.size, 1)));
    let size = 0;
    for (let got = readSync(fd, chunk); got > 0; got = readSync(fd, chunk)) {
      size += got;
      budget.bytes -= got;
      if (budget.bytes < 0) return { kind: "other" };
      hash.update(chunk.subarray(0, got));
      take?.(chunk.subarray(0, got));
      yield;
    }
    return { kind: "file", mode: found.mode & RIGHTS, size, sha256: hash.digest("hex") };
  } finally {
    closeSync(fd);
  }
}

/** Whether both are the same to whoever reads them. */
export function isSameState(one: FileState | null, other: FileState | null): boolean {
  return JSON.stringify(one) === JSON.stringify(other) && one?.kind !== "other";
}
