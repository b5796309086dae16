/**
 * Set aside: what an agent has left that other programs would run by themselves gets a name that
 * none of them looks for, in the folder where it is. Nothing is copied or lost, and a person gives
 * the name back by hand.
 */
import { randomBytes } from "node:crypto";
import { chmodSync, closeSync, fstatSync, lstatSync, renameSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { openPath } from "./places.js";
import { liesIn } from "./workspace.js";

/** What became of one path that was to be renamed. */
export interface SetAside {
  /** The absolute path that it had. */
  readonly place: string;
  /** The absolute path that it has now; absent where it could not be renamed. */
  readonly aside?: string;
}

const SUFFIX = ".set-aside";
/** A name may have 255 bytes. */
const KEPT_BYTES = 200;
const TRIES = 100;
const OWNERS = 0o700;

/**
 * Renames files and folders of a workspace, so that no program runs them by itself.
 *
 * @param workspace - A real path.
 * @param places - Absolute paths in it.
 * @returns One entry per path; paths with nothing there are left out.
 */
export function setAside(workspace: string, places: readonly string[]): readonly SetAside[] {
  return places
    .filter((place) => liesIn(place, workspace) && place !== workspace)
    .flatMap((place) => move(place));
}

function move(place: string): readonly SetAside[] {
  let fd: number | undefined;
  try {
    fd = openPath(dirname(place)).fd;
    const name = renameIn(fd, basename(place));
    return name === undefined ? [] : [{ place, aside: join(dirname(place), name) }];
  } catch {
    return [{ place }];
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** The new name; undefined where there is nothing of the old one. */
function renameIn(folder: number, name: string): string | undefined {
  const at = (each: string): string => `/proc/self/fd/${folder}/${each}`;
  return whileOurs(folder, () => {
    if (!isThere(at(name))) return undefined;
    const kept = Buffer.from(name)
      .subarray(0, KEPT_BYTES)
      .toString("utf8")
      .replace(/\uFFFD+$/u, "");
    const names = Array.from(
      { length: TRIES },
      (_, index) => `${kept}${SUFFIX}${index === 0 ? "" : `-${index + 1}`}`,
    );
    // Who has taken all of these knew them; nobody knows the last one.
    const free =
      names.find((each) => !isThere(at(each))) ??
      `${kept}${SUFFIX}-${randomBytes(8).toString("hex")}`;
    renameSync(at(name), at(free));
    return free;
  });
}

/** An agent may have closed its folder to itself, which as the same user we are, too. */
function whileOurs<T>(folder: number, act: () => T): T {
  const { mode, uid } = fstatSync(folder);
  const isClosed = uid === process.getuid?.() && (mode & OWNERS) !== OWNERS;
  const path = `/proc/self/fd/${folder}`;
  if (isClosed) chmodSync(path, (mode & 0o7777) | OWNERS);
  try {
    return act();
  } finally {
    if (isClosed) chmodSync(path, mode & 0o7777);
  }
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
