/**
 * Remove tree: a directory that an agent wrote in, with all that is in it. An agent can close
 * directories to their owner, which is us where it has no user of its own, nest them deeper than a
 * path can be long, and give them names that are no text. So each is opened by descriptor, never
 * through a link, and what is in it is moved up to the top before it goes: nothing is ever more
 * than two steps away.
 */
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  constants,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  unlinkSync,
} from "node:fs";
import { setImmediate as breathe } from "node:timers/promises";

/** Opens nothing, and needs no permission on the file itself. */
const O_PATH = 0o10000000;
/** Entries in one go: others of this process wait meanwhile. */
const AT_ONCE = 1_000;

/**
 * Removes a file or a folder with everything in it, also folders that are nested too deep for a
 * path. Does nothing where there is none; of a link, only the link is removed.
 */
export async function removeTree(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isDirectory()) return unlinkSync(path);
  const top = openFolder(path);
  try {
    const prefix = `.${randomBytes(8).toString("hex")}-`;
    let moved = 0;
    for (let names = namesIn(top); names.length > 0; names = namesIn(top)) {
      for (const [index, name] of names.entries()) {
        if (index % AT_ONCE === 0) await breathe();
        removeEntry(top, name, () => Buffer.from(`${prefix}${(moved += 1)}`));
      }
    }
  } finally {
    closeSync(top);
  }
  rmdirSync(path);
}

/** Removes an entry of a folder; the folders in it become entries of that one, under new names. */
function removeEntry(top: number, name: Buffer, newName: () => Buffer): void {
  if (!isFolder(top, name)) return unlinkSync(inFolder(top, name));
  const folder = openFolder(inFolder(top, name));
  try {
    for (const each of namesIn(folder)) {
      if (!isFolder(folder, each)) unlinkSync(inFolder(folder, each));
      else {
        // Who moves a folder changes what it says is above it.
        closeSync(openFolder(inFolder(folder, each)));
        renameSync(inFolder(folder, each), inFolder(top, newName()));
      }
    }
  } finally {
    closeSync(folder);
  }
  rmdirSync(inFolder(top, name));
}

/** Opens it, and opens it up where it is ours and closed. */
function openFolder(path: string | Buffer): number {
  const fd = openSync(path, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    chmodSync(`/proc/self/fd/${fd}`, 0o700);
  } catch {
    // somebody else's: what cannot be removed is told below
  }
  return fd;
}

function namesIn(fd: number): readonly Buffer[] {
  return readdirSync(`/proc/self/fd/${fd}`, { encoding: "buffer" });
}

function isFolder(fd: number, name: Buffer): boolean {
  return lstatSync(inFolder(fd, name)).isDirectory();
}

function inFolder(fd: number, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`/proc/self/fd/${fd}/`), name]);
}
